"""Decision whether a lease is idle, whether its project is told, and whether it is ended.

Time counts only between two measurements of one engine that both found the lease idle, by a clock that cannot be set.
So no time counts while it is unknown whether a lease is used, and none when a clock jumps. A lease is ended only if its
project was told, and it has been idle for long enough since then.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from lease_scheduler.cloud.meters.base import Activity
from lease_scheduler.records.idleness import Idleness

#: Maximum number of intervals that count between two measurements.
_LONGEST_STEP = 2
#: Number of intervals without a result after which idle time counts from 0 again.
_LONGEST_GAP = 12


@dataclass(frozen=True)
class IdleOptions:
    """Options of idle leases: when projects are told and leases are ended.

    :ivar interval: seconds from one measurement to the next
    :ivar notify_after: idle seconds after which the project is told
    :ivar end_after: further idle seconds after which the lease is ended; 0 for never
    :ivar settling_time: seconds after the start of a lease, or after it resumes, in which it is not measured
    :ivar exempt: projects whose leases are never idle
    """

    interval: int = 600
    notify_after: int = 86_400
    end_after: int = 0
    settling_time: int = 600
    exempt: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Verdict:
    """Consequences of a measurement for a lease.

    :ivar idleness: what is known about the lease from now on; None if it is not idle
    :ivar notifies: whether its project is told now
    :ivar ends: whether it is ended now
    :ivar is_used_again: whether it is used after its project was told that it is idle
    """

    idleness: Idleness | None
    notifies: bool = False
    ends: bool = False
    is_used_again: bool = False


def verdict(
    known: Idleness | None, activity: Activity, now: int, elapsed: float | None, options: IdleOptions
) -> Verdict:
    """Return the consequences of the measurement of a lease.

    :param known: what was known before
    :param now: the present instant
    :param elapsed: seconds since the previous measurement, by a clock that cannot be set; None if that one did not find
        the lease idle, or another engine made it
    """
    if activity is Activity.USED:
        return Verdict(None, is_used_again=known is not None and known.told_at is not None)
    if activity is Activity.UNKNOWN:
        return Verdict(known)
    if known is None or now - known.seen > _LONGEST_GAP * options.interval:
        return Verdict(Idleness(now, 0, now))
    step = 0 if elapsed is None else int(min(max(0.0, elapsed), _LONGEST_STEP * options.interval))
    found = replace(known, since=min(known.since, now), seconds=known.seconds + step, seen=now)
    if found.told_at is None:
        if found.seconds < options.notify_after:
            return Verdict(found)
        return Verdict(replace(found, told_at=now, told_seconds=found.seconds), notifies=True)
    is_over = 0 < options.end_after <= found.seconds - found.told_seconds
    return Verdict(found, ends=is_over)
