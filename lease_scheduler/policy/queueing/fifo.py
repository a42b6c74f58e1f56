"""Default queueing policy: first in, first out."""

from __future__ import annotations

from collections.abc import Iterable

from lease_scheduler.plan.interfaces import QueueRound, Turn
from lease_scheduler.plan.neutral import FIFO
from lease_scheduler.policy.queueing.base import QueueingPolicy


class Fifo(QueueingPolicy):
    """Serves leases in the order of submission (haizea F46; Sotomayor 2010, section 4.3)."""

    def turns(self, queue: QueueRound) -> Iterable[Turn]:
        """See ``Queueing.turns``."""
        return FIFO.turns(queue)
