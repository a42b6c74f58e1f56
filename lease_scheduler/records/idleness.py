"""Since when a lease is idle, as it is stored."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Idleness:
    """A time in which the servers of a lease used nothing.

    :ivar since: instant at which this was first seen
    :ivar seconds: seconds for which it was seen since then, without the times in which it was not known
    :ivar seen: instant at which it was last seen
    :ivar told_at: instant at which the project was told, or None
    :ivar told_seconds: ``seconds`` at that instant
    """

    since: int
    seconds: int
    seen: int
    told_at: int | None = None
    told_seconds: int = 0
