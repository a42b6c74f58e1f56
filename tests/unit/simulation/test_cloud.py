"""The simulated cloud (haizea F39)."""

from __future__ import annotations

from dataclasses import replace

import pytest

from lease_scheduler.engine.behaviour import CloudBehaviour, HostFailure
from lease_scheduler.engine.interfaces import EventKind, Operation, OperationKind
from lease_scheduler.model.nodes import DiskImage
from lease_scheduler.simulation.cloud import InMemoryCloud


def _operation(kind: OperationKind, begun: int, due: int, image: DiskImage | None = None) -> Operation:
    return Operation(kind, "1", (0, 1), begun, due, image=image)


def _events(cloud: InMemoryCloud, until: int = 10**9) -> list[tuple[EventKind, int]]:
    return [(event.kind, event.instant) for event in cloud.take_events(until)]


@pytest.mark.parametrize(
    ("kind", "behaviour", "over"),
    [
        (OperationKind.SUSPEND, CloudBehaviour(), 130),
        (OperationKind.SUSPEND, CloudBehaviour(suspend_factor=2), 160),
        (OperationKind.RESUME, CloudBehaviour(resume_factor=0.5), 115),
        (OperationKind.STOP, CloudBehaviour(stop_factor=3), 190),
        (OperationKind.MIGRATE, CloudBehaviour(transfer_factor=1.5), 145),
        (OperationKind.START, CloudBehaviour(boot_time=7), 107),
    ],
)
def test_operations_take_the_configured_time(kind: OperationKind, behaviour: CloudBehaviour, over: int) -> None:
    cloud = InMemoryCloud(behaviour, {})
    cloud.begin(_operation(kind, 100, 130))
    assert cloud.next_event() == over
    assert _events(cloud, over - 1) == []
    assert _events(cloud, over) == [(EventKind.COMPLETED, over)]


def test_work_ends_when_its_runs_add_up_to_its_duration() -> None:
    """haizea 8.2, 17: 100 s in total, 60 s of them before the suspension."""
    cloud = InMemoryCloud(CloudBehaviour(), {"1": 100})
    cloud.begin(_operation(OperationKind.START, 0, 0))
    assert _events(cloud, 0) == [(EventKind.COMPLETED, 0)]
    cloud.begin(_operation(OperationKind.SUSPEND, 60, 70))
    assert _events(cloud, 500) == [(EventKind.COMPLETED, 70)]
    cloud.begin(_operation(OperationKind.RESUME, 500, 510))
    assert _events(cloud) == [(EventKind.COMPLETED, 510), (EventKind.ENDED, 550)]


def test_a_lease_without_vms_cannot_fail() -> None:
    cloud = InMemoryCloud(CloudBehaviour(boot_failure_probability=1.0), {})
    cloud.begin(Operation(OperationKind.START, "1", (), 0, 0))
    assert _events(cloud) == [(EventKind.COMPLETED, 0)]


def test_a_discarded_lease_reports_nothing_and_starts_over() -> None:
    cloud = InMemoryCloud(CloudBehaviour(), {"1": 100})
    cloud.begin(_operation(OperationKind.START, 0, 0))
    cloud.take_events(0)
    cloud.discard("1", 60)
    assert cloud.next_event() is None
    cloud.begin(_operation(OperationKind.START, 200, 200))
    assert _events(cloud) == [(EventKind.COMPLETED, 200), (EventKind.ENDED, 300)]


def test_each_image_is_fetched_once_per_host() -> None:
    """1,024 MB at 100 Mb/s are 81.92 s; the second lease finds the image."""
    cloud = InMemoryCloud(CloudBehaviour(boot_time=8, image_bandwidth=100), {})
    cloud.begin(_operation(OperationKind.START, 0, 0, DiskImage("a", 1024)))
    assert _events(cloud) == [(EventKind.COMPLETED, 90)]
    cloud.begin(_operation(OperationKind.START, 1000, 1000, DiskImage("a", 1024)))
    assert _events(cloud) == [(EventKind.COMPLETED, 1008)]


def test_a_boot_during_the_transfer_of_its_image_waits_for_the_rest() -> None:
    cloud = InMemoryCloud(CloudBehaviour(boot_time=8, image_bandwidth=100), {})
    cloud.begin(_operation(OperationKind.START, 0, 0, DiskImage("a", 1024)))
    cloud.begin(replace(_operation(OperationKind.START, 60, 60, DiskImage("a", 1024)), lease_id="2"))
    assert _events(cloud) == [(EventKind.COMPLETED, 90), (EventKind.COMPLETED, 90)]


def test_hosts_fail_and_recover_when_configured() -> None:
    cloud = InMemoryCloud(CloudBehaviour(host_failures=(HostFailure(2, 50, 25),)), {})
    assert [(e.kind, e.host) for e in cloud.take_events(50)] == [(EventKind.HOST_DOWN, 2)]
    assert cloud.next_event() == 75
    assert [(e.kind, e.host) for e in cloud.take_events(75)] == [(EventKind.HOST_UP, 2)]


def test_chance_is_repeatable_and_within_its_bounds() -> None:
    def outcomes(seed: int) -> list[tuple[EventKind, int]]:
        behaviour = CloudBehaviour(boot_time=100, spread=0.5, boot_failure_probability=0.3, seed=seed)
        cloud = InMemoryCloud(behaviour, {})
        found = []
        for _ in range(200):
            cloud.begin(_operation(OperationKind.START, 0, 0))
            found += _events(cloud)
        return found

    first = outcomes(1)
    assert first == outcomes(1)
    assert first != outcomes(2)
    assert all(50 <= instant <= 150 for _, instant in first)
    failed = sum(kind is EventKind.FAILED for kind, _ in first)
    assert 40 <= failed <= 80


def test_work_proceeds_at_the_yield_of_its_lease() -> None:
    """100 s of work: 40 at full speed, 20 in 40 s at half speed, nothing for 20 s, and the rest alone."""
    cloud = InMemoryCloud(CloudBehaviour(), {"1": 100})
    cloud.begin(Operation(OperationKind.START, "1", (0,), 0, 0))
    assert [event.kind for event in cloud.take_events(0)] == [EventKind.COMPLETED]
    for now, yields, end in ((40, {"1": 500}, 160), (80, {"1": 0}, None), (100, {}, 140)):
        cloud.share(yields, now)
        assert cloud.next_event() == end
    assert cloud.take_events(139) == []
    assert [event.kind for event in cloud.take_events(140)] == [EventKind.ENDED]


def test_a_start_is_not_forgotten_when_shares_change() -> None:
    """A lease that lost its hosts and starts again at the same instant had a share before."""
    cloud = InMemoryCloud(CloudBehaviour(boot_time=10), {})
    cloud.share({"1": 500}, 0)
    cloud.begin(Operation(OperationKind.START, "1", (0,), 0, 0))
    cloud.share({}, 0)
    assert [event.kind for event in cloud.take_events(10)] == [EventKind.COMPLETED]
