"""Nested resource providers in the plan: rows of its capacity that count what nodes need of them.

The plan does not choose the provider that serves a node. Placement does, when a server starts, and takes any that fits.
So the plan grants only what Placement can serve whichever providers it takes.

Equal providers of a host form a *kind*, with a row for each of their resource classes. A group is charged to every kind
that could serve it, because each of them might. It is charged its amount if the kind has one provider, or if it needs
one unit: then it fits if the sum of the charges is within the capacity. Otherwise the sum alone does not tell: two
providers with one free unit each do not serve a group of two. Among ``n`` providers of size ``s``, none has ``a`` units
free only if at least ``s - a + 1`` units of each are used. So the group fits while at most ``n (s - a + 1) - 1`` units
are used in all. That holds if the group is charged ``n (a - 1) + 1`` and the charges do not exceed ``n s``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from lease_scheduler.model.host import Host, Site
from lease_scheduler.model.nodes import NodeSet
from lease_scheduler.model.providers import Provider, ProviderGroup, together
from lease_scheduler.model.resources import Resources
from lease_scheduler.plan.capacity.availability import IntArray

#: Capacity of a row on a host that offers the resource class in other kinds only: the row limits nothing there.
_NO_LIMIT = 1 << 40


@dataclass(frozen=True)
class _Kind:
    """Equal providers of one host.

    :ivar count: how many there are
    """

    provider: Provider
    count: int

    @property
    def order(self) -> tuple[Any, ...]:
        """Key of a fixed order."""
        provider = self.provider
        sizes = (tuple(provider.capacity.items()), tuple(provider.max_unit.items()))
        return (*sizes, tuple(sorted(provider.traits)), self.count)

    def charge(self, group: ProviderGroup, name: str) -> int:
        """Return how much of a class a group is charged, see the module.

        With several classes, each of them may leave an equal share of the providers unable to serve the group.
        """
        size, amount = self.provider.capacity[name], group.resources[name]
        share = (self.count - 1) // len(group.resources)
        return self.count * size - ((share + 1) * (size - amount + 1) - 1)


class ProviderRows:
    """The rows of a site. There are none if no host has nested providers.

    :ivar classes: resource classes that hosts have themselves, in the order of the plan
    """

    def __init__(self, site: Site) -> None:
        self._nested = frozenset(
            name for host in site.hosts for provider in host.providers for name in provider.capacity
        )
        self.classes = tuple(name for name in site.resource_classes if name not in self._nested)
        self._of_host = [self._kinds(host) for host in site.hosts] if self._nested else []
        kinds = sorted({kind for of_host in self._of_host for kind in of_host}, key=lambda kind: kind.order)
        self._rows = [(kind, name) for kind in kinds for name in kind.provider.capacity]

    def _kinds(self, host: Host) -> frozenset[_Kind]:
        """Return the kinds of a host. It counts as a provider itself of classes that other hosts nest."""
        own = Resources({name: amount for name, amount in host.capacity.items() if name in self._nested})
        itself = (Provider(own, host.traits, host.max_unit),) if own else ()
        counts = Counter(each for each in (*host.providers, *itself) if each.capacity)
        return frozenset(_Kind(provider, count) for provider, count in counts.items())

    def capacity(self) -> IntArray:
        """Return what each host offers in each row, shape (rows, hosts)."""
        found = np.zeros((len(self._rows), len(self._of_host)), dtype=np.int64)
        for number, of_host in enumerate(self._of_host):
            offered = {name for kind in of_host for name in kind.provider.capacity}
            for row, (kind, name) in enumerate(self._rows):
                if kind in of_host:
                    found[row, number] = kind.count * kind.provider.capacity[name]
                elif name in offered:
                    found[row, number] = _NO_LIMIT
        return found

    def split(self, node_set: NodeSet) -> NodeSet:
        """Return the node set with its needs of nested classes in groups, and all others in its resources.

        An elastic node set that has to be split gets its smallest size.
        """
        nested = [name for name in node_set.resources if name in self._nested]
        plain = [group for group in node_set.groups if self._nested.isdisjoint(group.resources)]
        if not nested and not plain:
            return node_set
        needed = node_set.smallest.replaced(**dict.fromkeys(nested, 0))
        groups = [group for group in node_set.groups if group not in plain]
        groups += [ProviderGroup(Resources({name: node_set.smallest[name]})) for name in nested]
        return replace(
            node_set,
            resources=Resources(together(needed, (group.resources for group in plain))),
            least_resources=None,
            required_traits=node_set.required_traits.union(*(group.traits for group in plain)),
            groups=tuple(groups),
        )

    def charges(self, groups: Iterable[ProviderGroup]) -> IntArray:
        """Return what groups are charged in each row, shape (rows,)."""
        charged = np.zeros(len(self._rows), dtype=np.int64)
        for group in groups:
            for row, (kind, name) in enumerate(self._rows):
                if name in group.resources and kind.provider.can_ever_serve(group):
                    charged[row] += kind.charge(group, name)
        return charged

    def serves(self, host: int, groups: Iterable[ProviderGroup]) -> bool:
        """Return whether a host has a provider for each group."""
        of_host = self._of_host[host] if self._of_host else frozenset()
        return all(any(kind.provider.can_ever_serve(group) for kind in of_host) for group in groups)
