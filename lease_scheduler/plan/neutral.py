"""What the planner does when no policy says otherwise: the queue in order, and durations as requested."""

from __future__ import annotations

from collections.abc import Iterable

from lease_scheduler.model.lease import Lease
from lease_scheduler.plan.interfaces import Queueing, QueueRound, Turn


class SubmissionOrder(Queueing):
    """First in, first out (Sotomayor 2010, section 4.3; haizea F46)."""

    def turns(self, queue: QueueRound) -> Iterable[Turn]:
        """See ``Queueing.turns``."""
        return map(Turn, queue.queued)


class RequestedDuration:
    """Every lease is expected to run for as long as it was requested."""

    shortens = False

    def expected(self, lease: Lease) -> int:
        """See ``ExpectedDuration.expected``."""
        return lease.remaining


FIFO = SubmissionOrder()
REQUESTED = RequestedDuration()
