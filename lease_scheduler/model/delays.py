"""Waiting time and slowdown of leases (haizea F83), and which waits are acceptable (contention F51, F69)."""

from __future__ import annotations

from dataclasses import dataclass

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


def waited_in_vain(lease: Lease, now: int) -> int | None:
    """Return the seconds that a lease has waited which never ran, or None if it ran or is a reservation.

    :param now: the instant until which it waited
    """
    if lease.started is not None or lease.kind is LeaseKind.RESERVATION:
        return None
    return max(0, now - _earliest(lease))


@dataclass(frozen=True)
class AcceptableWait:
    """How long a lease may wait for its first run (Amini Salehi 2012, sections 5.3.1 and 6.4.2).

    :ivar seconds: the same for all leases; 0 to have it follow from their durations
    :ivar factor: as a multiple of the requested duration
    """

    seconds: int = 0
    factor: float = 5.0

    def allows(self, lease: Lease, waited: int) -> bool:
        """Return whether a wait is acceptable.

        :param waited: its seconds
        """
        return waited <= (self.seconds or self.factor * lease.request.duration)


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
