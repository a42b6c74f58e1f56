"""Running on: leases that still run when they were expected to be over.

The planner gives a lease that is expected to run shorter than requested a run that ends in a suspension. If the lease
has not ended by then, it runs on as far as its hosts are free, and the suspension saves its work if they are not.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import replace

from lease_scheduler.model.holding import Closing
from lease_scheduler.model.lease import Lease
from lease_scheduler.plan.changing.early_end import go_on
from lease_scheduler.plan.context import PlanningContext
from lease_scheduler.plan.fitting.phases import cut_by_suspension


def run_on(context: PlanningContext, lease: Lease, now: int) -> bool:
    """Let a running best-effort lease whose suspension is due keep its hosts for longer.

    It runs to its end if leases that were submitted later and have not started can make room, else as long as its hosts
    are free.

    :return: whether it runs on
    """
    if lease.active_since is None or len(lease.holdings) != 1 or lease.holdings[0].closing is not Closing.SUSPEND:
        return False
    return go_on(context, lease, now) or _until_hosts_are_needed(context, lease, lease.active_since + lease.remaining)


def _until_hosts_are_needed(context: PlanningContext, lease: Lease, run_end: int) -> bool:
    """Move the suspension of a lease to the latest instant at which its hosts are still free for it.

    :param run_end: when the lease will have run for its whole duration
    """
    plan, holding = context.plan, lease.holdings[0]
    ends = range(holding.end + 1, run_end + context.suspension.shutdown_time(lease.request) + 1)
    with_room = bisect_left(ends, True, key=lambda end: not plan.has_room(lease, holding.end, end))
    if with_room == 0:
        return False
    cut = cut_by_suspension(context, lease.request, holding, ends[with_room - 1])
    if cut.run_end <= holding.run_end:
        return False
    plan.put(replace(lease, holdings=(cut,)))
    return True
