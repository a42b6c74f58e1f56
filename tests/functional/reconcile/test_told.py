"""Notifications to projects and operators, and reactions, when the cloud changes without orders."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from lease_scheduler.cloud.facts import DriverEvent, Hypervisor
from lease_scheduler.cloud.observations import AggregateChange, Stranger
from lease_scheduler.engine.interfaces import EventKind
from lease_scheduler.model.resources import HOST_SHARE, WHOLE_HOST
from lease_scheduler.service.requests.observer import SiteObserver
from lease_scheduler.service.requests.pool import PoolKeeper
from tests.servers.base import wait_until

from .conftest import HOUR, LIMIT, Service, counted

MakeService = Callable[..., Service]


def told(service: Service, event_type: str) -> list[Mapping[str, Any]]:
    """Return the payloads of one type that wait to be sent."""
    return [message.payload for _, message in service.store.waiting_messages() if message.event_type == event_type]


def happens(service: Service, kind: EventKind, host: str) -> None:
    service.engine.reports.happened(DriverEvent(kind, host=host, reason="in the test"))


def view(service: Service, lease_id: str) -> dict[str, Any]:
    found = service.reader.lease(lease_id, deleted=True)
    assert found is not None
    return dict(found)


def hosts_in_cloud(service: Service, lease_id: str) -> frozenset[str]:
    return next((each.hosts for each in service.cloud.footprints() if each.lease_id == lease_id), frozenset())


def test_who_is_to_be_preempted_is_told_before(make_service: MakeService) -> None:
    """Two minutes in advance, once, with the instant."""
    service = make_service()
    running = service.ask("best-effort", 2, 30 * HOUR)
    assert wait_until(service.is_in(running, "active"), LIMIT)
    service.ask("reservation", 2, 20 * HOUR)
    assert wait_until(lambda: bool(told(service, "lease.event.preemption_warning")), LIMIT)
    (warning,) = told(service, "lease.event.preemption_warning")
    assert (warning["lease_id"], warning["preemption_mode"]) == (running, "suspend")
    assert warning["instant"] <= warning["preempted_at"] <= warning["instant"] + 120
    assert wait_until(service.is_in(running, "suspended-queued", "suspended-scheduled"), LIMIT)
    assert len(told(service, "lease.event.preemption_warning")) == 1


def test_a_lease_goes_on_without_a_host_and_is_whole_again(make_service: MakeService) -> None:
    service = make_service()
    lease_id = service.ask("immediate", 2, 30 * HOUR)
    assert wait_until(service.is_in(lease_id, "active"), LIMIT)
    happens(service, EventKind.HOST_DOWN, "compute-1")
    assert wait_until(lambda: bool(told(service, "lease.degraded")), LIMIT)
    degraded = view(service, lease_id)
    assert (degraded["state"], degraded["degraded"]) == ("active", True)
    assert [each["missing_resources"] for each in degraded["reservations"]] == [True]
    assert "its host failed" in degraded["reason"]
    happens(service, EventKind.HOST_UP, "compute-1")
    assert wait_until(lambda: bool(told(service, "lease.healed")), LIMIT)
    healed = view(service, lease_id)
    assert (healed["state"], healed["degraded"]) == ("active", False)
    assert [each["missing_resources"] for each in healed["reservations"]] == [False]


def test_a_lease_gets_another_host(make_service: MakeService) -> None:
    service = make_service()
    lease_id = service.ask("immediate", 1, 30 * HOUR)
    assert wait_until(service.is_in(lease_id, "active"), LIMIT)
    (host,) = hosts_in_cloud(service, lease_id)
    (other,) = {"compute-1", "compute-2"} - {host}
    happens(service, EventKind.HOST_DOWN, host)
    assert wait_until(lambda: hosts_in_cloud(service, lease_id) == {other}, LIMIT)
    (reservation,) = view(service, lease_id)["reservations"]
    assert (reservation["resources_changed"], reservation["missing_resources"]) == (True, False)


def test_a_disabled_host_keeps_what_runs(make_service: MakeService) -> None:
    service = make_service()
    lease_id = service.ask("best-effort", 1, 30 * HOUR)
    assert wait_until(service.is_in(lease_id, "active"), LIMIT)
    (host,) = hosts_in_cloud(service, lease_id)
    happens(service, EventKind.HOST_CLOSED, host)
    assert wait_until(lambda: host in service.site.engine.outages, LIMIT)
    second = service.ask("best-effort", 2, HOUR)
    assert service.is_in(lease_id, "active")()
    assert service.is_in(second, "queued")()
    assert told(service, "lease.degraded") == []


def test_an_aggregate_that_was_edited_is_brought_back(make_service: MakeService) -> None:
    """The driver's watcher reports it, or the regular reconciliation finds it."""
    service = make_service()
    lease_id = service.ask("best-effort", 1, 30 * HOUR)
    assert wait_until(service.is_in(lease_id, "active"), LIMIT)
    (host,) = hosts_in_cloud(service, lease_id)
    (other,) = {"compute-1", "compute-2"} - {host}
    assert wait_until(lambda: not service.site.work.intents.open_intents(), LIMIT)
    service.cloud.put_on(lease_id, [other])
    assert counted(service.engine.reconciler.reconcile()) == {"destroyed": 0, "gone": 0, "moved": 1}
    assert wait_until(lambda: hosts_in_cloud(service, lease_id) == {host}, LIMIT)
    assert wait_until(lambda: not service.site.work.intents.open_intents(), LIMIT)
    service.cloud.put_on(lease_id, [other])
    observer = SiteObserver(service.engine, PoolKeeper(service.engine))
    observer.on_aggregate(AggregateChange(f"lease-{lease_id}", lease_id, frozenset({other})))
    assert wait_until(lambda: hosts_in_cloud(service, lease_id) == {host}, LIMIT)


def test_a_stranger_is_told_of(make_service: MakeService) -> None:
    service = make_service()
    observer = SiteObserver(service.engine, PoolKeeper(service.engine))
    observer.on_stranger(Stranger("server", "lease", "compute-1", "somebody"))
    (payload,) = told(service, "lease.event.stranger")
    assert (payload["server_id"], payload["host"], payload["project_id"]) == ("server", "compute-1", "somebody")


def test_hosts_that_change_are_followed(make_service: MakeService) -> None:
    """Three VMs of eight CPUs fit once one of the two hosts has doubled its size."""
    service = make_service()
    grown = [
        replace(each, vcpus=16, capacity={**each.capacity, "VCPU": 16})
        for each in service.cloud.hypervisors(["compute-1"])
    ]
    service.cloud.add_hypervisors(grown)
    observer = SiteObserver(service.engine, PoolKeeper(service.engine))
    observer.on_hosts(frozenset({"compute-1", "nobody"}))
    assert {host.name: host.capacity["VCPU"] for host in service.site.records.hosts.values()} == {
        "compute-1": 16,
        "compute-2": 8,
    }
    lease_id = service.ask("best-effort", 3, HOUR)
    assert wait_until(service.is_in(lease_id, "active"), LIMIT)


def test_a_host_that_is_put_into_the_pool_in_the_cloud_is_taken_in(make_service: MakeService) -> None:
    """If that is configured; a host that does not exist in the cloud is removed."""
    service = make_service()
    capacity = {"VCPU": 8, "MEMORY_MB": 1024, HOST_SHARE: WHOLE_HOST}
    service.cloud.add_hypervisors([Hypervisor("compute-3", 8, 1024, 0, capacity)])
    pool = PoolKeeper(service.engine)
    observer = SiteObserver(service.engine, pool)
    service.cloud.set_pool(["compute-1", "compute-2", "compute-3", "nobody"])
    observer.on_aggregate(AggregateChange("freepool", None))
    assert service.cloud.pool() == {"compute-1", "compute-2"}
    service.engine.reconciler.discover = pool.discover
    service.cloud.set_pool(["compute-1", "compute-2", "compute-3", "nobody"])
    observer.on_aggregate(AggregateChange("freepool", None))
    assert service.cloud.pool() == {"compute-1", "compute-2", "compute-3"}
    lease_id = service.ask("best-effort", 3, HOUR)
    assert wait_until(service.is_in(lease_id, "active"), LIMIT)
