"""Detection of changes of inventories and traits of hosts. Placement sends no notifications, but counts changes."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from keystoneauth1.adapter import Adapter

from lease_scheduler.cloud.nova.placement import Placement

#: From 1.14 on, a resource provider shows its parent, which tells children from hosts.
_MICROVERSION = "1.38"

#: Set by Nova on the provider of a host whose service is disabled. That is reported as an event of its own.
_IS_DISABLED = "COMPUTE_STATUS_DISABLED"


@dataclass(frozen=True)
class _Facts:
    """What plans depend on."""

    inventories: Mapping[str, Mapping[str, Any]]
    traits: frozenset[str]


class Inventories:
    """See the module.

    :param adapter: adapter for the service ``placement``
    :param pool: returns the names of the hosts that are followed
    """

    def __init__(self, adapter: Adapter, placement: Placement, pool: Callable[[], Collection[str]]) -> None:
        self._adapter = adapter
        self._placement = placement
        self._pool = pool
        self._generations: dict[str, int] = {}
        self._facts: dict[str, _Facts] = {}

    def forget(self, names: Iterable[str]) -> None:
        """Make hosts count as changed the next time."""
        for name in names:
            self._generations.pop(name, None)
            self._facts.pop(name, None)

    def changed(self) -> frozenset[str]:
        """Return the names of the hosts that may have changed since the last call.

        These are hosts of which nothing was known, and hosts of which a total, reserve, ratio or trait differs. This
        takes one request, and two more for each provider that changed in any way, which each boot and each end of a
        server causes.
        """
        pool = frozenset(self._pool())
        if not pool:
            self._generations, self._facts = {}, {}
            return frozenset()
        generations, facts, changed = {}, {}, set()
        for name, (provider_id, generation) in self._hosts(pool).items():
            generations[name] = generation
            known = self._facts.get(name)
            if name not in self._generations:
                changed.add(name)
            elif generation == self._generations[name]:
                if known is not None:
                    facts[name] = known
            else:
                facts[name] = found = self._read(provider_id)
                if found != known:
                    changed.add(name)
        # Only after all were read, so that no change is missed when a request fails.
        self._generations, self._facts = generations, facts
        return frozenset(changed)

    def _hosts(self, pool: Collection[str]) -> dict[str, tuple[str, int]]:
        """Return host -> id and generation of its provider, for hosts of the pool that have one."""
        listed = self._adapter.get("/resource_providers", microversion=_MICROVERSION).json()["resource_providers"]
        return {
            each["name"]: (each["uuid"], each["generation"])
            for each in listed
            if each["name"] in pool and each["parent_provider_uuid"] is None
        }

    def _read(self, provider_id: str) -> _Facts:
        return _Facts(
            self._placement.inventories(provider_id), self._placement.traits(provider_id) - frozenset({_IS_DISABLED})
        )
