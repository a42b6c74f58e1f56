"""Idle times of leases, as they are stored."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Idleness:
    """A time in which the servers of a lease used nothing.

    :ivar since: instant at which this was first observed
    :ivar seconds: seconds since then for which it was observed; times without observations do not count
    :ivar seen: instant at which it was last observed
    :ivar told_at: instant at which the project was told, or None
    :ivar told_seconds: value of ``seconds`` at ``told_at``
    """

    since: int
    seconds: int
    seen: int
    told_at: int | None = None
    told_seconds: int = 0
