"""Detection of changed inventories and traits of hosts. Placement sends no notifications, but counts changes."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from keystoneauth1.adapter import Adapter

from lease_scheduler.cloud.nova.api.names import slots_provider_id
from lease_scheduler.cloud.nova.api.nested import is_of_leases
from lease_scheduler.cloud.nova.api.placement import Placement

#: From 1.14 on, a resource provider shows the root of its tree, which is the provider of a host.
_MICROVERSION = "1.38"

#: Trait that Nova sets on the provider of a host whose service is disabled. An event reports that.
_IS_DISABLED = "COMPUTE_STATUS_DISABLED"


@dataclass(frozen=True)
class _Facts:
    """The facts about a provider on which plans depend."""

    inventories: Mapping[str, Mapping[str, Any]]
    traits: frozenset[str]


class Inventories:
    """Detector of changes.

    :param adapter: adapter for the service ``placement``
    :param pool: returns the names of the hosts to observe
    """

    def __init__(self, adapter: Adapter, placement: Placement, pool: Callable[[], Collection[str]]) -> None:
        self._adapter = adapter
        self._placement = placement
        self._pool = pool
        # Host -> id of a provider in its tree -> its generation, or its facts.
        self._generations: dict[str, Mapping[str, int]] = {}
        self._facts: dict[str, Mapping[str, _Facts]] = {}

    def forget(self, names: Iterable[str]) -> None:
        """Have the next call of ``changed`` return these hosts."""
        for name in names:
            self._generations.pop(name, None)
            self._facts.pop(name, None)

    def changed(self) -> frozenset[str]:
        """Return the names of the hosts that may have changed since the last call.

        These are new hosts, and hosts with another total, reserve, ratio or trait of the host itself or of a provider
        below it. This takes one request, and two more for each provider whose generation changed. Each boot and each
        end of a server changes it.
        """
        pool = frozenset(self._pool())
        if not pool:
            self._generations, self._facts = {}, {}
            return frozenset()
        facts: dict[str, Mapping[str, _Facts]] = {}
        changed = set()
        generations = self._trees(pool)
        for name, tree in generations.items():
            known = self._facts.get(name)
            before = self._generations.get(name)
            if before is None:
                changed.add(name)
            elif tree == before:
                if known is not None:
                    facts[name] = known
            else:
                facts[name] = found = {
                    each: known[each] if known is not None and tree[each] == before.get(each) else self._read(each)
                    for each in tree
                }
                if found != known:
                    changed.add(name)
        # Not earlier, so that no change is missed if a request fails.
        self._generations, self._facts = generations, facts
        return frozenset(changed)

    def _trees(self, pool: Collection[str]) -> dict[str, Mapping[str, int]]:
        """Return host -> id -> generation of the providers in its tree, for hosts of the pool that have one.

        The provider of the slots is left out, as it changes with every lease.
        """
        listed = self._adapter.get("/resource_providers", microversion=_MICROVERSION).json()["resource_providers"]
        hosts = {
            each["uuid"]: each["name"]
            for each in listed
            if each["parent_provider_uuid"] is None and each["name"] in pool
        }
        trees: dict[str, dict[str, int]] = {name: {} for name in hosts.values()}
        for each in listed:
            host = hosts.get(each["root_provider_uuid"])
            if host is not None and each["uuid"] != slots_provider_id(host):
                trees[host][each["uuid"]] = each["generation"]
        return dict(trees)

    def _read(self, provider_id: str) -> _Facts:
        inventories = self._placement.inventories(provider_id)
        return _Facts(
            {name: inventory for name, inventory in inventories.items() if not is_of_leases(name)},
            self._placement.traits(provider_id) - frozenset({_IS_DISABLED}),
        )
