"""Waiting time and slowdown of leases (haizea F83)."""

from __future__ import annotations

from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.lease import Lease
from lease_scheduler.model.states import LeaseState

#: Shorter run times count as this many seconds in a slowdown (Feitelson and Rudolph 1998).
SLOWDOWN_BOUND = 10


def waiting_time(lease: Lease) -> int | None:
    """Return the seconds that a lease waited for its first run, or None.

    The wait counts from the submission (Sotomayor 2010, section 5.4.3). For deadline leases, which cannot run earlier,
    it counts from the requested start. It is None for reservations and for leases that never started.
    """
    if lease.started is None or lease.kind is LeaseKind.RESERVATION:
        return None
    return lease.started - _earliest(lease)


def bounded_slowdown(lease: Lease, run_time: int) -> float | None:
    """Return the bounded slowdown of a lease, or None if it is not done or is a reservation.

    Best-effort and immediate: (end - submission) / max(10 s, run time). Deadline leases: (end - requested start) /
    max(10 s, requested duration).

    :param run_time: seconds that the lease ran
    """
    if lease.state is not LeaseState.DONE or lease.ended is None or lease.kind is LeaseKind.RESERVATION:
        return None
    denominator = lease.request.duration if lease.kind is LeaseKind.DEADLINE else run_time
    return (lease.ended - _earliest(lease)) / max(SLOWDOWN_BOUND, denominator)


def _earliest(lease: Lease) -> int:
    return lease.request.submitted if lease.request.start is None else lease.request.start
