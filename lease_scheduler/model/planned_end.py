"""When a lease is planned to be done, and when it is interrupted before that."""

from __future__ import annotations

from lease_scheduler.model.holding import Closing
from lease_scheduler.model.lease import Lease


def planned_end(lease: Lease) -> int | None:
    """Return when the VMs of a lease are to have run for all of its duration; None if it holds nothing, now or later.

    If its last holding ends with a preemption, that is at the earliest: the rest waits for a place.
    """
    if not lease.holdings:
        return None
    last = lease.holdings[-1]
    if last.closing is Closing.SHUTDOWN:
        return last.run_end
    return last.end + max(0, lease.request.duration - _planned_run(lease))


def latest_end(lease: Lease) -> int | None:
    """Return by when a lease is to be done, as ``planned_end`` says or at its deadline; None if nothing says when."""
    if lease.holdings and lease.holdings[-1].closing is Closing.SHUTDOWN:
        return planned_end(lease)
    return lease.request.deadline


def preempted_at(lease: Lease) -> int | None:
    """Return when a lease is to be preempted; None if it holds nothing, or runs until its planned end."""
    first = lease.holdings[0] if lease.holdings else None
    return None if first is None or first.closing is Closing.SHUTDOWN else first.run_end


def _planned_run(lease: Lease) -> int:
    """Return for how many seconds its VMs will have run by the end of its last holding, without work that is lost."""
    run = lease.accumulated
    for holding in lease.holdings:
        if holding.closing is Closing.KILL:
            run = 0
            continue
        begin = holding.run_start if lease.active_since is None else max(holding.run_start, lease.active_since)
        run += max(0, holding.run_end - begin - holding.charged)
    return run
