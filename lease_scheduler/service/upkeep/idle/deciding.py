"""The decision whether a lease is idle, whether its project is told, and whether it is ended.

Time counts only between two measurements of one engine that both found a lease idle, and it is measured by a clock that
cannot be set. So nothing counts while it is not known whether a lease is used, and nothing because a clock jumps. A
lease is ended only if its project was told, and its idle time has gone on for long enough since then.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from lease_scheduler.cloud.meters.base import Activity
from lease_scheduler.records.idleness import Idleness

#: Number of intervals that one measurement counts for at most.
_LONGEST_STEP = 2
#: Number of intervals without a measurement after which idle time counts from the beginning again.
_LONGEST_GAP = 12


@dataclass(frozen=True)
class IdleOptions:
    """When projects are told and leases are ended.

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
    """What follows from a measurement.

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
    """Return what follows from the measurement of a lease.

    :param known: what was known before
    :param now: the present instant
    :param elapsed: seconds since the measurement before, by a clock that cannot be set; None if that did not find the
        lease idle, or was made by another engine
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
