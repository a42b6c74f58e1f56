"""The place of a lease that is held and could start at once."""

from __future__ import annotations

from dataclasses import replace

from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.lease import Lease


def as_long_as_held(lease: Lease, now: int) -> Lease:
    """Return an immediate lease that is held, with the duration for which its hosts must be free.

    It may be accepted at any instant until its offer ends, and then gets its whole duration. Other leases are returned
    unchanged.
    """
    request = lease.request
    if lease.offered_until is None or lease.kind is not LeaseKind.IMMEDIATE:
        return lease
    return replace(lease, request=replace(request, duration=request.duration + lease.offered_until - now))
