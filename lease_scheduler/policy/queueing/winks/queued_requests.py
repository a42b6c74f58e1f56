"""What Winks keeps of a queued lease (Grit 2007, sections 5.3 and 5.4; shirako F89, F91)."""

from __future__ import annotations

from lease_scheduler.model.lease import Lease
from lease_scheduler.plan.fitting.count_ranges import at_most, has_ranges
from lease_scheduler.policy.queueing.winks.costs import SiteSize
from lease_scheduler.policy.queueing.winks.flow_queue import QueuedRequest
from lease_scheduler.policy.queueing.winks.kinds import Kinds
from lease_scheduler.policy.queueing.winks.naming import own_priority


def queued_request(lease: Lease, duration: int, size: SiteSize, kinds: Kinds) -> QueuedRequest:
    """Return a queued lease as its flow keeps it.

    :param duration: seconds for which the whole lease is charged at first
    :param size: size of the site
    """
    terms = lease.request
    seconds = max(1, duration - lease.accumulated)
    nodes = terms.node_count
    accepts_less = has_ranges(terms)
    return QueuedRequest(
        lease.lease_id,
        size.cost(at_most(terms) if accepts_less else terms, seconds),
        seconds,
        nodes,
        nodes > 1,
        own_priority(terms),
        lease.sequence,
        kinds.of(terms),
        least_cost=size.cost(terms, seconds) if accepts_less else None,
    )
