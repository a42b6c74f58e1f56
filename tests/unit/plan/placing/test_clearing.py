"""Reservations that clear their hosts, for example for maintenance: what others are moved, and what is in the way."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from lease_scheduler.model.holding import Closing
from lease_scheduler.model.kinds import LeaseKind, PreemptionMode
from lease_scheduler.model.lease import Lease
from lease_scheduler.model.nodes import NodeSet
from lease_scheduler.model.states import LeaseState
from lease_scheduler.plan.changing.outages import block
from lease_scheduler.plan.placing.clearing import InTheWayError
from lease_scheduler.plan.plan import NotPlannableError
from lease_scheduler.plan.planner import Planner
from tests.unit.plan.conftest import VM, MakeLease, MakePlanner, running

RESERVATION, BEST_EFFORT, DEADLINE = LeaseKind.RESERVATION, LeaseKind.BEST_EFFORT, LeaseKind.DEADLINE


def _maintenance(planner: Planner, make_lease: MakeLease, *hosts: int, start: int = 100, duration: int = 100) -> Lease:
    names = frozenset(planner.plan.site.hosts[host].name for host in hosts)
    nodes = (NodeSet(len(hosts), VM, hosts=names),)
    return make_lease(RESERVATION, start=start, duration=duration, node_sets=nodes, moves_others=True)


def _refused(planner: Planner, lease: Lease, now: int = 0) -> tuple[str, ...]:
    """Return the leases that are in the way; the plan stays as it is."""
    before = dict(planner.plan.leases)
    with pytest.raises(InTheWayError) as error:
        planner.place(lease, now)
    assert planner.plan.leases == before
    assert all(each in str(error.value) for each in error.value.leases)
    return error.value.leases


@pytest.mark.parametrize("kind", [RESERVATION, LeaseKind.IMMEDIATE, DEADLINE])
def test_leases_that_wait_are_moved_to_other_hosts(
    make_planner: MakePlanner, make_lease: MakeLease, kind: LeaseKind
) -> None:
    """They keep their interval, and hosts that are not cleared."""
    planner = make_planner(3)
    terms = {RESERVATION: {"start": 120}, DEADLINE: {"start": 120, "deadline": 900}}.get(kind, {})
    other = planner.place(make_lease(kind, nodes=2, duration=300, preemptible=False, **terms), 120)
    assert other.holdings[0].assignment == (0, 1)
    placed = planner.place(_maintenance(planner, make_lease, 0), 50)
    assert (placed.holdings[0].assignment, placed.state) == ((0,), LeaseState.READY)
    moved = planner.plan.leases[other.lease_id]
    assert moved.holdings == (replace(other.holdings[0], assignment=(2, 1)),)
    assert (moved.state, moved.request) == (other.state, other.request)
    assert planner.plan.availability.equals(planner.plan.rebuilt(0))


def test_leases_that_are_not_there_at_that_time_stay(make_planner: MakePlanner, make_lease: MakeLease) -> None:
    """Neither those before and after, nor those on other hosts."""
    planner = make_planner(3)
    before = planner.place(make_lease(RESERVATION, start=10, duration=90), 0)
    after = planner.place(make_lease(RESERVATION, start=200, duration=50), 0)
    beside = planner.place(make_lease(RESERVATION, start=90, duration=200), 0)
    there = planner.place(make_lease(RESERVATION, start=199, duration=1), 0)
    there = planner.plan.put(replace(there, holdings=(replace(there.holdings[0], assignment=(0,)),)))
    assert [each.holdings[0].assignment for each in (before, after, beside)] == [(0,), (0,), (1,)]
    planner.place(_maintenance(planner, make_lease, 0), 0)
    assert [planner.plan.leases[each.lease_id] for each in (before, after, beside)] == [before, after, beside]
    assert planner.plan.leases[there.lease_id].holdings[0].assignment == (2,)


def test_a_reservation_without_another_place_is_in_the_way(make_planner: MakePlanner, make_lease: MakeLease) -> None:
    """Its reason names each lease that has none, and no lease has been moved."""
    planner = make_planner(2)
    others = [planner.place(make_lease(RESERVATION, start=start, duration=50), 0) for start in (100, 100, 150, 150)]
    on_host = [other.lease_id for other in others if other.holdings[0].hosts == {0}]
    assert _refused(planner, _maintenance(planner, make_lease, 0)) == tuple(on_host)


@pytest.mark.parametrize("terms", [{}, {"preemptible": True, "preemption_mode": PreemptionMode.NONE}])
def test_a_lease_that_runs_and_may_not_be_preempted_is_in_the_way(
    make_planner: MakePlanner, make_lease: MakeLease, terms: dict[str, Any]
) -> None:
    """Even though another host is free."""
    planner = make_planner(2)
    other = running(planner, make_lease(RESERVATION, start=0, duration=300, **terms))
    assert _refused(planner, _maintenance(planner, make_lease, 0), 50) == (other.lease_id,)


def test_best_effort_leases_are_preempted_as_for_any_reservation(
    make_planner: MakePlanner, make_lease: MakeLease
) -> None:
    """It is suspended if it runs, and goes back to the queue if it waits."""
    planner = make_planner(2)
    runs = running(planner, make_lease(BEST_EFFORT, duration=500))
    waits = planner.place(make_lease(BEST_EFFORT, duration=500), 120)
    placed = planner.place(_maintenance(planner, make_lease, 0, 1), 10)
    assert placed.holdings[0].hosts == {0, 1}
    assert planner.plan.leases[runs.lease_id].holdings[0].closing is Closing.SUSPEND
    assert planner.plan.leases[waits.lease_id].holdings == ()


def test_a_waiting_best_effort_lease_is_queued_again_and_a_reservation_moves(
    make_planner: MakePlanner, make_lease: MakeLease
) -> None:
    """Both are on the host: only the reservation has to have a place at that time."""
    planner = make_planner(2)
    promise = planner.place(make_lease(RESERVATION, start=100, duration=50), 0)
    work = planner.place(make_lease(BEST_EFFORT, duration=40, preemptible=False), 150)
    assert promise.holdings[0].hosts == work.holdings[0].hosts == {0}
    planner.place(_maintenance(planner, make_lease, 0), 10)
    assert planner.plan.leases[promise.lease_id].holdings[0].hosts == {1}
    queued = planner.plan.leases[work.lease_id]
    assert (queued.state, queued.holdings, queued.reason) == (LeaseState.QUEUED, (), "its hosts are cleared")


def test_a_reservation_is_moved_before_a_deadline_lease(make_planner: MakePlanner, make_lease: MakeLease) -> None:
    """One other host is free. The reservation gets it; the deadline lease that came before it starts later."""
    planner = make_planner(3)
    deadline = planner.place(make_lease(DEADLINE, start=100, duration=100, deadline=900), 0)
    promise = planner.place(make_lease(RESERVATION, start=100, duration=100), 0)
    assert (deadline.holdings[0].assignment, promise.holdings[0].assignment) == ((0,), (1,))
    planner.place(_maintenance(planner, make_lease, 0, 1), 10)
    assert planner.plan.leases[promise.lease_id].holdings[0].assignment == (2,)
    assert planner.plan.leases[promise.lease_id].holdings[0].start == 100
    assert planner.plan.leases[deadline.lease_id].holdings[0].start == 200


def test_a_deadline_lease_without_a_place_in_time_is_in_the_way(
    make_planner: MakePlanner, make_lease: MakeLease
) -> None:
    """It is moved if it is then done by its deadline."""
    planner = make_planner(1)
    other = planner.place(make_lease(DEADLINE, start=100, duration=100, deadline=250, preemptible=False), 0)
    assert _refused(planner, _maintenance(planner, make_lease, 0)) == (other.lease_id,)
    planner.place(_maintenance(planner, make_lease, 0, duration=50), 0)
    assert planner.plan.leases[other.lease_id].holdings[0].start == 150


def test_only_the_rest_of_a_deadline_lease_is_moved(make_planner: MakePlanner, make_lease: MakeLease) -> None:
    """It runs and will be suspended; what it holds now is not on the hosts at that time."""
    planner = make_planner(2)
    lease = running(planner, make_lease(DEADLINE, start=0, duration=1000, deadline=5000, preemptible=True))
    planner.place(make_lease(RESERVATION, nodes=2, start=500, duration=300), 0)
    first, rest = planner.plan.leases[lease.lease_id].holdings
    unmovable = replace(planner.plan.leases[lease.lease_id].request, preemptible=False)
    planner.plan.put(replace(planner.plan.leases[lease.lease_id], request=unmovable))
    (host,) = rest.hosts
    planner.place(_maintenance(planner, make_lease, host, start=900, duration=200), 100)
    kept, moved = planner.plan.leases[lease.lease_id].holdings
    assert kept == first
    assert moved.start >= 800
    assert moved.hosts != rest.hosts or moved.start >= 1100
    assert moved.run_end - moved.run_start == 1000 - 468


def test_saved_work_is_resumed_elsewhere(make_planner: MakePlanner, make_lease: MakeLease) -> None:
    """A suspended deadline lease waits for the host; its memory is brought to the other one."""
    planner = make_planner(2)
    lease = make_lease(DEADLINE, start=0, duration=300, deadline=2000, preemptible=False)
    planned = planner.place(lease, 100)
    held = replace(planned.holdings[0], run_start=132, run_end=332, end=332)
    saved = replace(planned, state=LeaseState.SUSPENDED_SCHEDULED, saved_on=(0,), accumulated=100, holdings=(held,))
    planner.plan.put(saved)
    planner.place(_maintenance(planner, make_lease, 0, duration=1000), 50)
    found = planner.plan.leases[saved.lease_id]
    assert (found.state, found.holdings[0].assignment) == (LeaseState.SUSPENDED_SCHEDULED, (1,))
    assert found.holdings[0].run_end - found.holdings[0].run_start == 200
    assert found.holdings[0].migrations != ()


def test_without_leases_in_the_way_the_refusal_names_none(make_planner: MakePlanner, make_lease: MakeLease) -> None:
    """The host is out of service."""
    planner = make_planner(1)
    block(planner.plan, 0, 0, 1000)
    with pytest.raises(NotPlannableError) as error:
        planner.place(_maintenance(planner, make_lease, 0), 0)
    assert not isinstance(error.value, InTheWayError)


def test_the_shutdown_needs_the_cleared_hosts_as_well(make_planner: MakePlanner, make_lease: MakeLease) -> None:
    """A lease that was to begin while the last servers are shut down is moved too."""
    planner = make_planner(2, shutdown_time=30)
    soon = planner.place(make_lease(RESERVATION, start=229, duration=50), 0)
    assert soon.holdings[0].hosts == {0}
    planner.place(_maintenance(planner, make_lease, 0), 0)
    assert planner.plan.leases[soon.lease_id].holdings[0].hosts == {1}
    late = planner.place(make_lease(RESERVATION, start=230, duration=50), 0)
    assert late.holdings[0].hosts == {0}
