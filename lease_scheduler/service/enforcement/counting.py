"""How much of a limit a lease uses."""

from __future__ import annotations

from lease_scheduler.model.lease import LeaseKind, LeaseRequest
from lease_scheduler.model.resources import FLOATING_IP, HOST_SHARE, WHOLE_HOST

HOUR = 3_600


def nodes(request: LeaseRequest) -> int:
    """Instances and whole hosts of a lease; addresses are none.

    Instances that must share a host are planned as one, and counted as what they are.
    """
    total = 0
    for node_set in request.nodes:
        if FLOATING_IP in node_set.resources:
            continue
        share = node_set.resources.get(HOST_SHARE, 1)
        total += node_set.count * (share if share < WHOLE_HOST else 1)
    return total


def node_seconds(request: LeaseRequest) -> int:
    """Nodes times the whole duration, whatever part of it is over."""
    return nodes(request) * request.duration


def latest_end(request: LeaseRequest, now: int) -> int | None:
    """When a lease must be over by its terms; none for best-effort leases, which have no such time."""
    if request.kind is LeaseKind.BEST_EFFORT:
        return None
    if request.deadline is not None:
        return request.deadline
    return (now if request.start is None else request.start) + request.duration


def hours(seconds: int) -> int:
    """Hours, begun ones as whole ones."""
    return -(-seconds // HOUR)
