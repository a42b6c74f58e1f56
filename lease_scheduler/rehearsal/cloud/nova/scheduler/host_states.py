"""Hosts as filters and weighers see them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from lease_scheduler.rehearsal.cloud.nova.records import Flavor, Host, HostAggregate
from lease_scheduler.rehearsal.cloud.nova.store import Store


@dataclass(frozen=True)
class HostState:
    """A host.

    :ivar host: name of its compute service
    :ivar nodename: name of its hypervisor
    :ivar free: resource -> amount that its servers leave free, negative if they have more
    """

    host: str
    nodename: str
    aggregates: tuple[HostAggregate, ...]
    zone: str
    is_up: bool
    enabled: bool
    free: tuple[float, float, float]


def host_states(store: Store, names: Iterable[str]) -> list[HostState]:
    """Return the present states of hosts."""
    flavors: dict[str, list[Flavor]] = {}
    for each in store.present():
        flavors.setdefault(each.host or each.planned or "", []).append(each.flavor)
    return [_state(store, store.hosts[name], flavors.get(name, ())) for name in names]


def _state(store: Store, host: Host, here: Sequence[Flavor]) -> HostState:
    free = (
        host.memory_mb - sum(each.ram for each in here),
        host.vcpus - sum(each.vcpus for each in here),
        host.disk_gb - sum(each.disk for each in here),
    )
    aggregates = tuple(each for each in store.aggregates.values() if host.name in each.hosts)
    return HostState(host.name, host.name, aggregates, store.zone(host.name), store.is_up(host), host.enabled, free)
