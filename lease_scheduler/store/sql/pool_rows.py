"""Conversion between the pool, which is hosts with their image caches and floating IPs, and rows of its tables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from lease_scheduler.model.power import HostPower, PowerState
from lease_scheduler.plan.transfers.caches import CachedImage
from lease_scheduler.records.pool import FloatingIpRecord, HostRecord, ProviderRecord
from lease_scheduler.records.units import Units
from lease_scheduler.store.sql.rows import Row, Values


def cached_image_values(cached: CachedImage, host_id: int) -> Values:
    """Return the columns of an image in the cache of a host."""
    return {"host_id": host_id, "image_id": cached.image_id, "used": cached.used}


def cached_image(row: Row, units: Units) -> CachedImage:
    """Return an image in the cache of a host."""
    return CachedImage(units.number(str(row["host_id"])), row["image_id"], row["used"])


_HOST_COLUMNS = (
    "name",
    "hypervisor_type",
    "hypervisor_version",
    "vcpus",
    "cpu_info",
    "memory_mb",
    "local_gb",
    "service_name",
    "availability_zone",
    "reservable",
    "out_until",
    "trust_id",
    "created_at",
    "updated_at",
    "pool",
)


def host_values(record: HostRecord) -> Values:
    """Return the columns of a host."""
    return {
        "id": record.host_id,
        "capacity": dict(record.capacity),
        "max_unit": dict(record.max_unit),
        "traits": list(record.traits),
        "power": None if record.power is None else record.power.state.value,
        "power_since": None if record.power is None else record.power.since,
        "slept": None if record.power is None else record.power.slept,
        "providers": [asdict(provider) for provider in record.providers],
        **{name: getattr(record, name) for name in _HOST_COLUMNS},
    }


def host(row: Row, properties: Mapping[str, str]) -> HostRecord:
    """Return a host."""
    return HostRecord(
        host_id=row["id"],
        capacity=row["capacity"],
        max_unit=row["max_unit"],
        traits=tuple(row["traits"]),
        properties=properties,
        power=host_power(row),
        providers=tuple(provider(values) for values in row["providers"] or ()),
        **{name: row[name] for name in _HOST_COLUMNS},
    )


def host_power(row: Row) -> HostPower | None:
    """Return the power of a host, or None if it has never been told to sleep."""
    if row["power"] is None:
        return None
    return HostPower(PowerState(row["power"]), row["power_since"], row["slept"] or 0)


def provider(values: Mapping[str, Any]) -> ProviderRecord:
    """Return a nested resource provider from JSON."""
    return ProviderRecord(values["name"], values["capacity"], values["max_unit"], tuple(values["traits"]))


_FLOATING_IP_COLUMNS = (
    "floating_network_id",
    "subnet_id",
    "floating_ip_address",
    "reservable",
    "created_at",
    "updated_at",
    "pool",
)


def floating_ip_values(record: FloatingIpRecord) -> Values:
    """Return the columns of a floating IP."""
    return {"id": record.floating_ip_id, **{name: getattr(record, name) for name in _FLOATING_IP_COLUMNS}}


def floating_ip(row: Row) -> FloatingIpRecord:
    """Return a floating IP."""
    return FloatingIpRecord(floating_ip_id=row["id"], **{name: row[name] for name in _FLOATING_IP_COLUMNS})
