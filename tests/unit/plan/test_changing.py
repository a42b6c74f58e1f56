"""New terms or other hosts for leases that have a place."""

from __future__ import annotations

from dataclasses import replace

import pytest

from lease_scheduler.model.holding import Closing
from lease_scheduler.model.lease import Lease, LeaseKind, NodeSet
from lease_scheduler.model.states import LeaseState
from lease_scheduler.plan.changing import end_of_work, plan_anew, reshape, staying
from lease_scheduler.plan.plan import NotPlannableError
from lease_scheduler.plan.planner import Planner
from lease_scheduler.plan.present_hosts import PresentHosts

from .conftest import VM, MakeLease, MakePlanner


def _running(planner: Planner, lease: Lease, since: int = 0) -> Lease:
    """Place a lease and mark it as running."""
    placed = planner.place(lease, since)
    return planner.plan.put(replace(placed, state=LeaseState.ACTIVE, active_since=since))


def _kept(lease: Lease) -> PresentHosts:
    return PresentHosts.of(lease.request, lease.holdings[0].assignment)


@pytest.mark.parametrize(
    ("old", "new", "give_up", "expected"),
    [
        ([3], [3], [], (0, 1, 2)),
        ([3], [2], [], (0, 1)),
        ([3], [2], [0], (1, 2)),
        ([3], [2], [1, 0], (0, 2)),
        ([2], [3], [], (0, 1, None)),
        ([2, 3], [2, 2], [3], (0, 1, 2, 4)),
        ([2, 3], [1, 3], [4], (0, 2, 3, 4)),
        ([2, 3], [3, 1], [2], (0, 1, None, 3)),
        ([2], [2, 2], [], (0, 1, None, None)),
        ([2, 1], [2], [], (0, 1)),
    ],
)
def test_vms_stay_in_their_node_set(
    make_lease: MakeLease, old: list[int], new: list[int], give_up: list[int], expected: tuple[int | None, ...]
) -> None:
    before, after = (
        make_lease(LeaseKind.RESERVATION, start=0, node_sets=tuple(NodeSet(count, VM) for count in counts)).request
        for counts in (old, new)
    )
    assert staying(before, after, give_up) == expected


def test_a_best_effort_lease_that_waits_gets_another_place(make_planner: MakePlanner, make_lease: MakeLease) -> None:
    planner = make_planner(2)
    planner.place(make_lease(LeaseKind.RESERVATION, nodes=1, start=0, duration=500), 0)
    lease = planner.place(make_lease(LeaseKind.BEST_EFFORT, nodes=1, duration=100), 0)
    (before,) = lease.holdings
    assert (before.start, before.assignment) == (0, (1,))
    found = plan_anew(planner, lease, replace(lease.request, nodes=(NodeSet(2, VM),)), None, 10)
    (holding,) = found.holdings
    assert (holding.start, holding.run_end, holding.assignment) == (500, 600, (0, 1))
    assert planner.plan.leases[lease.lease_id] == found
    assert planner.plan.availability.equals(planner.plan.rebuilt(0))


def test_a_best_effort_lease_that_never_fits_stays_as_it_is(make_planner: MakePlanner, make_lease: MakeLease) -> None:
    planner = make_planner(2)
    lease = planner.place(make_lease(LeaseKind.BEST_EFFORT, nodes=1, duration=100), 0)
    with pytest.raises(NotPlannableError, match=f"no place for lease {lease.lease_id}$"):
        plan_anew(planner, lease, replace(lease.request, nodes=(NodeSet(3, VM),)), None, 10)
    assert planner.plan.leases[lease.lease_id] == lease


@pytest.mark.parametrize(("duration", "fits"), [(50, False), (51, True)])
def test_a_late_reservation_is_over_when_it_says(
    make_planner: MakePlanner, make_lease: MakeLease, duration: int, fits: bool
) -> None:
    """Its start has passed, so the rest of it is shorter; a lease that ends now has no rest."""
    planner = make_planner(1)
    lease = planner.place(make_lease(LeaseKind.RESERVATION, start=100, duration=200), 0)
    terms = replace(lease.request, duration=duration)
    if not fits:
        with pytest.raises(NotPlannableError, match="it would end before it could start"):
            plan_anew(planner, lease, terms, None, 150)
        return
    found = plan_anew(planner, lease, terms, None, 150)
    assert (found.holdings[0].run_start, found.holdings[0].run_end) == (150, 151)
    assert (found.request.start, found.request.duration) == (100, 51)


@pytest.mark.parametrize(("now", "start"), [(50, 100), (150, 150)])
def test_an_immediate_lease_begins_where_it_was_planned_or_now(
    make_planner: MakePlanner, make_lease: MakeLease, now: int, start: int
) -> None:
    planner = make_planner(1)
    lease = planner.place(make_lease(LeaseKind.IMMEDIATE, duration=200), 100)
    found = plan_anew(planner, lease, replace(lease.request, duration=300), None, now)
    assert (found.holdings[0].run_start, found.holdings[0].run_end) == (start, start + 300)


@pytest.mark.parametrize("duration", [50, 300])
def test_a_run_gets_longer_or_shorter_on_its_hosts(
    make_planner: MakePlanner, make_lease: MakeLease, duration: int
) -> None:
    planner = make_planner(2, shutdown_time=5)
    lease = _running(planner, make_lease(LeaseKind.RESERVATION, start=0, duration=100))
    found = reshape(planner, lease, replace(lease.request, duration=duration), _kept(lease), 10)
    (holding,) = found.holdings
    assert (holding.run_start, holding.run_end, holding.end) == (0, duration, duration + 5)
    assert holding.assignment == lease.holdings[0].assignment
    assert planner.plan.availability.equals(planner.plan.rebuilt(0))


def test_a_longer_reservation_makes_room_behind_its_end(make_planner: MakePlanner, make_lease: MakeLease) -> None:
    """Best-effort leases in the way give up their hosts; those of other leases stay."""
    planner = make_planner(2)
    lease = _running(planner, make_lease(LeaseKind.RESERVATION, start=0, duration=100))
    other = planner.place(make_lease(LeaseKind.RESERVATION, start=0, duration=100), 0)
    victim = planner.place(make_lease(LeaseKind.BEST_EFFORT, nodes=2, duration=500), 100)
    assert victim.holdings[0].start == 100
    found = reshape(planner, lease, replace(lease.request, duration=300), _kept(lease), 10)
    assert found.holdings[0].end == 300
    assert planner.plan.leases[victim.lease_id].holdings == ()
    assert planner.plan.leases[other.lease_id] == other
    assert planner.plan.availability.within_capacity()


def test_a_reservation_does_not_get_longer_where_promises_are_in_the_way(
    make_planner: MakePlanner, make_lease: MakeLease
) -> None:
    planner = make_planner(2)
    lease = _running(planner, make_lease(LeaseKind.RESERVATION, nodes=2, start=0, duration=100))
    planner.place(make_lease(LeaseKind.RESERVATION, nodes=1, start=100, duration=100), 0)
    with pytest.raises(NotPlannableError, match="its hosts are promised to others when it was to end"):
        reshape(planner, lease, replace(lease.request, duration=101), _kept(lease), 10)
    assert planner.plan.leases[lease.lease_id] == lease


@pytest.mark.parametrize(("now", "is_suspended"), [(10, True), (67, True), (68, False)])
def test_work_that_gets_longer_is_suspended_where_promises_are_in_the_way(
    make_planner: MakePlanner, make_lease: MakeLease, now: int, is_suspended: bool
) -> None:
    """Its memory is saved before its present end, which takes 32 s: from 68 on that is too late."""
    planner = make_planner(1)
    lease = _running(planner, make_lease(LeaseKind.BEST_EFFORT, duration=100))
    planner.place(make_lease(LeaseKind.RESERVATION, start=100, duration=100), 0)
    terms = replace(lease.request, duration=300)
    if not is_suspended:
        with pytest.raises(NotPlannableError, match="its hosts are promised"):
            reshape(planner, lease, terms, _kept(lease), now)
        return
    (holding,) = reshape(planner, lease, terms, _kept(lease), now).holdings
    assert (holding.run_end, holding.end, holding.closing) == (68, 100, Closing.SUSPEND)


def test_work_that_gets_shorter_than_its_run_is_shut_down(make_planner: MakePlanner, make_lease: MakeLease) -> None:
    """It was to be suspended at 100; its earlier work counts."""
    planner = make_planner(1, shutdown_time=3)
    lease = _running(planner, make_lease(LeaseKind.BEST_EFFORT, duration=100))
    planner.place(make_lease(LeaseKind.RESERVATION, start=103, duration=100), 0)
    lease = reshape(planner, lease, replace(lease.request, duration=300), _kept(lease), 10)
    assert lease.holdings[0].closing is Closing.SUSPEND
    lease = planner.plan.put(replace(lease, accumulated=20))
    (holding,) = reshape(planner, lease, replace(lease.request, duration=70), _kept(lease), 20).holdings
    assert (holding.run_end, holding.end, holding.closing) == (50, 53, Closing.SHUTDOWN)


def test_a_deadline_lease_does_not_run_past_its_deadline(make_planner: MakePlanner, make_lease: MakeLease) -> None:
    planner = make_planner(1)
    lease = _running(planner, make_lease(LeaseKind.DEADLINE, start=0, duration=100, deadline=200), 20)
    found = reshape(planner, lease, replace(lease.request, duration=180), _kept(lease), 30)
    assert found.holdings[0].run_end == 200
    with pytest.raises(NotPlannableError, match="it would run past its deadline"):
        reshape(planner, found, replace(lease.request, duration=181), _kept(lease), 30)
    assert planner.plan.leases[lease.lease_id] == found


def test_a_lease_that_loses_a_host_goes_on_from_now(make_planner: MakePlanner, make_lease: MakeLease) -> None:
    planner = make_planner(3)
    lease = _running(planner, make_lease(LeaseKind.RESERVATION, nodes=2, start=0, duration=100))
    first, second = lease.holdings[0].assignment
    found = reshape(planner, lease, lease.request, PresentHosts.of(lease.request, [first, None]), 40)
    (holding,) = found.holdings
    assert (holding.start, holding.run_start, holding.run_end) == (40, 40, 100)
    assert holding.assignment[0] == first
    assert holding.assignment == (first, second)
    with pytest.raises(NotPlannableError, match="it ends now and needs no other hosts"):
        reshape(
            planner,
            lease,
            replace(lease.request, nodes=(NodeSet(1, VM),)),
            PresentHosts.of(lease.request, [first]),
            100,
        )


def test_when_work_is_done_by_new_terms(make_planner: MakePlanner, make_lease: MakeLease) -> None:
    planner = make_planner(3)
    fixed = planner.place(make_lease(LeaseKind.RESERVATION, start=50, duration=100), 0)
    assert end_of_work(fixed, replace(fixed.request, duration=130)) == 180
    assert end_of_work(replace(fixed, holdings=()), fixed.request) is None
    work = planner.place(make_lease(LeaseKind.BEST_EFFORT, duration=100), 20)
    assert end_of_work(work, replace(work.request, duration=130)) == 150
    assert end_of_work(replace(work, active_since=35, accumulated=10), replace(work.request, duration=130)) == 155


def test_a_deadline_lease_that_waits_keeps_its_place_if_it_can(
    make_planner: MakePlanner, make_lease: MakeLease
) -> None:
    """It was planned behind a reservation that is gone; its hosts are free for the longer run as well."""
    planner = make_planner(2)
    blocker = planner.place(make_lease(LeaseKind.RESERVATION, nodes=2, start=0, duration=100), 0)
    lease = planner.place(make_lease(LeaseKind.DEADLINE, start=0, duration=100, deadline=1000), 0)
    (before,) = lease.holdings
    assert before.start == 100
    planner.plan.put(replace(blocker, holdings=()))
    found = plan_anew(planner, lease, replace(lease.request, duration=300), _kept(lease), 10)
    (holding,) = found.holdings
    assert (holding.start, holding.run_end, holding.assignment) == (100, 400, before.assignment)
    assert planner.plan.leases[lease.lease_id] == found


def test_a_deadline_lease_with_fewer_vms_if_not_all_fit(make_planner: MakePlanner, make_lease: MakeLease) -> None:
    planner = make_planner(2)
    planner.place(make_lease(LeaseKind.RESERVATION, start=0, duration=2000), 0)
    lease = planner.place(make_lease(LeaseKind.DEADLINE, start=0, duration=100, deadline=1000), 0)
    terms = replace(lease.request, nodes=(NodeSet(2, VM),))
    with pytest.raises(NotPlannableError):
        plan_anew(planner, lease, terms, None, 0)
    found = plan_anew(planner, lease, terms, None, 0, (1,))
    assert found.request.nodes == (NodeSet(1, VM),)
    assert planner.plan.leases[lease.lease_id].holdings == found.holdings != ()


def test_a_longer_reservation_keeps_its_hosts_though_others_are_free(
    make_planner: MakePlanner, make_lease: MakeLease
) -> None:
    """Running servers cannot move to the other host at the present end."""
    planner = make_planner(2)
    lease = _running(planner, make_lease(LeaseKind.RESERVATION, start=0, duration=100))
    blocker = planner.place(make_lease(LeaseKind.RESERVATION, nodes=2, start=100, duration=100), 0)
    (host,) = lease.holdings[0].assignment
    planner.plan.put(replace(blocker, request=replace(blocker.request, nodes=(NodeSet(1, VM),)), holdings=()))
    holding = replace(blocker.holdings[0], assignment=(host,))
    planner.plan.put(replace(blocker, request=replace(blocker.request, nodes=(NodeSet(1, VM),)), holdings=(holding,)))
    with pytest.raises(NotPlannableError, match="promised to others"):
        reshape(planner, lease, replace(lease.request, duration=150), _kept(lease), 10)
