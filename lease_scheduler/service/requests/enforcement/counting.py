"""How much of each limit a lease uses."""

from __future__ import annotations

from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.lease import LeaseRequest
from lease_scheduler.model.resources import FLOATING_IP, HOST_SHARE, WHOLE_HOST

HOUR = 3_600


def nodes(request: LeaseRequest) -> int:
    """Return the number of instances and whole hosts of a lease, without addresses.

    Instances that must share a host are planned as one node, but each of them counts. A lease with a range of nodes
    counts with its maximum.
    """
    total = 0
    for node_set in request.nodes:
        if FLOATING_IP in node_set.resources:
            continue
        share = node_set.resources.get(HOST_SHARE, 1)
        total += node_set.most * (share if share < WHOLE_HOST else 1)
    return total


def node_seconds(request: LeaseRequest) -> int:
    """Return the nodes times the whole duration in seconds, including the part that is over."""
    return nodes(request) * request.duration


def latest_end(request: LeaseRequest, now: int) -> int | None:
    """Return the instant by which a lease must have ended by its terms, or None for best-effort leases."""
    if request.kind is LeaseKind.BEST_EFFORT:
        return None
    if request.deadline is not None:
        return request.deadline
    return (now if request.start is None else request.start) + request.duration


def hours(seconds: int) -> int:
    """Return seconds as hours, rounded up."""
    return -(-seconds // HOUR)
