"""Moving saved memory (haizea F54)."""

from __future__ import annotations

from dataclasses import replace

import pytest

from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.lease import LeaseRequest
from lease_scheduler.model.nodes import DiskImage, NodeSet
from lease_scheduler.model.resources import MEMORY_MB, VCPU, Resources
from lease_scheduler.plan.durations.migration import (
    migration_estimate,
    plan_migrations,
    stay_where_possible,
    transfer_time,
)
from lease_scheduler.plan.options import Migration, PlanningOptions


def _request(*sets: tuple[int, int]) -> LeaseRequest:
    nodes = tuple(NodeSet(count, Resources({VCPU: 1, MEMORY_MB: memory})) for count, memory in sets)
    return LeaseRequest("1", LeaseKind.BEST_EFFORT, nodes, 0, duration=3600, preemptible=True)


@pytest.mark.parametrize(
    ("size", "bandwidth", "seconds"), [(1024, 100, 82), (1024, 1000, 9), (4096, 100, 328), (0, 1, 0)]
)
def test_transfer_times_are_rounded_up(size: int, bandwidth: float, seconds: int) -> None:
    """haizea 4.11 and 5.3: 82 s for 1,024 MB, 328 s for 4 GB at 100 Mb/s."""
    assert transfer_time(size, bandwidth) == seconds


def test_nodes_resume_where_their_memory_is_if_they_get_that_host_again() -> None:
    """haizea 4.11: equal nodes are exchanged; nodes of another size are not."""
    request = _request((3, 1024), (1, 2048))
    assert stay_where_possible(request, (5, 6, 7, 8), (7, 5, 9, 6)) == (7, 5, 6, 8)
    assert stay_where_possible(request, (1, 1, 2, 3), (1, 4, 1, 2)) == (1, 2, 1, 3)


def test_no_host_takes_part_twice_in_a_round() -> None:
    """haizea 4.11: a round lasts as long as its largest transfer."""
    options = PlanningOptions(migration_bandwidth=100)
    request = _request((3, 1024), (1, 2048))
    rounds = plan_migrations(request, (0, 1, 2, 3), (4, 4, 2, 5), 1000, options)
    assert [(r.start, r.end, r.moves) for r in rounds] == [
        (1000, 1164, ((0, 0, 4), (3, 3, 5))),
        (1164, 1246, ((1, 1, 4),)),
    ]
    for each in rounds:
        hosts = [host for _, origin, destination in each.moves for host in (origin, destination)]
        assert len(hosts) == len(set(hosts))


def test_the_estimate_is_long_enough_for_the_worst_rounds() -> None:
    """Every node leaves the same host, so no two can move at the same time."""
    options = PlanningOptions(migration_bandwidth=100)
    request = _request((4, 1024))
    rounds = plan_migrations(request, (0, 0, 0, 0), (1, 2, 3, 4), 0, options)
    assert rounds[-1].end <= migration_estimate(request, options)


@pytest.mark.parametrize("migration", [Migration.NO, Migration.YES_NO_TRANSFER])
def test_without_transfers_migration_takes_no_time(migration: Migration) -> None:
    options = PlanningOptions(migration=migration)
    assert plan_migrations(_request((1, 1024)), (0,), (1,), 0, options) == ()
    assert migration_estimate(_request((1, 1024)), options) == 0


def test_the_disk_of_a_node_moves_after_its_memory() -> None:
    """haizea 4.11: one image for each node in the estimate; in a round they move in parallel."""
    options = PlanningOptions(migration_bandwidth=100, migrate_disks=True)
    bare = _request((2, 1024))
    request = replace(bare, software=DiskImage("x", 4096))
    assert migration_estimate(request, options) == 2 * (82 + 328)
    assert migration_estimate(bare, options) == 2 * 82
    assert migration_estimate(request, replace(options, migrate_disks=False)) == 2 * 82
    (both,) = plan_migrations(request, (0, 1), (2, 3), 1000, options)
    assert (both.start, both.end) == (1000, 1410)
