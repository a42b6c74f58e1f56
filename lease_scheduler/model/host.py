"""Hosts, and the site that they form."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.model.providers import Provider, together
from lease_scheduler.model.resources import Resources


@dataclass(frozen=True)
class Host:
    """A compute host (haizea F1-F3).

    :ivar name: unique name within the site
    :ivar capacity: what leases may use of it, apart from its nested providers
    :ivar traits: attributes that requests may require, e.g. ``HW_CPU_X86_AVX`` or ``arch=x86_64``
    :ivar max_unit: largest amount of a class that one node may take (Placement's ``max_unit``). A class that is not
        named is limited only by the capacity. A host for two nodes with 50 % of a CPU each has ``VCPU: 100`` in its
        capacity and ``VCPU: 50`` here.
    :ivar providers: its nested resource providers, such as GPUs
    """

    name: str
    capacity: Resources
    traits: frozenset[str] = frozenset()
    max_unit: Resources = field(default_factory=lambda: Resources({}))
    providers: tuple[Provider, ...] = ()

    @property
    def whole_capacity(self) -> Mapping[str, int]:
        """Amount by class that leases may use of it and its nested providers together."""
        return together(self.capacity, (provider.capacity for provider in self.providers))

    def can_ever_hold(self, demand: Resources, required: frozenset[str]) -> bool:
        """Return whether this host, if it were empty, could hold one node with this demand and these traits."""
        return (
            required <= self.traits
            and demand.fits_in(self.capacity)
            and all(demand.get(name, 0) <= limit for name, limit in self.max_unit.items())
        )


@dataclass(frozen=True)
class Site:
    """All hosts of a pool in a fixed order. The index of a host in it is its number in the plan.

    :raises InvalidValueError: there is no host, or two hosts have the same name
    """

    hosts: tuple[Host, ...]

    def __post_init__(self) -> None:
        if not self.hosts:
            raise InvalidValueError("hosts", "a site needs at least one host")
        if len(self.index) != len(self.hosts):
            raise InvalidValueError("hosts", "two hosts of a site have the same name; names must be unique")

    @classmethod
    def homogeneous(cls, count: int, capacity: Resources, prefix: str = "host") -> Site:
        """Return a site of identical hosts, named ``host-1`` and so on (haizea F4)."""
        return cls(tuple(Host(f"{prefix}-{number}", capacity) for number in range(1, count + 1)))

    @classmethod
    def of(cls, hosts: Iterable[Host]) -> Site:
        """Return a site of the given hosts in the given order."""
        return cls(tuple(hosts))

    def succeeded_by(self, other: Site) -> Site:
        """Return a site with the hosts of another one, in which hosts of this site keep their numbers.

        A host that the other site lacks stays, but without capacity. So no other host gets its number, and it has the
        same number when it comes back. New hosts follow, in the order of the other site.
        """
        present = {host.name: host for host in other.hosts}
        old = [
            present.get(host.name) or Host(host.name, Resources({}), host.traits, host.max_unit) for host in self.hosts
        ]
        return Site((*old, *(host for host in other.hosts if host.name not in self.index)))

    @cached_property
    def index(self) -> dict[str, int]:
        """Host name -> number of the host in the plan."""
        return {host.name: number for number, host in enumerate(self.hosts)}

    @cached_property
    def resource_classes(self) -> tuple[str, ...]:
        """All resource classes that hosts of the site offer, sorted."""
        return tuple(sorted({name for host in self.hosts for name in host.capacity}))

    def total(self, resource_class: str) -> int:
        """Return the site's capacity of one class."""
        return sum(host.capacity.get(resource_class, 0) for host in self.hosts)

    def __len__(self) -> int:
        return len(self.hosts)
