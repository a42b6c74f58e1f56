"""Compute hosts of the simulated cloud, as rows of its database."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import asdict

from lease_scheduler.cloud.facts import Hypervisor
from lease_scheduler.model.providers import together
from lease_scheduler.model.resources import DISK_GB, HOST_SHARE, MEMORY_MB, VCPU, WHOLE_HOST
from lease_scheduler.records.pool import ProviderRecord

_TABLE = "CREATE TABLE IF NOT EXISTS hypervisors (name TEXT PRIMARY KEY, facts TEXT NOT NULL)"


class SimulatedHypervisors:
    """The compute hosts. The caller ensures that only one thread calls at a time.

    :param database: database of the cloud
    """

    def __init__(self, database: sqlite3.Connection) -> None:
        self._database = database
        self._database.execute(_TABLE)

    def add(self, hypervisors: Iterable[Hypervisor]) -> None:
        """Add compute hosts, or replace those of the same name."""
        self._database.executemany(
            "INSERT OR REPLACE INTO hypervisors VALUES (?, ?)",
            [(host.name, json.dumps(_facts(host))) for host in hypervisors],
        )

    def find(self, names: Collection[str] | None = None) -> list[Hypervisor]:
        """Return the hosts with these names that exist, or all in the order in which they were added."""
        if names is None:
            found = self._database.execute("SELECT facts FROM hypervisors ORDER BY rowid").fetchall()
        else:
            query = "SELECT facts FROM hypervisors WHERE name = ?"
            found = [row for name in names for row in self._database.execute(query, (name,)).fetchall()]
        return [_hypervisor(json.loads(facts)) for (facts,) in found]

    def capacity(self, name: str) -> Mapping[str, int] | None:
        """Return the capacity of a host with its nested providers, or None if there is no such host."""
        return next((whole_capacity(host) for host in self.find([name])), None)


def whole_capacity(host: Hypervisor) -> Mapping[str, int]:
    """Return the capacity of a host and its nested providers together."""
    return together(host.capacity, (provider.capacity for provider in host.providers))


def alike_hypervisors(count: int, prefix: str, vcpus: int, memory_mb: int, disk_gb: int) -> Iterator[Hypervisor]:
    """Yield hosts of equal size, with names made of ``prefix`` and a number from 1 on."""
    capacity = {VCPU: vcpus, MEMORY_MB: memory_mb, DISK_GB: disk_gb}
    capacity = {name: amount for name, amount in capacity.items() if amount}
    for number in range(1, count + 1):
        name = f"{prefix}{number}"
        yield Hypervisor(
            name=name,
            vcpus=vcpus,
            memory_mb=memory_mb,
            local_gb=disk_gb,
            capacity={**capacity, HOST_SHARE: WHOLE_HOST},
            hypervisor_type="simulated",
            hypervisor_version=1,
            cpu_info=json.dumps({"arch": "x86_64", "vendor": "simulated"}),
            service_name=name,
            hypervisor_id=str(number),
        )


def _facts(host: Hypervisor) -> dict[str, object]:
    return {
        "name": host.name,
        "vcpus": host.vcpus,
        "memory_mb": host.memory_mb,
        "local_gb": host.local_gb,
        "capacity": dict(host.capacity),
        "max_unit": dict(host.max_unit),
        "traits": list(host.traits),
        "hypervisor_type": host.hypervisor_type,
        "hypervisor_version": host.hypervisor_version,
        "cpu_info": host.cpu_info,
        "service_name": host.service_name,
        "availability_zone": host.availability_zone,
        "hypervisor_id": host.hypervisor_id,
        "providers": [asdict(provider) for provider in host.providers],
    }


def _hypervisor(facts: dict[str, object]) -> Hypervisor:
    traits, providers = facts.pop("traits"), facts.pop("providers", [])
    assert isinstance(traits, list)
    assert isinstance(providers, list)
    nested = tuple(ProviderRecord(**{**each, "traits": tuple(each["traits"])}) for each in providers)
    return Hypervisor(traits=tuple(traits), providers=nested, **facts)  # type: ignore[arg-type]
