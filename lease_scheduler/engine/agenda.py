"""The agenda: what is due for each lease, and when."""

from __future__ import annotations

from enum import IntEnum
from heapq import heappop, heappush

from lease_scheduler.model.lease import Lease
from lease_scheduler.model.states import LeaseState


class Due(IntEnum):
    """Kinds of due work, in the order in which they are done at the same instant.

    Ends come before starts, so hosts change hands without a gap. Offers expire first, because their victims can then
    keep their places.
    """

    EXPIRE = 0
    OVERDUE = 1
    CLOSE = 2
    MIGRATE = 3
    RESUME = 4
    ACTIVATE = 5
    START = 6
    PREPARE = 7


def next_due(lease: Lease, *, in_operation: bool, waits_for_images: bool = True) -> tuple[int, Due] | None:
    """Return the instant at which something is due for a lease, and what; None if it waits for a place or the cloud.

    :param in_operation: whether the cloud is carrying out an operation of the lease, which is due at the end of its
        first holding
    :param waits_for_images: whether a lease starts only when its images have arrived
    """
    if lease.offered_until is not None:
        return lease.offered_until, Due.EXPIRE
    if not lease.holdings:
        return None
    holding = lease.holdings[0]
    state = lease.state
    if in_operation:
        return holding.end, Due.OVERDUE
    if state is LeaseState.READY or (state is LeaseState.PREPARING and not waits_for_images):
        return holding.run_start, Due.ACTIVATE if lease.is_prepared else Due.START
    if state is LeaseState.ACTIVE:
        return holding.run_end, Due.CLOSE
    if state is LeaseState.SUSPENDED_SCHEDULED:
        if holding.migrations:
            return holding.migrations[0].start, Due.MIGRATE
        return holding.start, Due.RESUME
    if state is LeaseState.RESUMED_READY:
        return holding.run_start, Due.ACTIVATE
    return None


class Agenda:
    """A heap of instants at which something may be due.

    Entries may be stale: whether something is really due depends on the present value of the lease.
    """

    def __init__(self) -> None:
        self._heap: list[tuple[int, int, int, str]] = []

    def push(self, lease: Lease, due: tuple[int, Due]) -> None:
        """Add an entry for a lease."""
        heappush(self._heap, (due[0], due[1], lease.sequence, lease.lease_id))

    def pop(self, now: int) -> tuple[int, Due, str] | None:
        """Remove and return the earliest entry up to now as (instant, what, lease id), or None."""
        if not self._heap or self._heap[0][0] > now:
            return None
        instant, what, _, lease_id = heappop(self._heap)
        return instant, Due(what), lease_id

    def drop_first(self) -> None:
        """Remove the earliest entry."""
        heappop(self._heap)

    def first(self) -> tuple[int, Due, str] | None:
        """Return the earliest entry without removing it, or None."""
        if not self._heap:
            return None
        instant, what, _, lease_id = self._heap[0]
        return instant, Due(what), lease_id
