"""Strict priority between projects."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from lease_scheduler.model.host import Site
from lease_scheduler.model.lease import Lease
from lease_scheduler.plan.interfaces import QueueRound, Turn
from lease_scheduler.policy.base import PolicyOptions
from lease_scheduler.policy.queueing.base import QueueingPolicy
from lease_scheduler.policy.queueing.winks.naming import FlowNames, own_priority


class Priority(QueueingPolicy):
    """Serves the leases of the project with the highest weight first (Grit 2007, section 4.7.2; shirako F66).

    Weights are those of flows. Leases of one weight are served by their extra ``priority``, highest first, and then in
    the order of submission. A lease that runs is not preempted for one of a higher priority.
    """

    def __init__(self, options: PolicyOptions) -> None:
        super().__init__(options)
        self._names = FlowNames.of(options)
        self._weights: Mapping[str, float] = {}

    def follow(self, site: Site, weights: Mapping[str, float]) -> None:
        """See ``Queueing.follow``."""
        self._weights = weights

    def turns(self, queue: QueueRound) -> Iterable[Turn]:
        """See ``Queueing.turns``."""
        return map(Turn, sorted(queue.queued, key=self._rank))

    def _rank(self, lease: Lease) -> tuple[float, int, int]:
        weight = self._names.weight_of(self._names.flow_of(lease.request), self._weights)
        return -weight, -own_priority(lease.request), lease.sequence
