"""Leases that were to be preempted for one that is gone: they keep their hosts, or come back sooner."""

from __future__ import annotations

from dataclasses import replace

import pytest

from lease_scheduler.model.holding import Closing, Holding
from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.lease import Lease
from lease_scheduler.model.states import LeaseState
from lease_scheduler.plan.changing.early_end import back_sooner, go_on
from lease_scheduler.plan.planner import Planner
from tests.unit.plan.conftest import MakeLease, MakePlanner, running

RESERVATION, BEST_EFFORT, DEADLINE = LeaseKind.RESERVATION, LeaseKind.BEST_EFFORT, LeaseKind.DEADLINE


def _freed(planner: Planner, make_lease: MakeLease, lease: Lease, nodes: int = 1) -> Lease:
    """Run a lease that was to be suspended by 500 s for a reservation that is gone, and return it."""
    lease = running(planner, lease)
    reservation = planner.place(make_lease(RESERVATION, nodes=nodes, start=500, duration=300), 0)
    planner.release(reservation)
    lease = planner.plan.leases[lease.lease_id]
    assert lease.holdings[0].closing is Closing.SUSPEND
    return lease


def test_a_run_that_was_to_be_suspended_goes_on_to_its_end(make_planner: MakePlanner, make_lease: MakeLease) -> None:
    """It has what it had done in earlier runs to do no more, and its hosts until its shutdown is over."""
    planner = make_planner(1, shutdown_time=7)
    lease = _freed(planner, make_lease, make_lease(BEST_EFFORT, duration=1000))
    lease = planner.plan.put(replace(lease, accumulated=100))
    assert go_on(planner.context, lease, 200)
    found = planner.plan.leases[lease.lease_id]
    assert found == replace(lease, holdings=(Holding((0,), 0, 0, 900, 907),))
    assert not go_on(planner.context, found, 200), "it is not to be preempted any more"


def test_a_run_does_not_go_on_where_others_are_promised_the_hosts(
    make_planner: MakePlanner, make_lease: MakeLease
) -> None:
    """The last second counts."""
    planner = make_planner(1)
    lease = _freed(planner, make_lease, make_lease(BEST_EFFORT, duration=1000))
    other = planner.place(make_lease(RESERVATION, start=999, duration=100), 0)
    lease = planner.plan.leases[lease.lease_id]
    assert not go_on(planner.context, lease, 200)
    assert planner.plan.leases[lease.lease_id] == lease
    planner.release(other)
    planner.place(make_lease(RESERVATION, start=1000, duration=100), 0)
    assert go_on(planner.context, planner.plan.leases[lease.lease_id], 200)


@pytest.mark.parametrize(("now", "deadline", "goes_on"), [(200, 1000, True), (200, 999, False), (1000, 1000, False)])
def test_a_deadline_lease_goes_on_if_it_is_then_done_in_time(
    make_planner: MakePlanner, make_lease: MakeLease, now: int, deadline: int, goes_on: bool
) -> None:
    """And if it is not done already. It then needs no second part."""
    planner = make_planner(1)
    lease = _freed(planner, make_lease, make_lease(DEADLINE, start=0, duration=1000, deadline=3000))
    assert len(lease.holdings) == 2
    lease = planner.plan.put(replace(lease, request=replace(lease.request, start=0, duration=900, deadline=deadline)))
    lease = planner.plan.put(replace(lease, accumulated=-100))
    assert go_on(planner.context, lease, now) is goes_on
    holdings = planner.plan.leases[lease.lease_id].holdings
    assert [each.run_end for each in holdings] == ([1000] if goes_on else [each.run_end for each in lease.holdings])


def test_a_lease_that_does_not_run_does_not_go_on(make_planner: MakePlanner, make_lease: MakeLease) -> None:
    """It has to be resumed, or holds nothing."""
    planner = make_planner(1)
    lease = _freed(planner, make_lease, make_lease(BEST_EFFORT, duration=1000))
    assert not go_on(planner.context, replace(lease, active_since=None), 200)
    assert not go_on(planner.context, replace(lease, holdings=()), 200)


def test_later_leases_that_wait_for_the_hosts_go_back_to_the_queue(
    make_planner: MakePlanner, make_lease: MakeLease
) -> None:
    """The youngest first, and only as many as needed; work that was submitted earlier keeps its place."""
    planner = make_planner(1, backfilling_limit=None)
    earlier = make_lease(BEST_EFFORT, duration=100)
    lease = _freed(planner, make_lease, make_lease(BEST_EFFORT, duration=1000))
    later = [planner.place(make_lease(BEST_EFFORT, duration=300), start) for start in (1100, 500, 800)]
    assert [each.holdings[0].start for each in later] == [1100, 500, 800]
    assert go_on(planner.context, lease, 200)
    found = [planner.plan.leases[each.lease_id] for each in later]
    assert [each.state for each in found] == [LeaseState.READY, LeaseState.QUEUED, LeaseState.QUEUED]
    assert found[1].reason == "the lease before it keeps its hosts"
    assert found[0] == later[0]

    planner.plan.put(lease)
    first = planner.place(earlier, 500)
    assert (first.holdings[0].start, first.sequence < lease.sequence) == (500, True)
    assert not go_on(planner.context, lease, 200)
    assert planner.plan.leases[first.lease_id] == first


# -- deadline leases that come back ------------------------------------------------------------------------------------


def test_the_rest_of_a_deadline_lease_comes_sooner(make_planner: MakePlanner, make_lease: MakeLease) -> None:
    """What it holds now stays. The rest begins when the hosts are free, and not before the given instant."""
    planner = make_planner(1)
    lease = _freed(planner, make_lease, make_lease(DEADLINE, start=0, duration=1000, deadline=3000))
    first, rest = lease.holdings
    assert (rest.start, rest.run_end) == (800, 832 + 532)
    assert back_sooner(planner.context, lease, 100, 600)
    found = planner.plan.leases[lease.lease_id]
    assert found.holdings[0] == first
    assert (found.holdings[1].start, found.holdings[1].run_end) == (600, 632 + 532)
    assert back_sooner(planner.context, found, 100, 100)
    found = planner.plan.leases[lease.lease_id]
    assert (found.holdings[1].start, found.holdings[1].run_end) == (500, 532 + 532)
    assert not back_sooner(planner.context, found, 100, 100), "it cannot be done earlier"
    assert planner.plan.leases[lease.lease_id] == found


def test_saved_work_of_a_deadline_lease_comes_back_sooner(make_planner: MakePlanner, make_lease: MakeLease) -> None:
    """If it waits for its place; one that is on its way back stays."""
    planner = make_planner(1)
    lease = _freed(planner, make_lease, make_lease(DEADLINE, start=0, duration=1000, deadline=3000))
    saved = replace(
        lease,
        state=LeaseState.SUSPENDED_SCHEDULED,
        active_since=None,
        accumulated=468,
        saved_on=(0,),
        holdings=lease.holdings[1:],
    )
    planner.plan.put(saved)
    assert not back_sooner(planner.context, saved, 800, 800)
    assert planner.plan.leases[lease.lease_id] == saved
    assert back_sooner(planner.context, saved, 600, 600)
    (holding,) = planner.plan.leases[lease.lease_id].holdings
    assert (holding.start, holding.run_start, holding.run_end) == (600, 632, 632 + 532)


def test_only_deadline_leases_that_were_displaced_come_back_sooner(
    make_planner: MakePlanner, make_lease: MakeLease
) -> None:
    """Not one that has not begun, an offer, other kinds, or one without a place."""
    planner = make_planner(2)
    whole = planner.place(make_lease(DEADLINE, start=0, duration=100, deadline=3000), 500)
    assert not back_sooner(planner.context, whole, 10, 10)
    work = _freed(planner, make_lease, make_lease(BEST_EFFORT, duration=1000), 2)
    assert not back_sooner(planner.context, work, 10, 10)
    planner.release(planner.plan.leases[whole.lease_id])
    lease = _freed(planner, make_lease, make_lease(DEADLINE, start=0, duration=1000, deadline=3000), 2)
    assert not back_sooner(planner.context, replace(lease, offered_until=2000), 100, 100)
    assert not back_sooner(planner.context, replace(lease, holdings=()), 100, 100)
