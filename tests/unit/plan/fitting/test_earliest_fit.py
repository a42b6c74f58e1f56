"""As soon as possible, perhaps for a part of the duration (haizea F32, F48, F53, F55)."""

from __future__ import annotations

from dataclasses import replace

import pytest

from lease_scheduler.model.holding import Closing, Holding
from lease_scheduler.model.host import Host, Site
from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.lease import Lease
from lease_scheduler.model.nodes import NodeSet
from lease_scheduler.model.resources import MEMORY_MB, VCPU, Resources
from lease_scheduler.model.states import LeaseState
from lease_scheduler.plan.fitting.earliest_fit import place_soonest, place_whole
from lease_scheduler.plan.options import Estimate, Migration
from lease_scheduler.plan.planner import Planner
from tests.unit.plan.conftest import VM, MakeLease, MakePlanner

BEST_EFFORT, RESERVATION = LeaseKind.BEST_EFFORT, LeaseKind.RESERVATION


def _reserve(planner: Planner, make_lease: MakeLease, start: int, duration: int, nodes: int = 1) -> None:
    planner.place(planner.plan.put(make_lease(RESERVATION, nodes, duration, start=start)), 0)


def _saved(lease: Lease, accumulated: int, *hosts: int) -> Lease:
    states = (LeaseState.SCHEDULED, LeaseState.READY, LeaseState.ACTIVE, LeaseState.SUSPENDING)
    return replace(lease.to(*states, LeaseState.SUSPENDED_PENDING), accumulated=accumulated, saved_on=hosts)


@pytest.mark.parametrize(("free_until", "start", "run_end"), [(980, 0, 948), (981, 1981, 2961), (1030, 0, 980)])
def test_a_run_is_not_cut_into_the_time_of_its_shutdown(
    make_planner: MakePlanner, make_lease: MakeLease, free_until: int, start: int, run_end: int
) -> None:
    """haizea 8.3: 980 s of run and 50 s of shutdown; either both fit, or the run ends in a suspension before."""
    planner = make_planner(1, shutdown_time=50)
    _reserve(planner, make_lease, free_until, 950)
    found = place_soonest(planner.context, make_lease(BEST_EFFORT, 1, 980), 0, may_wait=True)
    assert found is not None
    assert (found.start, found.run_end) == (start, run_end)
    assert (found.closing is Closing.SUSPEND) is (free_until == 980)


def test_a_forced_threshold_does_not_make_empty_runs(make_planner: MakePlanner, make_lease: MakeLease) -> None:
    """haizea 4.10: the suspension alone needs 32 s, although 1 s is configured as enough."""
    for free_until, start in ((32, 132), (33, 0)):
        planner = make_planner(1, force_scheduling_threshold=1)
        _reserve(planner, make_lease, free_until, 100)
        found = place_soonest(planner.context, make_lease(BEST_EFFORT, 1, 980), 0, may_wait=True)
        assert found is not None and found.start == start


def test_the_buffer_is_kept_before_the_reservation(make_planner: MakePlanner, make_lease: MakeLease) -> None:
    """haizea 8.2, 15: the suspension ends earlier by that time."""
    planner = make_planner(1, suspend_buffer=7)
    _reserve(planner, make_lease, 500, 100)
    found = place_soonest(planner.context, make_lease(BEST_EFFORT, 1, 980), 0, may_wait=True)
    assert found == Holding((0,), 0, 0, 461, 493, Closing.SUSPEND)


@pytest.mark.parametrize(("estimate", "start"), [(Estimate.MODEL, 0), (Estimate.SUM, 1200)])
def test_with_the_sum_estimate_wide_leases_do_not_use_short_gaps(
    make_planner: MakePlanner, make_lease: MakeLease, estimate: Estimate, start: int
) -> None:
    """haizea 8.3: 8 nodes at 32 s each; 200 s are enough for 2 * 32 s, not for 2 * 256 s."""
    planner = make_planner(8, suspend_estimate=estimate)
    _reserve(planner, make_lease, 200, 1000, nodes=8)
    found = place_soonest(planner.context, make_lease(BEST_EFFORT, 8, 980), 0, may_wait=True)
    assert found is not None and found.start == start


def test_a_lease_that_may_not_wait_begins_at_once_or_gets_no_place(
    make_planner: MakePlanner, make_lease: MakeLease
) -> None:
    """haizea F47: a lease that must not have a place in the future."""
    planner = make_planner(1)
    _reserve(planner, make_lease, 0, 100)
    waiting = make_lease(BEST_EFFORT, 1, 980)
    assert place_soonest(planner.context, waiting, 0, may_wait=False) is None
    assert place_soonest(planner.context, waiting, 100, may_wait=False) is not None


def test_a_lease_that_may_not_wait_begins_once_its_memory_has_moved(
    make_planner: MakePlanner, make_lease: MakeLease
) -> None:
    """haizea F54: its own host is taken; the other one is free when the transfer is over, 82 s from now."""
    for other_until, begins in ((82, True), (83, False)):
        planner = make_planner(2, migration=Migration.YES, migration_bandwidth=100)
        _reserve(planner, make_lease, 0, 5000)
        _reserve(planner, make_lease, 0, other_until)
        lease = _saved(make_lease(BEST_EFFORT, 1, 980), 100, 0)
        found = place_soonest(planner.context, lease, 0, may_wait=False)
        assert (found is not None) is begins
        if found is not None:
            assert (found.start, found.assignment, found.migrations[0].moves) == (82, (1,), ((0, 0, 1),))


def test_a_suspended_lease_needs_its_resumption_rest_and_shutdown(
    make_planner: MakePlanner, make_lease: MakeLease
) -> None:
    """haizea F53: resumption, rest and shutdown; cached lengths do not outlive later work."""
    planner = make_planner(1, shutdown_time=10)
    lease = make_lease(BEST_EFFORT, 1, 1000)
    for accumulated, run in ((100, 900), (400, 600)):
        found = place_soonest(planner.context, _saved(lease, accumulated, 0), 50, may_wait=True)
        assert found == Holding((0,), 50, 82, 82 + run, 92 + run)


def test_place_whole_fits_the_whole_duration_by_the_latest_end_or_nothing(
    make_planner: MakePlanner, make_lease: MakeLease
) -> None:
    """haizea F56: the gap of 400 s is too short, and the next one is just in time."""
    planner = make_planner(1)
    _reserve(planner, make_lease, 400, 100)
    request = make_lease(BEST_EFFORT, 1, 401).request
    found = place_whole(planner.context, request, 401, None, 0, 901)
    assert found is not None and (found.start, found.run_end) == (500, 901)
    assert place_whole(planner.context, request, 401, None, 0, 900) is None
    resumed = place_whole(planner.context, request, 401, (0,), 0, 933)
    assert resumed is not None and (resumed.start, resumed.run_end) == (500, 933)
    assert place_whole(planner.context, request, 401, (0,), 0, 932) is None


def test_a_queue_is_skipped_while_no_host_has_what_all_its_leases_need(
    make_planner: MakePlanner, make_lease: MakeLease
) -> None:
    """haizea 4.2: a host that lacks a class which no queued lease needs does not count as full."""
    sizes = [{VCPU: 1, MEMORY_MB: 1024, "GPU": 1}, {VCPU: 1, MEMORY_MB: 1024}]
    site = Site(tuple(Host(str(number), Resources(size)) for number, size in enumerate(sizes)))
    planner = make_planner(site=site, backfilling_limit=0)
    gpu = (NodeSet(1, Resources({VCPU: 1, "GPU": 1})),)
    leases = [make_lease(BEST_EFFORT, node_sets=gpu), *(make_lease(BEST_EFFORT, need=VM) for _ in range(2))]
    for lease in leases:
        planner.enqueue(planner.plan.put(lease))
    planner.process_queue(0)
    assert [bool(planner.plan.leases[lease.lease_id].holdings) for lease in leases] == [True, True, False]
    planner.process_queue(0)
    assert len(planner.plan.queue) == 1
