"""Shares of windows, priorities within a flow, and charges beside the queue."""

from __future__ import annotations

from fractions import Fraction
from math import inf, nan

import pytest

from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.policy.queueing.winks.flow_queue import UNIT, FlowQueue, QueuedRequest, tags_per_cost
from lease_scheduler.policy.queueing.winks.shares import Flow, ShareLimit, Shares, WhenIdle, WinksOptions
from lease_scheduler.policy.queueing.winks.window import WindowUse


@pytest.mark.parametrize("weight", [0, -1, nan, inf, 1e-9, 1e9])
def test_impossible_weights_are_refused(weight: float) -> None:
    with pytest.raises(InvalidValueError, match="weight"):
        tags_per_cost(weight)


def test_ordinary_weights_have_no_rounding_error() -> None:
    for weight in (50, 30, 20, 0.5, 0.3, 0.2, Fraction(1, 3)):
        assert tags_per_cost(weight) * Fraction(str(weight)) == UNIT


def test_a_window_has_one_share_without_debt() -> None:
    """shirako A27: whole cost, in the window of the start."""
    use = WindowUse()
    use.add(3, 60)

    assert use.allows(3, 40, 100, debt=False)
    assert not use.allows(3, 41, 100, debt=False)
    assert use.allows(4, 100, 100, debt=False)
    assert use.left(3, 4, 100, debt=False) == pytest.approx(100)
    use.refund(3, 60)
    assert use.used == {}


def test_debt_is_paid_by_the_following_windows() -> None:
    """shirako P19c: 250 of shares of 100 are this window, the next one, and half of the one after that."""
    use = WindowUse()
    assert use.allows(0, 250, 100, debt=True)
    use.add(0, 250, owes=True)

    assert [use.of(window, 100) for window in range(4)] == [250, 150, 50, 0]
    assert not use.allows(1, 250, 100, debt=True)
    assert use.allows(2, 250, 100, debt=True)
    assert not use.allows(2, 60, 100, debt=True)
    use.add(2, 250, owes=True)
    assert [use.of(window, 100) for window in range(2, 6)] == [300, 200, 100, 0]
    use.forget_before(3, 100)
    assert [use.of(window, 100) for window in range(3, 6)] == [200, 100, 0]
    use.forget_before(5, 100)
    assert [use.of(window, 100) for window in range(5, 7)] == [0, 0]


def test_a_debt_of_a_million_windows_is_one_number() -> None:
    use = WindowUse()
    use.add(0, 100_000_050, owes=True)

    assert len(use.used) == 1
    assert use.of(999_999, 100) == 150
    assert use.of(1_000_000, 100) == 50


def test_a_refund_takes_back_the_debt_of_windows_that_are_over() -> None:
    """shirako A29: of a cost of 1,000, the first two windows of 100 are over when 750 of it are refunded."""
    use = WindowUse()
    use.add(0, 40)
    use.add(0, 1_000, owes=True)
    use.forget_before(2, 100)
    assert use.of(2, 100) == 800

    use.refund(0, 750, owes=True)
    assert use.of(2, 100) == 50
    use.refund(0, 40)
    assert use.of(2, 100) == 50, "what owes nothing was paid when its window was over"
    use.refund(0, 100, owes=True)
    assert use.of(2, 100) == 0, "nothing is saved up"


def test_a_smaller_share_pays_a_debt_more_slowly() -> None:
    use = WindowUse()
    use.add(0, 300, owes=True)

    assert [use.of(3, share) for share in (100, 60, 0)] == [0, 120, 300]


def test_active_flows_share_what_idle_flows_do_not_use() -> None:
    shares = Shares(WinksOptions(window=10, when_idle=WhenIdle.SPARE), 4)
    for name in "ab":
        shares.flow(name, 1)
    assert shares.share_per_weight(0) == 0
    shares.arrive(shares.flows["a"], QueuedRequest("1", 30, 15, 2, True))

    assert shares.share_per_weight(0) == 40
    assert shares.share_of(shares.flows["b"], 0) == 20
    shares.holding = {"b"}
    assert shares.share_per_weight(0) == shares.share_per_weight(1_000) == 20, "in each window in which it holds hosts"
    assert not shares.grows_with_next_window(0)
    shares.holding = ()
    shares.flows["b"].windows.add(2, 1)
    assert (shares.share_per_weight(29), shares.share_per_weight(30)) == (20, 40)
    assert shares.grows_with_next_window(29) and not shares.grows_with_next_window(30)
    assert shares.may_start(shares.flows["a"], shares.flows["a"].queue.requests[0], 0, 40)
    assert not shares.may_start(shares.flows["a"], shares.flows["a"].queue.requests[0], 0, 20)
    assert Shares(WinksOptions(window=10, limit=ShareLimit.NONE), 4).most_allowed(shares.flows["a"], 0, 0) == inf


def test_strict_shares_follow_from_the_weights_alone() -> None:
    """shirako A27, P19d: w D phi, whether or not the others have leases."""
    shares = Shares(WinksOptions(window=10), 4)
    shares.configured = {"a": 1.0, "idle": 3.0}
    flow, other = shares.flow("a", 1), shares.flow("without a weight", 1)

    assert shares.share_per_weight(0) == shares.share_of(flow, 0) == 10
    assert shares.share_of(Flow("idle", 9, 3), 0) == 30
    assert shares.share_of(other, 0) == 8
    shares.holding = {other.name}
    assert shares.share_per_weight(0) == shares.share_of(other, 0) == 8


def test_a_higher_priority_goes_before_lower_ones_of_its_flow() -> None:
    """shirako A25: it gets the start tag of the one that it goes before; a large gap absorbs the delay."""
    queue = FlowQueue(1)
    for number in range(2):
        queue.arrive(QueuedRequest(str(number), 10, order=number), 0)
    queue.arrive(QueuedRequest("late", 10, order=2), 50 * UNIT)
    queue.arrive(QueuedRequest("urgent", 5, order=3, priority=1), 50 * UNIT)

    tags = {request.key: start // UNIT for request, (start, _) in zip(queue.requests, queue.tags(), strict=True)}
    assert tags == {"urgent": 0, "0": 5, "1": 15, "late": 50}


def test_after_a_withdrawal_requests_move_up_as_far_as_a_gap() -> None:
    queue = FlowQueue(1)
    for number, virtual_time in enumerate((0, 0, 0, 50)):
        queue.arrive(QueuedRequest(str(number), 10, order=number), virtual_time * UNIT)

    queue.withdraw(0)
    assert [start // UNIT for start, _ in queue.tags()] == [0, 10, 50]
    assert queue.copy().gaps() == {"3": 30 * UNIT}
    while queue.requests:
        queue.withdraw(0)
    assert (queue.clock, queue.tail, queue.total_gap) == (50 * UNIT, 50 * UNIT, 0)


def test_a_charge_ahead_counts_as_if_at_the_head_of_the_queue() -> None:
    """shirako A32: a reservation is charged as if it were at the head; an idle flow does not save up."""
    shares = Shares(WinksOptions(window=10), 4)
    busy, idle = shares.flow("busy", 1), shares.flow("idle", 2)
    shares.arrive(busy, QueuedRequest("1", 10))
    shares.schedule(busy, 0, 0, 0, 20.0)
    shares.virtual_time = 10 * UNIT

    assert shares.charge_ahead(idle, 8, 15, 20.0) == 10 * UNIT
    assert idle.queue.clock == 14 * UNIT
    assert idle.windows.used == {1: 8}
    idle.set_weight(4)
    idle.queue.charge(4)
    assert idle.queue.clock == 15 * UNIT
    shares.rest()
    assert shares.virtual_time == 15 * UNIT


def test_a_copy_of_a_queue_changes_nothing_of_it() -> None:
    """A trial promotes requests before a gap, which moves the gap, and is then given up."""
    queue = FlowQueue()
    queue.arrive(QueuedRequest("a", 5, order=0), 0)
    queue.arrive(QueuedRequest("b", 2, order=1), 9 * UNIT)
    queue.arrive(QueuedRequest("c", 3, order=2), 9 * UNIT)
    tags, gaps = queue.tags(), queue.gaps()
    assert gaps == {"b": 4 * UNIT}

    trial = queue.copy()
    trial.promote(2)
    trial.promote(1)
    trial.promote(0)

    assert not trial.requests
    assert (queue.tags(), queue.gaps(), queue.total_gap) == (tags, gaps, 4 * UNIT)
