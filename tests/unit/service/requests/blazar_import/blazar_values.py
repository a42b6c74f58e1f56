"""Values of a Blazar database, for tests to change."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from lease_scheduler.records.snapshot import Snapshot
from lease_scheduler.records.units import Units
from lease_scheduler.service.requests.blazar_import.takeover import ImportOptions, Takeover, take_over
from lease_scheduler.store.blazar.contents import (
    BlazarFloatingIp,
    BlazarHost,
    BlazarLease,
    BlazarReservation,
    Contents,
    Inventory,
)

NOW = 1_000_000
EMPTY = Snapshot((), {}, (), (), (), {}, (), 0, 1, NOW)


def host(number: str, **values: Any) -> BlazarHost:
    inventory = Inventory("VCPU", 8, 0, 8, 1.0)
    made = BlazarHost(
        number, f"node{number}", 8, 100, 10, "{}", "QEMU", 1, None, "", "", True, 5, None, {}, (inventory,), ()
    )
    return replace(made, **values)


def floating_ip(last: int, **values: Any) -> BlazarFloatingIp:
    return replace(BlazarFloatingIp(f"ip{last}", "net", "subnet", f"203.0.113.{last}", True, 5, None), **values)


def reservation(kind: str, terms: dict[str, Any] | None, **values: Any) -> BlazarReservation:
    made = BlazarReservation(f"a {kind}", kind, "terms", False, False, None, None, terms)
    return replace(made, **values)


def of_hosts(count_range: str, *hosts: str, query: str | None = None, before_end: str = "default") -> BlazarReservation:
    terms = {
        "count_range": count_range,
        "hypervisor_properties": query,
        "resource_properties": None,
        "before_end": before_end,
    }
    return reservation("physical:host", terms, hosts=hosts)


def of_instances(amount: int, *hosts: str, affinity: bool | None = None, query: str = "") -> BlazarReservation:
    terms = {"vcpus": 2, "memory_mb": 0, "disk_gb": 0, "amount": amount, "affinity": affinity}
    return reservation("virtual:instance", {**terms, "resource_properties": query}, hosts=hosts)


def lease(*reservations: BlazarReservation, lease_id: str = "lease", **values: Any) -> BlazarLease:
    made = BlazarLease(
        lease_id,
        "a lease",
        "user",
        "project",
        "trust",
        NOW + 100,
        NOW + 200,
        "PENDING",
        False,
        NOW - 100,
        None,
        NOW + 150,
        False,
        reservations,
    )
    return replace(made, **values)


def taken(
    *leases: BlazarLease,
    hosts: tuple[BlazarHost, ...] = (),
    floating_ips: tuple[BlazarFloatingIp, ...] = (),
    wanted: ImportOptions | None = None,
) -> Takeover:
    """Return the result of importing a Blazar into an empty site, with three hosts unless others are given."""
    contents = Contents(hosts or (host("1"), host("2"), host("3")), frozenset(), floating_ips, leases)
    return take_over(contents, EMPTY, Units(), lambda _: False, NOW, wanted or ImportOptions())
