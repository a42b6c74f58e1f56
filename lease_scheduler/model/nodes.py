"""Node sets: the nodes that a lease asks for, and what each of them needs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import islice
from math import ceil

from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.model.providers import ProviderGroup, together
from lease_scheduler.model.resources import HOST_SHARE, VCPU, WHOLE_HOST, Resources


@dataclass(frozen=True)
class DiskImage:
    """A disk image by its id, with its size in MB (haizea F7)."""

    image_id: str
    size_mb: int


@dataclass(frozen=True)
class Boot:
    """Disk image that some servers of a node set boot from.

    :ivar image: image that the cloud brings to their hosts; None if they need none there
    :ivar count: number of servers; None means all that are left
    """

    image: DiskImage | None
    count: int | None = None


@dataclass(frozen=True)
class NodeSet:
    """A number of identical nodes (haizea F5).

    :ivar count: number of nodes, at least 1
    :ivar count_range: (fewest, most) nodes, for a lease that takes the free capacity when its turn in the queue comes;
        None means exactly ``count``. ``count`` is the fewest while the lease waits, and what it got once it has a place
    :ivar resources: amount that each node needs, by class; the most that each can use if the set is elastic
    :ivar least_resources: amount that suffices for each node of an elastic set, for some or all classes of
        ``resources``; None means that all of ``resources`` is needed. Once the lease has a place, ``resources`` is what
        was granted, and this is None
    :ivar required_traits: attributes that the host of a node must have
    :ivar hosts: names of the hosts that may be used; None means any
    :ivar per_host: how many nodes of this set may share a host; None means as many as fit
    :ivar boots: what the servers of the nodes boot from, in the order of the nodes, in a cloud that brings images to
        hosts when it boots servers. For images that are brought before the start, see ``LeaseRequest.software``.
    :ivar groups: what each node needs of nested resource providers of its host
    :ivar fluid: VCPU that each node needs beyond those in ``resources`` to run at full speed. The lease does not hold
        them, but shares what is left on its hosts with other fluid leases
    """

    count: int
    resources: Resources
    required_traits: frozenset[str] = frozenset()
    hosts: frozenset[str] | None = None
    per_host: int | None = None
    boots: tuple[Boot, ...] = ()
    least_resources: Resources | None = None
    groups: tuple[ProviderGroup, ...] = ()
    fluid: int = 0
    count_range: tuple[int, int] | None = None

    def __post_init__(self) -> None:
        if self.count < 1:
            raise InvalidValueError("nodes.count", f"must be at least 1, not {self.count}")
        if self.count_range is not None and not 1 <= self.fewest <= self.count <= self.most:
            raise InvalidValueError(
                "nodes.count_range",
                f"must be numbers of nodes with {self.count} between them, not {self.fewest} to {self.most}",
            )
        if self.per_host is not None and self.per_host < 1:
            raise InvalidValueError("nodes.per_host", f"must be at least 1, not {self.per_host}")
        if not self.resources:
            raise InvalidValueError("nodes.resources", "must name at least one resource class")
        if self.fluid < 0:
            raise InvalidValueError("nodes.fluid", f"must be at least 0, not {self.fluid}")
        for name, amount in (self.least_resources or {}).items():
            most = self.resources.get(name, 0)
            if amount > most:
                raise InvalidValueError(
                    f"nodes.least_resources.{name}", f"must be at most the amount in resources, {most}, not {amount}"
                )

    @property
    def fewest(self) -> int:
        """Smallest number of nodes that the lease accepts."""
        return self.count if self.count_range is None else self.count_range[0]

    @property
    def most(self) -> int:
        """Largest number of nodes that the lease may get."""
        return self.count if self.count_range is None else self.count_range[1]

    def with_count(self, count: int) -> NodeSet:
        """Return the set with exactly this many nodes."""
        return replace(self, count=count, count_range=None)

    @property
    def smallest(self) -> Resources:
        """Smallest amount that suffices for each node, by class."""
        return self.resources if self.least_resources is None else self.resources.replaced(**self.least_resources)

    @property
    def at_full_speed(self) -> Resources:
        """Amount that each node uses if it has all the VCPU that it needs, by class."""
        if not self.fluid:
            return self.smallest
        return self.smallest.replaced(**{VCPU: self.smallest.get(VCPU, 0) + self.fluid})

    def made_fluid(self, min_yield: float) -> NodeSet:
        """Return the set with nodes that hold only a part of the VCPU that they need, and share the rest.

        :param min_yield: the part that they hold, from 0 to 1; rounded up to whole VCPU
        """
        need = self.resources.get(VCPU, 0) + self.fluid
        # Without the 1e-9, a product such as 0.07 * 100, slightly more than 7, would become 8.
        held = min(need, ceil(min_yield * need - 1e-9))
        return replace(self, resources=self.resources.replaced(**{VCPU: held}), fluid=need - held)

    @property
    def needs(self) -> Mapping[str, int]:
        """Amount that each node needs of its host and its nested providers together, by class."""
        return together(self.resources, (group.resources for group in self.groups))

    @property
    def servers_per_vm(self) -> int:
        """Number of servers per node: servers that must be on the same host are planned as one node."""
        return servers_per_vm(self.resources)

    def images(self) -> Iterator[frozenset[DiskImage]]:
        """Yield the images that the servers of each node boot from, node by node."""
        servers = (
            boot.image
            for boot in self.boots
            for _ in range(self.count * self.servers_per_vm if boot.count is None else boot.count)
        )
        for _ in range(self.count):
            of_node = frozenset(islice(servers, self.servers_per_vm))
            yield frozenset(image for image in of_node if image is not None)


def servers_per_vm(resources: Mapping[str, int]) -> int:
    """Return the number of servers of a node that needs these resources; see ``NodeSet.servers_per_vm``."""
    share = resources.get(HOST_SHARE, 1)
    return max(share, 1) if share < WHOLE_HOST else 1
