"""Studies of shares: the calendar, early ends and preemptions."""

from __future__ import annotations

from dataclasses import replace

import pytest

from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.policy.queueing.winks.flow_queue import UNIT
from lease_scheduler.policy.queueing.winks.shares import WhenIdle, WinksOptions
from lease_scheduler.simulation.generators.flows import FlowLoad
from lease_scheduler.simulation.shares.calendar import WidthCalendar
from lease_scheduler.simulation.shares.run import SharesRun


def test_the_earliest_start_is_found_between_reservations() -> None:
    calendar = WidthCalendar(4, 100)
    calendar.reserve(0, 10, 3)
    calendar.reserve(15, 5, 2)

    assert calendar.earliest(0, 50, 10, 1) == 0
    assert calendar.earliest(0, 50, 5, 2) == 10
    assert calendar.earliest(0, 50, 5, 4) == 10
    assert calendar.earliest(0, 50, 6, 4) == 20
    assert calendar.earliest(0, 19, 6, 4) is None
    assert [calendar.longest(0, width, 40) for width in (1, 2, 4)] == [40, 0, 0]
    calendar.release(0, 10, 3)
    assert calendar.longest(0, 4, 40) == 15


def _run() -> SharesRun:
    loads = [FlowLoad("a", 0.5, (1, 10), load=0), FlowLoad("b", 0.5, (1, 10), load=0)]
    return SharesRun(loads, 2, 50, WinksOptions())


def test_an_early_end_is_credited_and_its_host_is_free() -> None:
    """shirako A30: the flow pays only for what it used."""
    run = _run()
    for name in "ab":
        run.ask(name, 1, 10, 0, ord(name))
    run.serve(0)
    assert run.shares.flows["a"].queue.clock == 20 * UNIT

    run.end_early("a", 0, 4)

    assert run.shares.flows["a"].queue.clock == 8 * UNIT
    assert run.calendar.longest(4, 1, 40) == 40
    assert run.result("a").starts[0].duration == 4


def test_a_preempted_request_goes_on_before_others_and_is_not_charged_again() -> None:
    """shirako A28."""
    run = _run()
    run.ask("a", 2, 10, 0, 1)
    run.serve(0)
    clock = run.shares.flows["a"].queue.clock
    run.ask("b", 2, 5, 1, 2)
    run.preempt("a", 0, 4)
    run.serve(4)

    assert [(each.start, each.duration) for each in run.result("a").starts] == [(0, 4), (4, 6)]
    assert run.shares.flows["a"].queue.clock == clock
    run.serve(10)
    assert run.result("b").starts[0].start == 10


def test_flows_that_accept_fewer_hosts_get_their_shares_and_leave_none_free() -> None:
    """shirako A33: more of the site is used than if requests of such widths accepted nothing less."""
    shares = {"a": 0.5, "b": 0.3, "c": 0.2}
    rigid = [FlowLoad(name, share, (5, 50), (8, 30), load=3.0) for name, share in shares.items()]
    elastic = [replace(load, least=0.25) for load in rigid]

    found, without = (SharesRun(loads, 50, 600, WinksOptions(), bound=20_000).execute() for loads in (elastic, rigid))

    assert found.efficiency() > 0.98 > without.efficiency()
    assert found.shares() == pytest.approx(shares, abs=0.02)
    assert min(each.width for flow in found.flows for each in flow.starts) >= 2


def test_requests_that_accept_fewer_hosts_have_no_window() -> None:
    with pytest.raises(InvalidValueError, match="window"):
        SharesRun([FlowLoad("a", 1, (1, 2), (2, 4), least=0.5)], 4, 10, WinksOptions(5))


def test_only_the_engine_knows_which_hosts_stay_idle() -> None:
    with pytest.raises(InvalidValueError, match="when_idle: must be strict"):
        SharesRun([FlowLoad("a", 1, (1, 2))], 4, 10, WinksOptions(5, when_idle=WhenIdle.SPARE))


def test_a_request_that_ends_early_reduces_the_debt_of_its_flow() -> None:
    """shirako A29: the study charges windows as the policy does."""
    run = SharesRun([FlowLoad("a", 1, (5, 5), load=0)], 4, 100, WinksOptions(10, debt=True))
    for number in range(2):
        run.ask("a", 4, 30, 0, number)
    run.serve(0)
    run.end_early("a", 0, 5)
    run.serve(5)

    assert [start.start for start in run.result("a").starts] == [0, 5]
    with pytest.raises(InvalidValueError, match="least"):
        FlowLoad("a", 1, (1, 2), (2, 4), least=0)


def test_a_full_queue_drops_requests() -> None:
    run = SharesRun([FlowLoad("a", 1, (5, 5), load=0)], 1, 50, WinksOptions(), bound=9)

    assert run.ask("a", 1, 5, 0, 1)
    assert not run.ask("a", 1, 5, 0, 2)
    assert run.result("a").dropped == 1


@pytest.mark.parametrize(
    ("name", "arguments"),
    [("share", (0.0, (1, 2))), ("durations", (0.5, (3, 2))), ("widths", (0.5, (1, 2), (0, 4)))],
)
def test_wrong_loads_are_refused(name: str, arguments: tuple[object, ...]) -> None:
    with pytest.raises(InvalidValueError, match=name):
        FlowLoad("a", *arguments)  # type: ignore[arg-type]
    with pytest.raises(InvalidValueError, match="load"):
        FlowLoad("a", 0.5, (1, 2), load=-1)
