"""What policies that learn from run times have in common."""

from __future__ import annotations

import math

from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.lease import Lease
from lease_scheduler.policy.outcomes import Outcome

_COMPLETE = (Outcome.DONE, Outcome.CANCELLED)


def complete_run_time(outcome: Outcome, lease: Lease) -> int | None:
    """Return for how many seconds the nodes of a lease ran in all, or None if that is unknown or says nothing.

    Only best-effort leases count, as only they are planned with expected durations. A lease that its project ended
    early ran for as long as the project needed it. One that failed, or never ran, says nothing.
    """
    if outcome not in _COMPLETE or lease.kind is not LeaseKind.BEST_EFFORT or lease.started is None:
        return None
    return lease.accumulated


def rest_of(total: float, lease: Lease) -> int:
    """Return for how many more seconds a lease runs that is expected to run for ``total`` seconds in all.

    Each time a lease has run for longer than expected, the expectation is doubled (Tsafrir, Etsion and Feitelson,
    "Backfilling using system-generated predictions rather than user runtime estimates", IEEE TPDS 18(6), 2007, correct
    it in steps too).

    :param total: seconds, at least 0
    """
    expected = max(1, math.ceil(total))
    while expected <= lease.accumulated:
        expected *= 2
    return min(expected - lease.accumulated, lease.remaining)
