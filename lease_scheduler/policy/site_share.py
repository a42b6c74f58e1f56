"""Which share of a site a lease takes."""

from __future__ import annotations

from collections.abc import Mapping

from lease_scheduler.model.host import Site
from lease_scheduler.model.lease import LeaseRequest
from lease_scheduler.model.resources import FLOATING_IP, HOST_SHARE, WHOLE_HOST


def capacity_of(site: Site) -> tuple[dict[str, int], int]:
    """Return the capacity of all hosts of a site by resource class, and the number of these hosts."""
    capacity: dict[str, int] = {}
    count = 0
    for host in site.hosts:
        for name, amount in host.whole_capacity.items():
            capacity[name] = capacity.get(name, 0) + amount
        if host.whole_capacity:
            capacity[HOST_SHARE] = capacity.get(HOST_SHARE, 0) + WHOLE_HOST
            count += FLOATING_IP not in host.whole_capacity
    return capacity, count


def share_of(request: LeaseRequest, capacity: Mapping[str, int]) -> float:
    """Return the largest share that a lease takes of any resource class of a site.

    :param capacity: as ``capacity_of`` returns it
    """
    amounts: dict[str, int] = {}
    for nodes in request.nodes:
        for name, amount in nodes.needs.items():
            amounts[name] = amounts.get(name, 0) + nodes.count * amount
    shares = (amount / capacity[name] for name, amount in amounts.items() if capacity.get(name))
    return max(shares, default=0.0)
