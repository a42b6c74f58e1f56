"""How long leases waited and what that meant to them (haizea F83)."""

from __future__ import annotations

from lease_scheduler.model.lease import Lease, LeaseKind
from lease_scheduler.model.states import LeaseState

#: Shorter run times count as this many seconds in a slowdown (Feitelson and Rudolph 1998).
SLOWDOWN_BOUND = 10


def waiting_time(lease: Lease) -> int | None:
    """Seconds that a lease waited for its first run; none if it never started, and for reservations.

    From the submission on (Sotomayor 2010, section 5.4.3); from the requested start on for deadline leases, which
    cannot run before.
    """
    if lease.started is None or lease.kind is LeaseKind.RESERVATION:
        return None
    return lease.started - _earliest(lease)


def bounded_slowdown(lease: Lease, run_time: int) -> float | None:
    """The bounded slowdown of a lease; none if it is not done, and for reservations.

    Best-effort and immediate: (end - submission) / max(10 s, run time). Deadline leases: (end - requested start) /
    max(10 s, requested duration).

    :param run_time: how long it took, in s
    """
    if lease.state is not LeaseState.DONE or lease.ended is None or lease.kind is LeaseKind.RESERVATION:
        return None
    denominator = lease.request.duration if lease.kind is LeaseKind.DEADLINE else run_time
    return (lease.ended - _earliest(lease)) / max(SLOWDOWN_BOUND, denominator)


def _earliest(lease: Lease) -> int:
    return lease.request.submitted if lease.request.start is None else lease.request.start
