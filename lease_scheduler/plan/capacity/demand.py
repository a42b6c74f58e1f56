"""Demands: what node sets need, as arrays over the resource classes and hosts of a site."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from lease_scheduler.model.host import Site
from lease_scheduler.model.nodes import NodeSet
from lease_scheduler.model.providers import ProviderGroup
from lease_scheduler.plan.capacity.availability import BoolArray, IntArray
from lease_scheduler.plan.capacity.provider_rows import ProviderRows

#: Size of the cache of node sets; it is limited because a service runs for years.
_MOST_REMEMBERED = 20_000


@dataclass(frozen=True)
class Demand:
    """The needs of a node set; those of its smallest size if it is elastic.

    :ivar count: number of nodes
    :ivar amounts: shape (classes,), needs of one node
    :ivar amounts_and_lease: shape (classes + 1,), the same with 1 appended, which counts the lease
    :ivar eligible: shape (hosts,), hosts that could hold a node if they were empty; None means all
    :ivar most_per_host: nodes of this set that the largest host could hold
    :ivar per_host: nodes of this set that may share a host; None means as many as fit
    """

    count: int
    amounts: IntArray
    amounts_and_lease: IntArray
    eligible: BoolArray | None
    most_per_host: int
    per_host: int | None = None


class Demands:
    """Converts node sets into demands on a site, with a cache.

    :param site: the hosts
    :param rows: the rows of their nested providers, which follow the resource classes of hosts
    :param capacity: shape (classes, hosts)
    """

    def __init__(self, site: Site, rows: ProviderRows, capacity: IntArray) -> None:
        self._site = site
        self._rows = rows
        self._classes = rows.classes
        self._capacity = capacity
        self._of_nodes: dict[tuple[NodeSet, ...], tuple[Demand, ...]] = {}
        self._of_node_set: dict[NodeSet, Demand] = {}
        self._shares: dict[tuple[NodeSet, str], int] = {}

    def of(self, nodes: tuple[NodeSet, ...]) -> tuple[Demand, ...]:
        """Return the demands of node sets."""
        found = self._of_nodes.get(nodes)
        if found is None:
            if len(self._of_nodes) >= _MOST_REMEMBERED:
                self._of_nodes.clear()
                self._of_node_set.clear()
                self._shares.clear()
            found = self._of_nodes[nodes] = tuple(self._demand(node_set) for node_set in nodes)
        return found

    def share_of_host(self, node_set: NodeSet, resource_class: str) -> int:
        """Return how much of a resource class a node can use if its node set does not name the class.

        Each host's capacity is shared equally among as many such nodes as the host can hold; the result is the largest
        share over the hosts that may be used.
        """
        if resource_class not in self._classes:
            return 0
        key = (replace(node_set.with_count(1), boots=()), resource_class)
        known = self._shares.get(key)
        if known is None:
            demand = self._demand(key[0])
            if not demand.most_per_host:
                # Perhaps no host has any of its resource classes any more.
                return 0
            needed = demand.amounts > 0
            places = (self._capacity[needed] // demand.amounts[needed][:, None]).min(axis=0)
            if demand.eligible is not None:
                places = np.where(demand.eligible, places, 0)
            amounts = self._capacity[self._classes.index(resource_class)]
            known = self._shares[key] = int((amounts[places > 0] // places[places > 0]).max(initial=0))
        return known

    def can_ever_hold(self, host: int, node_set: NodeSet) -> bool:
        """Return whether a host could hold one node of a node set if it were empty."""
        split = self._rows.split(node_set)
        if not self._site.hosts[host].can_ever_hold(split.at_full_speed, split.required_traits):
            return False
        return not split.groups or self._rows.serves(host, split.groups)

    def of_groups(self, node_set: NodeSet, groups: tuple[ProviderGroup, ...]) -> Demand:
        """Return the demand of a node set for some of its groups only."""
        amounts = np.concatenate((np.zeros(len(self._classes), dtype=np.int64), self._rows.charges(groups)))
        whole = self._demand(node_set)
        return replace(whole, amounts=amounts, amounts_and_lease=np.append(amounts, 1))

    def groups(self, node_set: NodeSet) -> tuple[ProviderGroup, ...]:
        """Return what a node needs of nested providers."""
        return self._rows.split(node_set).groups

    def _demand(self, node_set: NodeSet) -> Demand:
        # Node sets with the same needs share arrays, and so the results that an availability caches for these arrays.
        key = replace(node_set.with_count(1), boots=())
        known = self._of_node_set.get(key)
        if known is None:
            known = self._of_node_set[key] = self._new_demand(key)
        return replace(known, count=node_set.count)

    def _new_demand(self, node_set: NodeSet) -> Demand:
        hosts = self._site.hosts
        eligible: BoolArray = np.zeros(len(hosts), dtype=bool)
        index = self._site.index
        node_set = self._rows.split(node_set)
        # Hosts that the site does not have are ignored.
        allowed = index.values() if node_set.hosts is None else [index[name] for name in node_set.hosts & index.keys()]
        for number in allowed:
            eligible[number] = hosts[number].can_ever_hold(node_set.at_full_speed, node_set.required_traits)
        needs = node_set.smallest
        amounts = np.array([needs.get(name, 0) for name in self._classes], dtype=np.int64)
        if node_set.groups:
            serving = (self._rows.serves(number, node_set.groups) for number in range(len(hosts)))
            eligible &= np.fromiter(serving, dtype=bool, count=len(hosts))
        amounts = np.concatenate((amounts, self._rows.charges(node_set.groups)))
        most_per_host = 0
        if eligible.any():
            needed = amounts > 0
            capacity = self._capacity[needed][:, eligible]
            most_per_host = int((capacity // amounts[needed][:, None]).min(axis=0).max())
            if node_set.per_host is not None:
                most_per_host = min(most_per_host, node_set.per_host)
        return Demand(
            1, amounts, np.append(amounts, 1), None if eligible.all() else eligible, most_per_host, node_set.per_host
        )
