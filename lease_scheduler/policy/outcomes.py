"""Outcomes: what really becomes of leases, for policies that learn."""

from __future__ import annotations

from enum import Enum


class Outcome(Enum):
    """What happened to a lease.

    * ``QUEUED``: it waits for a place, because it is new, was suspended, or lost its place.
    * ``CHANGED``: it still waits, with other terms.
    * ``PLACED``: it got hosts and an interval, or others than before.
    * ``STARTED``: it runs, for the first time or again.
    * ``PREEMPTED``: it lost its place, or has to leave its hosts before its work is done, for another lease or because
      hosts failed.
    * ``BROKEN``: it runs no more although its assured lifetime is not over.

    The others are ends:

    * ``DONE``: with all of its work done, or earlier because its servers ended.
    * ``CANCELLED``: by its project.
    * ``REFUSED``: it did not fit, or a policy or a limit excluded it.
    * ``DECLINED``: its project did not accept the offer.
    * ``FAILED``: through no fault of its project.
    """

    QUEUED = "queued"
    CHANGED = "changed"
    PLACED = "placed"
    STARTED = "started"
    PREEMPTED = "preempted"
    BROKEN = "broken"
    DONE = "done"
    CANCELLED = "cancelled"
    REFUSED = "refused"
    DECLINED = "declined"
    FAILED = "failed"

    __hash__ = object.__hash__
