"""The kind of lease that the terms of a recorded request imply."""

from __future__ import annotations

from lease_scheduler.model.kinds import LeaseKind


def derive_kind(*, submitted: int, start: int | None, now: bool, duration: int, deadline: int | None) -> LeaseKind:
    """Return the kind that the terms imply (Sotomayor 2010, section 3.2.1).

    * With ``now``, the lease is immediate.
    * With a deadline, it is a reservation if the duration fills the time up to the deadline, else a deadline lease. If
      no start is given, that time begins at the submission.
    * Else it is a reservation if it has a start, and best-effort if it has none.
    """
    if now:
        return LeaseKind.IMMEDIATE
    if deadline is not None:
        earliest = submitted if start is None else start
        return LeaseKind.RESERVATION if deadline - earliest == duration else LeaseKind.DEADLINE
    return LeaseKind.BEST_EFFORT if start is None else LeaseKind.RESERVATION
