"""What a lease costs its flow: the part of the site that it takes, times its duration.

Grit 2007, formulas 5.3 and 6.1 to 6.4 (shirako F91, F112).
"""

from __future__ import annotations

from dataclasses import dataclass

from lease_scheduler.model.host import Host, Site
from lease_scheduler.model.lease import LeaseRequest
from lease_scheduler.model.resources import FLOATING_IP, HOST_SHARE, WHOLE_HOST

#: Widths are whole numbers of this part of a host.
HOST_UNITS = 10_000


@dataclass(frozen=True)
class SiteSize:
    """The size of a site, in which widths of leases are measured.

    :ivar hosts: number of compute hosts
    :ivar totals: capacity of all hosts, for each resource class of nodes
    """

    hosts: int
    totals: dict[str, int]

    @classmethod
    def of(cls, site: Site) -> SiteSize:
        """Return the size of a site."""
        counted = [host for host in site.hosts if _classes(host)]
        totals: dict[str, int] = {}
        for host in counted:
            for name in _classes(host):
                totals[name] = totals.get(name, 0) + host.capacity[name]
        return cls(len(counted), totals)

    @property
    def capacity(self) -> int:
        """Capacity of the site, in units of width."""
        return self.hosts * HOST_UNITS

    def cost(self, request: LeaseRequest, seconds: int) -> int:
        """Return the cost of a lease for this many seconds."""
        return self.width(request) * seconds

    def width(self, request: LeaseRequest) -> int:
        """Return how much of the site a lease takes.

        A node takes the mean of its shares of all resource classes, so that nodes that fill a host take one host
        together. A node that has its host for itself takes a whole host.
        """
        if not self.totals:
            return 0
        width = 0.0
        for node_set in request.nodes:
            if node_set.resources.get(HOST_SHARE, 0) >= WHOLE_HOST:
                share = 1 / self.hosts
            else:
                parts = [node_set.resources.get(name, 0) / total for name, total in self.totals.items()]
                share = sum(parts) / len(parts)
            width += node_set.count * share
        # However small a node is, what runs is charged.
        return max(round(width * self.capacity), 1 if width > 0 else 0)


def _classes(host: Host) -> list[str]:
    return [name for name in host.capacity if name not in (HOST_SHARE, FLOATING_IP)]
