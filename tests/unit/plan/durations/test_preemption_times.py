"""Times of suspension are cached while they are valid."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from lease_scheduler.model.host import Site
from lease_scheduler.model.kinds import LeaseKind, PreemptionMode
from lease_scheduler.model.lease import Lease, LeaseRequest
from lease_scheduler.model.nodes import NodeSet
from lease_scheduler.model.resources import HOST_SHARE, MEMORY_MB, VCPU, Resources
from lease_scheduler.model.states import LeaseState
from lease_scheduler.plan.durations.suspension import SuspensionModel
from lease_scheduler.plan.fitting.queue_filter import need_of
from lease_scheduler.plan.options import Suspension
from lease_scheduler.plan.planner import Planner
from lease_scheduler.plan.preempting.preemption import victims
from tests.unit.plan.conftest import VM, MakeLease, MakePlanner


def _running(planner: Planner, lease: Lease) -> Lease:
    planner.enqueue(lease)
    planner.process_queue(0)
    placed = planner.plan.leases[lease.lease_id]
    return planner.plan.put(replace(placed.to(LeaseState.ACTIVE), active_since=0, started=0))


def test_cached_times_equal_those_of_the_model(make_planner: MakePlanner, make_lease: MakeLease) -> None:
    """1,024 MB at 32 MB/s: 32 s each way, and 64 s on one host, where two nodes take turns."""
    planner = make_planner(1, capacity=Resources({VCPU: 2, MEMORY_MB: 2048}))
    lease = _running(planner, make_lease(LeaseKind.BEST_EFFORT, nodes=2))

    times = planner.context.preemption_times(lease, (0, 0))

    assert (times.can_suspend, times.suspend, times.overhead) == (True, 64, 128)
    assert planner.context.preemption_times(lease, (0, 0)) is times
    assert planner.context.preemption_times(lease, (0, 1)).suspend == 32


def test_a_lease_that_cannot_be_suspended_takes_no_time(make_planner: MakePlanner, make_lease: MakeLease) -> None:
    planner = make_planner()
    lease = _running(planner, make_lease(LeaseKind.BEST_EFFORT, preemption_mode=PreemptionMode.DELETE))

    times = planner.context.preemption_times(lease, (0,))

    assert (times.can_suspend, times.suspend, times.overhead) == (False, 0, 0)


def test_new_terms_invalidate_cached_times(make_planner: MakePlanner, make_lease: MakeLease) -> None:
    planner = make_planner()
    lease = _running(planner, make_lease(LeaseKind.BEST_EFFORT))
    assert planner.context.preemption_times(lease, (0,)).suspend == 32

    larger = (NodeSet(1, Resources({VCPU: 1, MEMORY_MB: 3072})),)
    changed = replace(lease, request=replace(lease.request, nodes=larger))

    assert planner.context.preemption_times(changed, (0,)).suspend == 96


def test_another_time_model_invalidates_cached_times(make_planner: MakePlanner, make_lease: MakeLease) -> None:
    """Suspensions that took longer than planned let the engine plan with other durations."""
    planner = make_planner()
    lease = _running(planner, make_lease(LeaseKind.BEST_EFFORT))
    assert planner.context.preemption_times(lease, (0,)).suspend == 32

    planner.leave_time(replace(planner.options, suspend_rate=16))

    assert planner.context.preemption_times(lease, (0,)).suspend == 64


def test_thresholds_follow_from_the_model(make_planner: MakePlanner, make_lease: MakeLease) -> None:
    """Also for leases that are in the queue already: their thresholds are remembered."""
    planner = make_planner(scheduling_threshold_factor=1)
    waiting = planner.enqueue(make_lease(LeaseKind.BEST_EFFORT, duration=10_000))
    assert need_of(planner.context, waiting).shortest == 64

    planner.leave_time(replace(planner.options, suspend_rate=16))

    assert need_of(planner.context, waiting).shortest == 128


def test_thresholds_equal_those_of_the_model_for_any_terms(make_planner: MakePlanner, make_lease: MakeLease) -> None:
    """What is remembered for some terms is not taken for others."""
    context = make_planner(4, capacity=Resources({VCPU: 2, MEMORY_MB: 2048}), suspension=Suspension.SERIAL_ONLY).context
    leases = [
        make_lease(LeaseKind.BEST_EFFORT, nodes=nodes, preemptible=preemptible, preemption_mode=mode)
        for nodes in (1, 2)
        for preemptible in (True, False)
        for mode in PreemptionMode
    ]

    for request in [lease.request for lease in leases] * 2:
        most = context.most_per_host(request)
        for resuming in (False, True):
            expected = context.suspension.threshold(request, most, resuming=resuming)
            assert context.threshold(request, resuming=resuming) == expected


def test_a_changed_site_invalidates_cached_times(make_planner: MakePlanner, make_lease: MakeLease) -> None:
    """An exclusive host has as much to save as it has memory."""
    planner = make_planner(site=Site.homogeneous(1, Resources({HOST_SHARE: 1_000_000, VCPU: 1, MEMORY_MB: 1024})))
    lease = _running(planner, make_lease(LeaseKind.BEST_EFFORT, need=Resources({HOST_SHARE: 1_000_000})))
    assert planner.context.preemption_times(lease, (0,)).suspend == 32

    host = planner.plan.site.hosts[0]
    larger = replace(host, capacity=Resources({**host.capacity, MEMORY_MB: 4096}))
    planner.plan.change_site(replace(planner.plan.site, hosts=(larger,)), 0)

    assert planner.context.preemption_times(lease, (0,)).suspend == 128


def test_the_times_of_a_lease_that_left_the_plan_are_dropped(make_planner: MakePlanner, make_lease: MakeLease) -> None:
    planner = make_planner()
    lease = _running(planner, make_lease(LeaseKind.BEST_EFFORT))
    planner.context.preemption_times(lease, (0,))

    planner.plan.put(replace(lease.to(LeaseState.DONE), holdings=(), active_since=None))
    planner.plan.remove(lease.lease_id)

    assert not planner.plan.preemption_times


def test_a_long_search_for_victims_computes_times_once_for_each_lease(
    make_planner: MakePlanner, make_lease: MakeLease, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two reservations that must wait for suspensions look at four leases at many instants."""
    planner = make_planner(4)
    leases = [_running(planner, make_lease(LeaseKind.BEST_EFFORT, need=VM)) for _ in range(4)]
    asked: list[str] = []
    suspend_time = SuspensionModel.suspend_time

    def counted(model: SuspensionModel, request: LeaseRequest, assignment: Sequence[int]) -> int:
        asked.append(request.lease_id)
        return suspend_time(model, request, assignment)

    monkeypatch.setattr(SuspensionModel, "suspend_time", counted)
    for start in (40, 50, 60):
        request = make_lease(LeaseKind.RESERVATION, nodes=4, duration=100, start=start, preemptible=False).request
        assert len(victims(planner.context, request, start, start + 100, 10, lambda _, leases: True)) == len(leases)
    assert sorted(asked) == sorted(lease.lease_id for lease in leases)
