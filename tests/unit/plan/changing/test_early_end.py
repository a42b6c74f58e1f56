"""Using capacity that comes free early (haizea F49, F59; 4.12)."""

from __future__ import annotations

from dataclasses import replace

import pytest

from lease_scheduler.model.holding import Holding
from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.lease import Lease
from lease_scheduler.model.states import LeaseState
from lease_scheduler.plan.changing.early_end import pull_deadline_leases, replan_waiting
from lease_scheduler.plan.planner import Planner
from tests.unit.plan.conftest import MakeLease, MakePlanner

BEST_EFFORT, DEADLINE = LeaseKind.BEST_EFFORT, LeaseKind.DEADLINE


def _ready(planner: Planner, lease: Lease, start: int, *hosts: int) -> Lease:
    end = start + lease.request.duration
    states = (LeaseState.SCHEDULED, LeaseState.READY)
    return planner.plan.put(replace(lease.to(*states), holdings=(Holding(hosts, start, start, end, end),)))


def _start(planner: Planner, lease: Lease) -> int:
    return planner.plan.leases[lease.lease_id].holdings[0].start


def test_waiting_leases_move_up_in_the_order_of_submission(make_planner: MakePlanner, make_lease: MakeLease) -> None:
    """haizea F49: the second one uses what the first one left."""
    planner = make_planner(1)
    first = _ready(planner, make_lease(BEST_EFFORT, 1, 1000), 8000, 0)
    second = _ready(planner, make_lease(BEST_EFFORT, 1, 1000), 5000, 0)
    assert replan_waiting(planner.context, 100) == 2
    assert (_start(planner, first), _start(planner, second)) == (100, 1100)


def test_no_lease_gets_a_later_place(make_planner: MakePlanner, make_lease: MakeLease) -> None:
    """haizea 4.12: a lease keeps its place if no better one is found."""
    planner = make_planner(1)
    planner.place(planner.plan.put(make_lease(LeaseKind.RESERVATION, 1, 1000, start=1000)), 0)
    waiting = _ready(planner, make_lease(BEST_EFFORT, 1, 1000, preemptible=False), 2000, 0)
    assert replan_waiting(planner.context, 100) == 1
    assert planner.plan.leases[waiting.lease_id] == waiting


def test_a_lease_that_has_begun_is_not_planned_again(make_planner: MakePlanner, make_lease: MakeLease) -> None:
    """haizea 4.12: its boot may be in progress."""
    planner = make_planner(1)
    begun = _ready(planner, make_lease(BEST_EFFORT, 1, 1000), 100, 0)
    assert replan_waiting(planner.context, 100) == 0
    assert planner.plan.leases[begun.lease_id] == begun


def test_a_suspended_lease_that_waits_resumes_earlier(make_planner: MakePlanner, make_lease: MakeLease) -> None:
    """haizea F49: Suspended-Scheduled leases take part, with the resumption in front."""
    planner = make_planner(1)
    lease = make_lease(BEST_EFFORT, 1, 1000)
    states = (LeaseState.SCHEDULED, LeaseState.READY, LeaseState.ACTIVE, LeaseState.SUSPENDING)
    saved = lease.to(*states, LeaseState.SUSPENDED_PENDING, LeaseState.SUSPENDED_SCHEDULED)
    place = Holding((0,), 5000, 5032, 5732, 5732)
    planner.plan.put(replace(saved, holdings=(place,), saved_on=(0,), accumulated=300))
    assert replan_waiting(planner.context, 100) == 1
    again = planner.plan.leases[lease.lease_id]
    assert again.state is LeaseState.SUSPENDED_SCHEDULED
    assert again.holdings == (Holding((0,), 100, 132, 832, 832),)


def test_a_lease_that_is_being_prepared_is_not_planned_again(make_planner: MakePlanner, make_lease: MakeLease) -> None:
    """haizea 8.2, 18: only Ready, Scheduled and Suspended-Scheduled leases are replanned."""
    planner = make_planner(1)
    lease = _ready(planner, make_lease(BEST_EFFORT, 1, 1000), 5000, 0)
    preparing = planner.plan.put(replace(lease, state=LeaseState.SCHEDULED).to(LeaseState.PREPARING))
    assert replan_waiting(planner.context, 100) == 0
    assert planner.plan.leases[lease.lease_id] == preparing


def test_deadline_leases_are_pulled_least_slack_first_until_the_window_is_full(
    make_planner: MakePlanner, make_lease: MakeLease
) -> None:
    """haizea F59: 1,000 s came free on one host; 600 s of the most urgent lease, then no more than 400 s."""
    planner = make_planner(1)
    patient = _ready(planner, make_lease(DEADLINE, 1, 500, start=0, deadline=50_000), 3000, 0)
    urgent = _ready(planner, make_lease(DEADLINE, 1, 600, start=0, deadline=6000), 4000, 0)
    assert pull_deadline_leases(planner.context, 1, 100, 1100) == 1
    assert (_start(planner, urgent), _start(planner, patient)) == (100, 3000)
    small = _ready(planner, make_lease(DEADLINE, 1, 400, start=0, deadline=50_000), 5000, 0)
    assert pull_deadline_leases(planner.context, 1, 700, 1100) == 1
    assert _start(planner, small) == 700


@pytest.mark.parametrize(
    ("nodes", "duration", "earliest", "planned", "moved"),
    [
        (1, 500, 0, 3000, True),
        (2, 500, 0, 3000, False),
        (1, 1001, 0, 3000, False),
        (1, 1000, 0, 3000, True),
        (1, 500, 600, 3000, True),
        (1, 500, 601, 3000, False),
        (1, 500, 3000, 3000, False),
        (1, 500, 1101, 3000, False),
        (1, 500, 0, 100, False),
    ],
)
def test_only_leases_that_fit_and_gain_are_pulled_into_a_window(
    make_planner: MakePlanner,
    make_lease: MakeLease,
    nodes: int,
    duration: int,
    earliest: int,
    planned: int,
    moved: bool,
) -> None:
    """haizea F59: not more nodes or time than came free in [100, 1100), not before its start, and only if it gains."""
    planner = make_planner(2)
    lease = _ready(
        planner, make_lease(DEADLINE, nodes, duration, start=earliest, deadline=9000), planned, *range(nodes)
    )
    assert pull_deadline_leases(planner.context, 1, 100, 1100) == moved
    assert _start(planner, lease) == (max(100, earliest) if moved else planned)


def test_a_window_that_is_taken_by_others_moves_no_lease(make_planner: MakePlanner, make_lease: MakeLease) -> None:
    """haizea F59: what cannot be done in the window stays as it was."""
    planner = make_planner(1)
    planner.place(planner.plan.put(make_lease(LeaseKind.RESERVATION, 1, 900, start=200)), 0)
    lease = _ready(planner, make_lease(DEADLINE, 1, 500, start=0, deadline=9000), 3000, 0)
    assert pull_deadline_leases(planner.context, 1, 100, 1100) == 0
    assert pull_deadline_leases(planner.context, 1, 1100, 1100) == 0
    assert planner.plan.leases[lease.lease_id] == lease
