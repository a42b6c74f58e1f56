"""Deadline leases: slack, preemption that breaks no promise, least slack first (haizea F56-F58)."""

from __future__ import annotations

from dataclasses import replace

import pytest

from lease_scheduler.model.holding import Closing, Holding
from lease_scheduler.model.host import Host, Site
from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.lease import Lease
from lease_scheduler.model.nodes import NodeSet
from lease_scheduler.model.states import LeaseState
from lease_scheduler.plan.options import Suspension
from lease_scheduler.plan.plan import NotPlannableError
from lease_scheduler.plan.planner import Planner
from tests.unit.plan.conftest import VM, MakeLease, MakePlanner

DEADLINE, RESERVATION = LeaseKind.DEADLINE, LeaseKind.RESERVATION


def _place(planner: Planner, lease: Lease, now: int = 0) -> Lease:
    return planner.place(planner.plan.put(lease), now)


def _spans(planner: Planner, lease: Lease) -> list[tuple[int, int]]:
    """Return start and end of each present reservation of a lease."""
    return [(r.start, r.end) for r in planner.plan.leases[lease.lease_id].holdings]


@pytest.mark.parametrize(("deadline", "start"), [(3000, 1000), (3001, 1600)])
def test_a_lease_with_little_slack_preempts_at_its_start(
    make_planner: MakePlanner, make_lease: MakeLease, deadline: int, start: int
) -> None:
    """haizea F56: (deadline - start) / duration of at most 2; with more the earliest fit is taken."""
    planner = make_planner(1)
    patient = _place(planner, make_lease(DEADLINE, 1, 600, start=1000, deadline=50_000))
    hasty = _place(planner, make_lease(DEADLINE, 1, 1000, start=1000, deadline=deadline))
    assert hasty.holdings[0].start == start
    assert _spans(planner, patient) == [(2000, 2600) if start == 1000 else (1000, 1600)]


def test_a_running_victim_is_suspended_and_its_rest_is_planned_afterwards(
    make_planner: MakePlanner, make_lease: MakeLease
) -> None:
    """haizea F57, 4.13.1: 32 s to suspend and 32 s to resume; the duration in full by its own deadline."""
    planner = make_planner(1)
    patient = _place(planner, make_lease(DEADLINE, 1, 3000, start=0, deadline=20_000))
    planner.plan.put(replace(patient.to(LeaseState.ACTIVE), active_since=0))
    hasty = _place(planner, make_lease(DEADLINE, 1, 500, start=1000, deadline=1600), now=200)
    assert (hasty.holdings[0].start, hasty.holdings[0].end) == (1000, 1500)
    first, rest = planner.plan.leases[patient.lease_id].holdings
    assert (first.run_start, first.run_end, first.end, first.closing) == (0, 968, 1000, Closing.SUSPEND)
    assert (rest.start, rest.run_start, rest.run_end, rest.closing) == (1500, 1532, 1532 + 2032, Closing.SHUTDOWN)


def test_a_victim_that_cannot_be_suspended_starts_over_in_time(
    make_planner: MakePlanner, make_lease: MakeLease
) -> None:
    """haizea F57: without suspension all its work is planned once more, and that must be over by its deadline."""
    for deadline, moved in ((4501, True), (4499, False)):
        planner = make_planner(1, suspension=Suspension.NONE)
        patient = _place(planner, make_lease(DEADLINE, 1, 3000, start=0, deadline=deadline))
        planner.plan.put(replace(patient.to(LeaseState.ACTIVE), active_since=0))
        hasty = planner.plan.put(make_lease(DEADLINE, 1, 500, start=1000, deadline=1600))
        if moved:
            planner.place(hasty, 200)
            killed, again = planner.plan.leases[patient.lease_id].holdings
            assert (killed.end, killed.closing) == (1000, Closing.KILL)
            assert (again.run_start, again.run_end) == (1500, 4500)
        else:
            with pytest.raises(NotPlannableError):
                planner.place(hasty, 200)
            assert _spans(planner, patient) == [(0, 3000)]


def test_without_the_deadline_mapper_no_deadline_lease_is_preempted(
    make_planner: MakePlanner, make_lease: MakeLease
) -> None:
    """haizea F57: planned ones may still be moved as a whole, least slack first (F58)."""
    for preemption in (True, False):
        planner = make_planner(1, deadline_preemption=preemption)
        patient = _place(planner, make_lease(DEADLINE, 1, 3000, start=0, deadline=20_000))
        planner.plan.put(replace(patient.to(LeaseState.ACTIVE), active_since=0))
        hasty = planner.plan.put(make_lease(DEADLINE, 1, 500, start=1000, deadline=1600))
        if preemption:
            assert planner.place(hasty, 200).holdings[0].start == 1000
        else:
            with pytest.raises(NotPlannableError):
                planner.place(hasty, 200)


def test_a_victim_that_does_not_help_keeps_its_place(make_planner: MakePlanner, make_lease: MakeLease) -> None:
    """haizea F57: the lease with the most slack would be the first victim, but its host has no GPU."""
    gpu = frozenset({"GPU"})
    planner = make_planner(site=Site((Host("plain", VM), Host("gpu", VM, gpu))))
    most = _place(planner, make_lease(DEADLINE, 1, 1000, start=1000, deadline=90_000))
    some = _place(
        planner, make_lease(DEADLINE, node_sets=(NodeSet(1, VM, gpu),), duration=1000, start=1000, deadline=9000)
    )
    assert (most.holdings[0].assignment, some.holdings[0].assignment) == ((0,), (1,))
    hasty = make_lease(DEADLINE, node_sets=(NodeSet(1, VM, gpu),), duration=500, start=1000, deadline=1600)
    assert _place(planner, hasty).holdings[0].start == 1000
    assert _spans(planner, most) == [(1000, 2000)]
    assert _spans(planner, some) == [(1500, 2500)]


def test_a_victim_that_would_be_late_is_passed_over(make_planner: MakePlanner, make_lease: MakeLease) -> None:
    """haizea 4.13.1: its host is reserved behind the new lease, so the next candidate is the victim."""
    gpu = frozenset({"GPU"})
    planner = make_planner(site=Site((Host("gpu", VM, gpu), Host("plain", VM))))
    stuck = _place(
        planner, make_lease(DEADLINE, node_sets=(NodeSet(1, VM, gpu),), duration=500, start=1000, deadline=9000)
    )
    reserved = make_lease(RESERVATION, node_sets=(NodeSet(1, VM, gpu),), duration=90_000, start=1500)
    _place(planner, reserved)
    other = _place(planner, make_lease(DEADLINE, 1, 500, start=1000, deadline=3000))
    assert other.holdings[0].assignment == (1,)
    hasty = _place(planner, make_lease(DEADLINE, 1, 400, start=1000, deadline=1500))
    assert (hasty.holdings[0].assignment, hasty.holdings[0].start) == ((1,), 1000)
    assert _spans(planner, stuck) == [(1000, 1500)]
    assert _spans(planner, other) == [(1400, 1900)]


def test_a_refusal_leaves_no_trace(make_planner: MakePlanner, make_lease: MakeLease) -> None:
    """haizea F58: all attempts are undone."""
    planner = make_planner(1)
    first = _place(planner, make_lease(DEADLINE, 1, 1000, start=1000, deadline=2200))
    second = _place(planner, make_lease(DEADLINE, 1, 1000, start=1000, deadline=3500))
    leases, before = dict(planner.plan.leases), planner.plan.availability
    for duration, deadline in ((1000, 2500), (1000, 3600), (300, 1500)):
        with pytest.raises(NotPlannableError):
            planner.place(make_lease(DEADLINE, 1, duration, start=1000, deadline=deadline), 0)
        assert planner.plan.leases == leases
        assert planner.plan.availability is before
    assert (_spans(planner, first), _spans(planner, second)) == ([(1000, 2000)], [(2000, 3000)])


def test_all_waiting_leases_are_planned_again_least_slack_first(
    make_planner: MakePlanner, make_lease: MakeLease
) -> None:
    """haizea F58: in the order of submission the third would be too late; a running lease stays."""
    planner = make_planner(1)
    running = _place(planner, make_lease(DEADLINE, 1, 1000, start=0, deadline=1500))
    planner.plan.put(replace(running.to(LeaseState.ACTIVE), active_since=0))
    patient = _place(planner, make_lease(DEADLINE, 1, 1000, start=0, deadline=9000))
    average = _place(planner, make_lease(DEADLINE, 1, 1000, start=0, deadline=4500))
    hasty = _place(planner, make_lease(DEADLINE, 1, 1000, start=0, deadline=2500), now=100)
    assert (hasty.holdings[0].start, hasty.state) == (1000, LeaseState.READY)
    assert _spans(planner, running) == [(0, 1000)]
    assert _spans(planner, average) == [(2000, 3000)]
    assert _spans(planner, patient) == [(3000, 4000)]
    assert planner.plan.leases[patient.lease_id].state is LeaseState.READY


def _saved(lease: Lease, accumulated: int, *holdings: Holding) -> Lease:
    states = (LeaseState.SCHEDULED, LeaseState.READY, LeaseState.ACTIVE, LeaseState.SUSPENDING)
    saved = lease.to(*states, LeaseState.SUSPENDED_PENDING, LeaseState.SUSPENDED_SCHEDULED)
    return replace(saved, holdings=holdings, accumulated=accumulated, saved_on=(0,))


def test_a_suspended_lease_is_planned_again_with_what_is_left(make_planner: MakePlanner, make_lease: MakeLease) -> None:
    """haizea F58: its memory stays saved, and it has to resume first."""
    planner = make_planner(1)
    lease = make_lease(DEADLINE, 1, 1000, start=0, deadline=9000)
    suspended = planner.plan.put(_saved(lease, 600, Holding((0,), 500, 532, 932, 932)))
    hasty = _place(planner, make_lease(DEADLINE, 1, 800, start=100, deadline=1000), now=100)
    assert hasty.holdings[0].start == 100
    again = planner.plan.leases[suspended.lease_id]
    assert again.state is LeaseState.SUSPENDED_SCHEDULED
    assert [(r.start, r.run_start, r.run_end) for r in again.holdings] == [(900, 932, 1332)]


def test_only_the_part_after_a_running_one_is_planned_again(make_planner: MakePlanner, make_lease: MakeLease) -> None:
    """haizea F58: it runs now and will be suspended; only what comes after that is replanned."""
    planner = make_planner(1)
    lease = make_lease(DEADLINE, 1, 1000, start=0, deadline=9000)
    active = lease.to(LeaseState.SCHEDULED, LeaseState.READY, LeaseState.ACTIVE)
    first = Holding((0,), 0, 0, 568, 600, Closing.SUSPEND)
    parts = (first, Holding((0,), 700, 732, 1164, 1164))
    planner.plan.put(replace(active, holdings=parts, active_since=0))
    hasty = _place(planner, make_lease(DEADLINE, 1, 800, start=600, deadline=1450), now=100)
    assert hasty.holdings[0].start == 600
    rest = planner.plan.leases[lease.lease_id].holdings
    assert rest == (first, Holding((0,), 1400, 1432, 1864, 1864))


@pytest.mark.parametrize(("closing", "remaining"), [(Closing.SUSPEND, 700), (Closing.KILL, 1000)])
def test_plan_rest_repeats_lost_work_and_keeps_saved_work(
    make_planner: MakePlanner, make_lease: MakeLease, closing: Closing, remaining: int
) -> None:
    """haizea F57: the lost work of a killed run has to be done again."""
    planner = make_planner(1)
    lease = make_lease(DEADLINE, 1, 1000, start=0, deadline=1500)
    active = lease.to(LeaseState.SCHEDULED, LeaseState.READY, LeaseState.ACTIVE)
    first = Holding((0,), 0, 0, 300, 332 if closing is Closing.SUSPEND else 300, closing)
    value = planner.plan.put(replace(active, holdings=(first,), active_since=0))
    rest = planner.place_rest(value, 100).holdings[1]
    assert rest.run_end - rest.run_start == remaining
    assert rest.start == first.end
    late = planner.plan.put(replace(value, request=replace(value.request, deadline=1299)))
    if closing is Closing.KILL:
        with pytest.raises(NotPlannableError, match="rest of lease 1"):
            planner.place_rest(late, 100)
        assert planner.plan.leases["1"] == late


def test_a_start_that_has_passed_means_now(make_planner: MakePlanner, make_lease: MakeLease) -> None:
    """haizea 8.2, 21: planned from now on, with the requested slack."""
    planner = make_planner(1)
    assert _place(planner, make_lease(DEADLINE, 1, 100, start=0, deadline=150), now=50).holdings[0].start == 50
    with pytest.raises(NotPlannableError):
        planner.place(make_lease(DEADLINE, 1, 100, start=0, deadline=150), 51)


def test_the_shutdown_may_end_after_the_deadline(make_planner: MakePlanner, make_lease: MakeLease) -> None:
    """haizea F56, F72: the deadline is about the run."""
    placed = _place(make_planner(1, shutdown_time=60), make_lease(DEADLINE, 1, 100, start=0, deadline=100))
    assert (placed.holdings[0].run_end, placed.holdings[0].end) == (100, 160)
