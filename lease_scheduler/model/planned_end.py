"""Planned end of a lease, and its next planned preemption."""

from __future__ import annotations

from lease_scheduler.model.holding import Closing
from lease_scheduler.model.lease import Lease


def planned_end(lease: Lease) -> int | None:
    """Return the instant at which the nodes of a lease will have run for all of its duration.

    If its last holding ends with a preemption, this is the earliest possible instant: the rest has no place yet. None
    if the lease holds nothing, now or later.
    """
    if not lease.holdings:
        return None
    last = lease.holdings[-1]
    if last.closing is Closing.SHUTDOWN:
        return last.run_end
    return last.end + max(0, lease.request.duration - _planned_run(lease))


def latest_end(lease: Lease) -> int | None:
    """Return the latest end of a lease: the planned one if all of its run is planned, else its deadline, or None."""
    if lease.holdings and lease.holdings[-1].closing is Closing.SHUTDOWN:
        return planned_end(lease)
    return lease.request.deadline


def preempted_at(lease: Lease) -> int | None:
    """Return the instant at which the first holding of a lease ends with a preemption.

    None if the lease holds nothing, or runs until its planned end.
    """
    first = lease.holdings[0] if lease.holdings else None
    return None if first is None or first.closing is Closing.SHUTDOWN else first.run_end


def _planned_run(lease: Lease) -> int:
    """Return how many seconds its nodes will have run by the end of its last holding, without work that is lost."""
    run = lease.accumulated
    for holding in lease.holdings:
        if holding.closing is Closing.KILL:
            run = 0
            continue
        begin = holding.run_start if lease.active_since is None else max(holding.run_start, lease.active_since)
        run += max(0, holding.run_end - begin - holding.charged)
    return run
