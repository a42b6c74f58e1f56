"""New terms or other hosts for leases that run, or are about to."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from lease_scheduler.model.holding import Closing
from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.lease import Lease
from lease_scheduler.model.nodes import NodeSet
from lease_scheduler.model.resources import MEMORY_MB, VCPU, Resources
from lease_scheduler.model.states import LeaseState
from lease_scheduler.plan.changing.changing import reshape
from lease_scheduler.plan.changing.outages import closed
from lease_scheduler.plan.fitting.present_hosts import PresentHosts
from lease_scheduler.plan.plan import NotPlannableError
from lease_scheduler.plan.planner import Planner
from tests.unit.plan.conftest import VM, MakeLease, MakePlanner, present_hosts, running


@pytest.mark.parametrize("duration", [50, 300])
def test_a_run_gets_longer_or_shorter_on_its_hosts(
    make_planner: MakePlanner, make_lease: MakeLease, duration: int
) -> None:
    planner = make_planner(2, shutdown_time=5)
    lease = running(planner, make_lease(LeaseKind.RESERVATION, start=0, duration=100))
    found = reshape(planner, lease, replace(lease.request, duration=duration), present_hosts(lease), 10)
    (holding,) = found.holdings
    assert (holding.run_start, holding.run_end, holding.end) == (0, duration, duration + 5)
    assert holding.assignment == lease.holdings[0].assignment
    assert planner.plan.availability.equals(planner.plan.rebuilt(0))


def test_a_longer_reservation_preempts_leases_after_its_old_end(
    make_planner: MakePlanner, make_lease: MakeLease
) -> None:
    """Best-effort leases in the way give up their hosts; those of other leases stay."""
    planner = make_planner(2)
    lease = running(planner, make_lease(LeaseKind.RESERVATION, start=0, duration=100))
    other = planner.place(make_lease(LeaseKind.RESERVATION, start=0, duration=100), 0)
    victim = planner.place(make_lease(LeaseKind.BEST_EFFORT, nodes=2, duration=500), 100)
    assert victim.holdings[0].start == 100
    found = reshape(planner, lease, replace(lease.request, duration=300), present_hosts(lease), 10)
    assert found.holdings[0].end == 300
    assert planner.plan.leases[victim.lease_id].holdings == ()
    assert planner.plan.leases[other.lease_id] == other
    assert planner.plan.availability.within_capacity()


def test_a_reservation_is_not_extended_into_another_reservation(
    make_planner: MakePlanner, make_lease: MakeLease
) -> None:
    planner = make_planner(2)
    lease = running(planner, make_lease(LeaseKind.RESERVATION, nodes=2, start=0, duration=100))
    planner.place(make_lease(LeaseKind.RESERVATION, nodes=1, start=100, duration=100), 0)
    with pytest.raises(NotPlannableError, match="its hosts are promised to others from its planned end on"):
        reshape(planner, lease, replace(lease.request, duration=101), present_hosts(lease), 10)
    assert planner.plan.leases[lease.lease_id] == lease


@pytest.mark.parametrize(("now", "is_suspended"), [(10, True), (67, True), (68, False)])
def test_an_extended_best_effort_lease_is_suspended_before_a_reservation(
    make_planner: MakePlanner, make_lease: MakeLease, now: int, is_suspended: bool
) -> None:
    """Its memory is saved before its present end, which takes 32 s: from 68 on that is too late."""
    planner = make_planner(1)
    lease = running(planner, make_lease(LeaseKind.BEST_EFFORT, duration=100))
    planner.place(make_lease(LeaseKind.RESERVATION, start=100, duration=100), 0)
    terms = replace(lease.request, duration=300)
    if not is_suspended:
        with pytest.raises(NotPlannableError, match="its hosts are promised"):
            reshape(planner, lease, terms, present_hosts(lease), now)
        return
    (holding,) = reshape(planner, lease, terms, present_hosts(lease), now).holdings
    assert (holding.run_end, holding.end, holding.closing) == (68, 100, Closing.SUSPEND)


def test_a_lease_that_is_cut_to_less_than_it_has_run_is_shut_down(
    make_planner: MakePlanner, make_lease: MakeLease
) -> None:
    """It was to be suspended at 100; its earlier work counts."""
    planner = make_planner(1, shutdown_time=3)
    lease = running(planner, make_lease(LeaseKind.BEST_EFFORT, duration=100))
    planner.place(make_lease(LeaseKind.RESERVATION, start=103, duration=100), 0)
    lease = reshape(planner, lease, replace(lease.request, duration=300), present_hosts(lease), 10)
    assert lease.holdings[0].closing is Closing.SUSPEND
    lease = planner.plan.put(replace(lease, accumulated=20))
    (holding,) = reshape(planner, lease, replace(lease.request, duration=70), present_hosts(lease), 20).holdings
    assert (holding.run_end, holding.end, holding.closing) == (50, 53, Closing.SHUTDOWN)


def test_a_deadline_lease_does_not_run_past_its_deadline(make_planner: MakePlanner, make_lease: MakeLease) -> None:
    planner = make_planner(1)
    lease = running(planner, make_lease(LeaseKind.DEADLINE, start=0, duration=100, deadline=200), 20)
    found = reshape(planner, lease, replace(lease.request, duration=180), present_hosts(lease), 30)
    assert found.holdings[0].run_end == 200
    with pytest.raises(NotPlannableError, match="it would run past its deadline"):
        reshape(planner, found, replace(lease.request, duration=181), present_hosts(lease), 30)
    assert planner.plan.leases[lease.lease_id] == found


def test_a_lease_that_loses_a_host_has_a_holding_from_now_on(make_planner: MakePlanner, make_lease: MakeLease) -> None:
    planner = make_planner(3)
    lease = running(planner, make_lease(LeaseKind.RESERVATION, nodes=2, start=0, duration=100))
    first, second = lease.holdings[0].assignment
    found = reshape(planner, lease, lease.request, PresentHosts.of(lease.request, [first, None]), 40)
    (holding,) = found.holdings
    assert (holding.start, holding.run_start, holding.run_end) == (40, 40, 100)
    assert holding.assignment[0] == first
    assert holding.assignment == (first, second)
    with pytest.raises(NotPlannableError, match="it ends now, so its nodes cannot change"):
        reshape(
            planner,
            lease,
            replace(lease.request, nodes=(NodeSet(1, VM),)),
            PresentHosts.of(lease.request, [first]),
            100,
        )


def test_a_longer_reservation_keeps_its_hosts_though_others_are_free(
    make_planner: MakePlanner, make_lease: MakeLease
) -> None:
    """Running servers cannot move to the other host at the present end."""
    planner = make_planner(2)
    lease = running(planner, make_lease(LeaseKind.RESERVATION, start=0, duration=100))
    blocker = planner.place(make_lease(LeaseKind.RESERVATION, nodes=2, start=100, duration=100), 0)
    (host,) = lease.holdings[0].assignment
    planner.plan.put(replace(blocker, request=replace(blocker.request, nodes=(NodeSet(1, VM),)), holdings=()))
    holding = replace(blocker.holdings[0], assignment=(host,))
    planner.plan.put(replace(blocker, request=replace(blocker.request, nodes=(NodeSet(1, VM),)), holdings=(holding,)))
    with pytest.raises(NotPlannableError, match="promised to others"):
        reshape(planner, lease, replace(lease.request, duration=150), present_hosts(lease), 10)


@pytest.mark.parametrize("is_active", [True, False])
@pytest.mark.parametrize(
    ("shutdown_time", "duration", "expected"),
    [
        (20, 68, (68, 88, Closing.SHUTDOWN)),
        (32, 68, (68, 100, Closing.SHUTDOWN)),
        (33, 68, (68, 100, Closing.SUSPEND)),
        (33, 67, (67, 100, Closing.SHUTDOWN)),
        (0, 69, (68, 100, Closing.SUSPEND)),
    ],
)
def test_work_is_suspended_only_if_it_cannot_be_done_and_shut_down(
    make_planner: MakePlanner,
    make_lease: MakeLease,
    shutdown_time: int,
    duration: int,
    expected: tuple[int, int, Closing],
    is_active: bool,
) -> None:
    """It is to be suspended from 68 s on; its hosts are promised to others from 100 s on."""
    planner = make_planner(1, shutdown_time=shutdown_time)
    lease = running(planner, make_lease(LeaseKind.BEST_EFFORT, duration=300))
    cut = replace(lease.holdings[0], run_end=68, end=100, closing=Closing.SUSPEND)
    lease = planner.plan.put(replace(lease, holdings=(cut,), active_since=0 if is_active else None))
    (holding,) = reshape(planner, lease, replace(lease.request, duration=duration), present_hosts(lease), 10).holdings
    assert (holding.run_end, holding.end, holding.closing) == expected


@pytest.mark.parametrize(
    ("kind", "preemptible"),
    [(LeaseKind.RESERVATION, True), (LeaseKind.IMMEDIATE, True), (LeaseKind.BEST_EFFORT, False)],
)
def test_leases_that_cannot_be_suspended_are_not_extended_into_a_reservation(
    make_planner: MakePlanner, make_lease: MakeLease, kind: LeaseKind, preemptible: bool
) -> None:
    """A promised interval has no gaps, and work that may not be preempted cannot be suspended."""
    planner = make_planner(1)
    start = {"start": 0} if kind.has_start else {}
    lease = running(planner, make_lease(kind, duration=100, preemptible=preemptible, **start))
    planner.place(make_lease(LeaseKind.RESERVATION, start=100, duration=100), 0)
    with pytest.raises(NotPlannableError, match="its hosts are promised to others"):
        reshape(planner, lease, replace(lease.request, duration=300), present_hosts(lease), 10)


def test_a_longer_run_suspends_a_lease_beside_it_if_needed(make_planner: MakePlanner, make_lease: MakeLease) -> None:
    """The host can hold two nodes. One of them is promised to a third lease from the old end on."""
    planner = make_planner(1, capacity=Resources({VCPU: 2, MEMORY_MB: 2048}))
    lease = running(planner, make_lease(LeaseKind.RESERVATION, start=0, duration=100))
    work = running(planner, make_lease(LeaseKind.BEST_EFFORT, duration=500))
    planner.place(make_lease(LeaseKind.RESERVATION, start=100, duration=200), 0)
    found = reshape(planner, lease, replace(lease.request, duration=300), present_hosts(lease), 10)
    assert found.holdings[0].end == 300
    (holding,) = planner.plan.leases[work.lease_id].holdings
    assert (holding.run_end, holding.end, holding.closing) == (68, 100, Closing.SUSPEND)


@pytest.mark.parametrize("more", [{"duration": 300}, {"nodes": (NodeSet(2, VM),)}])
def test_a_preempted_deadline_lease_is_planned_after_the_change(
    make_planner: MakePlanner, make_lease: MakeLease, more: dict[str, Any]
) -> None:
    """It waits for the host that a longer or larger reservation gets, and is done by its deadline all the same."""
    planner = make_planner(2)
    lease = running(planner, make_lease(LeaseKind.RESERVATION, start=0, duration=100))
    (host,) = lease.holdings[0].assignment
    blocker = planner.place(make_lease(LeaseKind.RESERVATION, start=0, duration=1000), 0)
    waits = planner.place(make_lease(LeaseKind.DEADLINE, start=20, duration=50, deadline=2000), 0)
    assert (waits.holdings[0].start, waits.holdings[0].assignment) == (100, (host,))
    if "nodes" in more:
        planner.plan.put(replace(blocker, holdings=()))
        moved = replace(waits.holdings[0], assignment=(1 - host,), start=20, run_start=20, run_end=70, end=70)
        waits = planner.plan.put(replace(waits, holdings=(moved,)))
    found = reshape(planner, lease, replace(lease.request, **more), present_hosts(lease), 10)
    assert planner.plan.leases[waits.lease_id].holdings[0].start == found.holdings[0].end
    assert planner.plan.availability.within_capacity()


def test_a_running_best_effort_lease_loses_its_host_to_a_larger_reservation(
    make_planner: MakePlanner, make_lease: MakeLease
) -> None:
    """The additional node begins now, so there is no time to save anything."""
    planner = make_planner(2)
    lease = running(planner, make_lease(LeaseKind.RESERVATION, start=0, duration=100))
    work = running(planner, make_lease(LeaseKind.BEST_EFFORT, duration=500))
    found = reshape(planner, lease, replace(lease.request, nodes=(NodeSet(2, VM),)), present_hosts(lease), 40)
    assert found.holdings[0].hosts == {0, 1}
    lost = planner.plan.leases[work.lease_id]
    assert (lost.state, lost.holdings) == (LeaseState.QUEUED, ())


def test_running_nodes_do_not_move_to_make_a_change_fit(make_planner: MakePlanner, make_lease: MakeLease) -> None:
    """The host is promised to others at the old end, and two other hosts are free."""
    planner = make_planner(3)
    lease = running(planner, make_lease(LeaseKind.RESERVATION, start=0, duration=100))
    other = planner.place(make_lease(LeaseKind.RESERVATION, start=100, duration=100), 0)
    assert other.holdings[0].assignment == lease.holdings[0].assignment
    with pytest.raises(NotPlannableError):
        reshape(planner, lease, replace(lease.request, duration=150, nodes=(NodeSet(2, VM),)), present_hosts(lease), 10)
    assert planner.plan.leases[lease.lease_id] == lease


@pytest.mark.parametrize(("now", "is_saved"), [(430, True), (431, False)])
def test_the_time_to_save_memory_depends_on_the_number_of_nodes(
    make_planner: MakePlanner, make_lease: MakeLease, now: int, is_saved: bool
) -> None:
    """Nodes on one host take turns of 32 s. The reservation has to find its host free 5 s ahead."""
    planner = make_planner(1, capacity=Resources({VCPU: 2, MEMORY_MB: 2048}), suspend_buffer=5)
    lease = running(planner, make_lease(LeaseKind.BEST_EFFORT, duration=1000))
    planner.place(make_lease(LeaseKind.RESERVATION, nodes=2, start=500, duration=100), 0)
    lease = planner.plan.leases[lease.lease_id]
    assert (lease.holdings[0].run_end, lease.holdings[0].end) == (463, 495)
    terms = replace(lease.request, nodes=(NodeSet(2, VM),))
    if not is_saved:
        with pytest.raises(NotPlannableError, match="its memory could not be saved in time"):
            reshape(planner, lease, terms, present_hosts(lease), now)
        assert planner.plan.leases[lease.lease_id] == lease
        return
    found = reshape(planner, lease, terms, present_hosts(lease), now)
    (holding,) = found.holdings
    assert (holding.start, holding.run_end, holding.end, holding.closing) == (now, 431, 495, Closing.SUSPEND)


# -- deadline leases in parts ------------------------------------------------------------------------------------------


def _in_parts(planner: Planner, make_lease: MakeLease) -> Lease:
    """Return a deadline lease that runs since 0 s, is suspended until 500 s, and runs the rest from 800 s on."""
    lease = running(planner, make_lease(LeaseKind.DEADLINE, start=0, duration=1000, deadline=3000))
    planner.place(make_lease(LeaseKind.RESERVATION, nodes=2, start=500, duration=300), 0)
    lease = planner.plan.leases[lease.lease_id]
    assert [(each.run_start, each.run_end) for each in lease.holdings] == [(0, 468), (832, 832 + 1000 - 468)]
    return lease


@pytest.mark.parametrize("is_active", [True, False])
def test_new_terms_of_a_lease_in_parts_change_only_its_last_part(
    make_planner: MakePlanner, make_lease: MakeLease, is_active: bool
) -> None:
    """What runs now stays as it is, whether it runs already or its nodes boot."""
    planner = make_planner(2)
    lease = _in_parts(planner, make_lease)
    lease = planner.plan.put(replace(lease, active_since=0 if is_active else None))
    found = reshape(planner, lease, replace(lease.request, duration=1200), present_hosts(lease), 100)
    first, rest = found.holdings
    assert first == lease.holdings[0]
    assert (rest.run_start, rest.run_end) == (832, 832 + 1200 - 468)
    assert planner.plan.leases[lease.lease_id] == found
    with pytest.raises(NotPlannableError, match="no place for the rest"):
        reshape(planner, found, replace(lease.request, duration=2700), present_hosts(lease), 100)


def test_a_lease_in_parts_that_moves_keeps_the_work_done_so_far(
    make_planner: MakePlanner, make_lease: MakeLease
) -> None:
    """Its holding starts anew. The rest is what has not run before, in this run or an earlier one, nor runs in it."""
    planner = make_planner(2)
    lease = _in_parts(planner, make_lease)
    lease = planner.plan.put(replace(lease, accumulated=10))
    with closed(planner.plan, frozenset(lease.holdings[0].assignment), 100):
        found = reshape(planner, lease, lease.request, PresentHosts.of(lease.request, [None]), 100)
    first, rest = found.holdings
    assert (first.start, first.run_end, first.closing) == (100, 468, Closing.SUSPEND)
    assert first.hosts.isdisjoint(lease.holdings[0].hosts)
    assert (rest.run_start, rest.run_end) == (832, 832 + 1000 - 468 - 10)
    assert (found.accumulated, found.active_since) == (10, 0)
    assert planner.plan.leases[lease.lease_id] == found
