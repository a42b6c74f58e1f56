"""What it costs that others make room for a lease (haizea F81)."""

from __future__ import annotations

from collections.abc import Iterable

from lease_scheduler.model.holding import Closing
from lease_scheduler.model.lease import Lease
from lease_scheduler.plan.context import PlanningContext


def suspension_hours(context: PlanningContext, changes: Iterable[tuple[Lease | None, Lease]]) -> float:
    """Node-hours in which leases are suspended and resumed that would not be without these changes.

    :param changes: of each lease the value before, none if it is new and so the one that the others make room for, and
        the value after
    """
    seconds = 0
    for before, after in changes:
        if before is None:
            continue
        if any(r.closing is Closing.SUSPEND and r not in before.holdings for r in after.holdings):
            terms = after.request
            seconds += (context.suspend_estimate(terms) + context.resume_estimate(terms)) * terms.node_count
    return seconds / 3_600
