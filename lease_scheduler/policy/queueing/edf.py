"""Earliest deadline first."""

from __future__ import annotations

from collections.abc import Iterable

from lease_scheduler.model.lease import Lease
from lease_scheduler.plan.interfaces import QueueRound, Turn
from lease_scheduler.policy.queueing.base import QueueingPolicy


class EarliestDeadlineFirst(QueueingPolicy):
    """Serves first the lease that should be over first (named in Grit 2007, section 1.3; shirako F67).

    A queued lease should be over by its extra ``due_within``: seconds after its submission, by default its duration.
    Nothing is promised; a lease that must be over by an instant is a deadline lease.
    """

    def turns(self, queue: QueueRound) -> Iterable[Turn]:
        """See ``Queueing.turns``."""
        return map(Turn, sorted(queue.queued, key=lambda lease: (_due(lease), lease.sequence)))


def _due(lease: Lease) -> int:
    text = lease.request.extras.get("due_within", "")
    within = int(text) if text.isdecimal() and len(text) < 12 else lease.request.duration
    return lease.request.submitted + within
