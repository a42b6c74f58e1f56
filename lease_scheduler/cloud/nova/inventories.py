"""Follows inventories and traits of compute hosts. Placement sends no notifications, but counts every change."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from keystoneauth1.adapter import Adapter

from lease_scheduler.cloud.nova.placement import Placement

#: Resource providers came with their parents in 1.14, without which children would look like hosts.
_MICROVERSION = "1.38"

#: Set by Nova on the provider of a host whose service is disabled, which is told as such.
_IS_DISABLED = "COMPUTE_STATUS_DISABLED"


@dataclass(frozen=True)
class _Facts:
    """What leases are planned with."""

    inventories: Mapping[str, Mapping[str, Any]]
    traits: frozenset[str]


class Inventories:
    """See the module.

    :param adapter: asks the service ``placement``
    :param pool: names of the hosts that are followed
    """

    def __init__(self, adapter: Adapter, placement: Placement, pool: Callable[[], Collection[str]]) -> None:
        self._adapter = adapter
        self._placement = placement
        self._pool = pool
        self._generations: dict[str, int] = {}
        self._facts: dict[str, _Facts] = {}

    def forget(self, names: Iterable[str]) -> None:
        """Have hosts count as changed the next time."""
        for name in names:
            self._generations.pop(name, None)
            self._facts.pop(name, None)

    def changed(self) -> frozenset[str]:
        """Names of the hosts that may not be as they were the last time.

        Surely those that are: any of which nothing is known yet, and any of which another total, reserve, ratio or
        trait is known now. One question for all, and two more for each on which anything at all was changed; that is
        every boot and every end of a server.
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
        # Not before all could be read, so that nothing is missed when one could not.
        self._generations, self._facts = generations, facts
        return frozenset(changed)

    def _hosts(self, pool: Collection[str]) -> dict[str, tuple[str, int]]:
        """Id and generation of the provider of each host of the pool that has one."""
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
