"""The overhead of preemption: what suspending others for a lease costs (haizea F81)."""

from __future__ import annotations

from collections.abc import Iterable

from lease_scheduler.model.holding import Closing
from lease_scheduler.model.lease import Lease
from lease_scheduler.plan.context import PlanningContext


def suspension_hours(context: PlanningContext, changes: Iterable[tuple[Lease | None, Lease]]) -> float:
    """Return the node-hours of suspensions and resumptions that these changes cause.

    :param changes: the values of each lease before and after; the value before is None for the new lease, for which the
        others make room
    """
    seconds = 0
    for before, after in changes:
        if before is None:
            continue
        if any(r.closing is Closing.SUSPEND and r not in before.holdings for r in after.holdings):
            terms = after.request
            seconds += (context.suspend_estimate(terms) + context.resume_estimate(terms)) * terms.node_count
    return seconds / 3_600
