"""Correction of leases after the clock was set back while no engine was running."""

from __future__ import annotations

from dataclasses import replace

from lease_scheduler.engine.interfaces import Operation, OperationKind
from lease_scheduler.model.lease import Lease


def begun_by(lease: Lease, operation: Operation | None, now: int) -> Lease:
    """Return a lease that uses its hosts, with all instants at which it began to do so moved to now if they are later.

    Otherwise its hosts would be free in the plan until these instants, and the duration of its run would be negative.
    Its end does not change, so it runs until the clock reaches its end.

    :param operation: operation that the cloud is carrying out for it, or None
    """
    began = max(lease.active_since or now, operation.begun if operation is not None else now)
    # A lease that is booted ahead holds its hosts only from the start of its holding.
    if began <= now or not lease.holdings or began < lease.holdings[0].start:
        return lease
    first, resumes = lease.holdings[0], operation is not None and operation.kind is OperationKind.RESUME
    run_start = first.run_start if resumes else min(first.run_start, now)
    return replace(
        lease,
        holdings=(replace(first, start=min(first.start, now), run_start=run_start), *lease.holdings[1:]),
        started=_by(lease.started, now),
        active_since=_by(lease.active_since, now),
        missing_since=_by(lease.missing_since, now),
    )


def _by(instant: int | None, now: int) -> int | None:
    return None if instant is None else min(instant, now)
