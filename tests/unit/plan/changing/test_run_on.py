"""Leases that are expected to run shorter than requested."""

from __future__ import annotations

from dataclasses import replace

import pytest

from lease_scheduler.model.holding import Closing
from lease_scheduler.model.kinds import LeaseKind, PreemptionMode
from lease_scheduler.model.lease import Lease
from lease_scheduler.model.states import LeaseState
from lease_scheduler.plan.planner import Planner
from tests.unit.plan.conftest import MakeLease, MakePlanner


class _Expects:
    """Expects every lease to run for as many seconds more."""

    shortens = True

    def __init__(self, seconds: int) -> None:
        self._seconds = seconds

    def expected(self, lease: Lease) -> int:
        return self._seconds


def _expecting(planner: Planner, seconds: int) -> Planner:
    planner.context = replace(planner.context, duration=_Expects(seconds))
    return planner


def _running(planner: Planner, lease: Lease) -> Lease:
    """Give a lease its place, from now on, and let it run."""
    planner.enqueue(lease)
    planner.process_queue(0)
    placed = planner.plan.leases[lease.lease_id]
    return planner.plan.put(replace(placed.to(LeaseState.ACTIVE), active_since=0, started=0))


def test_a_lease_is_planned_for_its_expected_time_and_a_suspension(
    make_planner: MakePlanner, make_lease: MakeLease
) -> None:
    """600 s of run, then the 32 s that suspending 1,024 MB at 32 MB/s takes; the next lease follows at once."""
    planner = _expecting(make_planner(1, backfilling_limit=None), 600)
    for lease in (make_lease(LeaseKind.BEST_EFFORT), make_lease(LeaseKind.BEST_EFFORT)):
        planner.enqueue(lease)
    planner.process_queue(0)

    first, second = (planner.plan.leases[lease_id].holdings[0] for lease_id in ("1", "2"))
    assert (first.start, first.run_end, first.end, first.closing) == (0, 600, 632, Closing.SUSPEND)
    assert second.start == 632


@pytest.mark.parametrize("expected", [-5, 0, 3_568, 3_600, 9_999])
def test_expected_durations_are_limited_to_the_possible_range(
    make_planner: MakePlanner, make_lease: MakeLease, expected: int
) -> None:
    """Less than a second counts as a second, and so as the shortest run that may be planned. A lease that would run for
    hardly less than requested is planned as requested.
    """
    planner = _expecting(make_planner(1), expected)
    lease = _running(planner, make_lease(LeaseKind.BEST_EFFORT))

    shortest = planner.context.threshold(lease.request, resuming=False)
    assert lease.holdings[0].end == (3_600 if expected > 0 else shortest)


@pytest.mark.parametrize("terms", [{"preemptible": False}, {"preemption_mode": PreemptionMode.DELETE}])
def test_leases_that_cannot_be_suspended_are_planned_as_requested(
    make_planner: MakePlanner, make_lease: MakeLease, terms: dict[str, object]
) -> None:
    """They would lose their work if the expectation was wrong."""
    lease = _running(_expecting(make_planner(1), 600), make_lease(LeaseKind.BEST_EFFORT, **terms))

    assert (lease.holdings[0].run_end, lease.holdings[0].closing) == (3_600, Closing.SHUTDOWN)


def test_deadline_leases_are_planned_as_requested(make_planner: MakePlanner, make_lease: MakeLease) -> None:
    """A promise never follows from an expectation."""
    planner = _expecting(make_planner(1), 600)
    lease = planner.place(make_lease(LeaseKind.DEADLINE, start=0, deadline=9_000), 0)

    assert lease.holdings[0].run_end == 3_600


def test_a_lease_runs_on_if_its_hosts_are_not_needed(make_planner: MakePlanner, make_lease: MakeLease) -> None:
    """It gets the rest of its duration on the same host."""
    planner = _expecting(make_planner(1), 600)
    lease = _running(planner, make_lease(LeaseKind.BEST_EFFORT))

    assert planner.run_on(lease, 600)
    holding = planner.plan.leases["1"].holdings[0]
    assert (holding.run_end, holding.closing) == (3_600, Closing.SHUTDOWN)


def test_a_lease_that_runs_on_goes_before_a_later_one(make_planner: MakePlanner, make_lease: MakeLease) -> None:
    """A lease that was submitted later and planned on the expectation goes back to the queue."""
    planner = _expecting(make_planner(1, backfilling_limit=None), 600)
    lease = _running(planner, make_lease(LeaseKind.BEST_EFFORT))
    planner.enqueue(make_lease(LeaseKind.BEST_EFFORT))
    planner.process_queue(0)

    assert planner.run_on(lease, 600)
    assert planner.plan.leases["2"].state is LeaseState.QUEUED


def test_a_lease_runs_on_until_its_hosts_are_promised(make_planner: MakePlanner, make_lease: MakeLease) -> None:
    """Before a reservation at 2,000 it is suspended in time; the suspension moves from 600 to 1,968."""
    planner = _expecting(make_planner(1), 600)
    lease = _running(planner, make_lease(LeaseKind.BEST_EFFORT))
    planner.place(make_lease(LeaseKind.RESERVATION, start=2_000), 0)
    lease = planner.plan.leases["1"]

    assert planner.run_on(lease, 600)
    holding = planner.plan.leases["1"].holdings[0]
    assert (holding.run_end, holding.end, holding.closing) == (1_968, 2_000, Closing.SUSPEND)


def test_a_lease_is_suspended_if_its_hosts_are_promised_at_once(
    make_planner: MakePlanner, make_lease: MakeLease
) -> None:
    """The plan stays as it is when a reservation begins right after the planned suspension."""
    planner = _expecting(make_planner(1), 600)
    lease = _running(planner, make_lease(LeaseKind.BEST_EFFORT))
    planner.place(make_lease(LeaseKind.RESERVATION, start=632), 0)

    assert not planner.run_on(planner.plan.leases["1"], 600)
    assert planner.plan.leases["1"].holdings == lease.holdings


def test_nothing_runs_on_if_durations_are_the_requested_ones(make_planner: MakePlanner, make_lease: MakeLease) -> None:
    """Under the default policy a planned suspension takes place."""
    planner = _expecting(make_planner(1), 600)
    lease = _running(planner, make_lease(LeaseKind.BEST_EFFORT))
    planner.context = replace(planner.context, duration=make_planner(1).context.duration)

    assert not planner.run_on(lease, 600)
