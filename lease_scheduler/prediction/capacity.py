"""How many hosts a site can do without, or lacks, at which promise (Pucher 2016, sections 3.3.4, 3.4.3 and 4.3).

Only hours in which something was used count, since long idleness would dilute every quantile (section 3.4.2). The hours
of one day saw the same events, so as many observations count for the confidence as there are days with use.

What was refused is not in records of use. So a site that was full may lack more hosts than they show. And all of the
record counts alike, so the bounds are too low where the load grows: the report says whether it does.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.prediction.bounds import least_count, upper_rank
from lease_scheduler.prediction.demand_history import DemandHistory
from lease_scheduler.prediction.hot_spare import HotSpare, SpareRules

#: Promises that are reported unless others are asked for.
PROMISES = (0.9, 0.95, 0.99)
#: Highest promise and confidence: a bound of a higher one would take more days than any record has.
HIGHEST = 0.9999
_CONFIDENCE = 0.95
_HOUR, _DAY = 3_600, 86_400
#: Longest lifetime that is looked for: hours.
_LONGEST = 7 * 24
#: Ten years are enough for any report, and keep a wrong instant from taking all memory.
_MOST_HOURS = 10 * 366 * 24
#: Hosts are counted in thousandths where whole numbers are needed.
_PARTS = 1_000
_ROUNDING = 1e-9
#: The halves of the record are compared if each has at least this many days.
_LEAST_HALF = 5


@dataclass(frozen=True, slots=True)
class Use:
    """What was in use for some time.

    :ivar start: seconds since the epoch, or since any midnight
    :ivar end: likewise, later than ``start``
    :ivar hosts: how many hosts it took; may be a fraction
    """

    start: int
    end: int
    hosts: float


@dataclass(frozen=True)
class Need:
    """What a promise takes.

    :ivar promise: share of the hours with use whose demand is to find enough hosts
    :ivar hosts: how many that takes at least; None if too few days are known
    :ivar spare: how many of them to keep awake and free, so that in this share of the hours no start waits for a host
        to wake; None if too little is known
    :ivar lifetime: lifetime in seconds that the next preemptible lease on one of the present hosts reaches with this
        probability; 0 if nothing can be promised
    :ivar least_days: number of days that have to be known
    """

    promise: float
    hosts: int | None
    spare: int | None
    lifetime: int
    least_days: int


@dataclass(frozen=True)
class Trend:
    """The load in the older and in the newer half of the days with use.

    :ivar older: median of the highest demand of a day, in hosts
    :ivar newer: the same for the newer half
    :ivar grows: whether the newer days have significantly higher peaks, by the one-sided test of Mann and Whitney ("On
        a test of whether one of two random variables is stochastically larger than the other", Annals of Mathematical
        Statistics 18, 1947) at the confidence of the report
    """

    older: float
    newer: float
    grows: bool


@dataclass(frozen=True)
class CapacityReport:
    """What the use of a site says about the number of its hosts.

    :ivar hosts: how many there are
    :ivar days: days with use
    :ivar peaks: highest demand of each hour with use, in hosts, ascending
    :ivar mean: hosts in use on the average of all hours
    :ivar full: share of the hours with use in which less than one host in a thousand was free at some time
    :ivar needs: in the order of the promises
    :ivar trend: how the load develops; None with fewer than ten days with use
    """

    hosts: int
    days: int
    peaks: Sequence[float]
    mean: float
    full: float
    needs: tuple[Need, ...]
    trend: Trend | None = None

    @property
    def highest(self) -> float:
        """Return the highest demand, in hosts."""
        return self.peaks[-1] if self.peaks else 0.0

    def document(self) -> dict[str, Any]:
        """Return the report as plain values, with how many hosts can go for each promise; negative if some lack."""
        promises = [
            {
                "promise": need.promise,
                "hosts": need.hosts,
                "can_go": None if need.hosts is None else self.hosts - need.hosts,
                "spare": need.spare,
                "lifetime": need.lifetime,
                "least_days": need.least_days,
            }
            for need in self.needs
        ]
        return {
            "hosts": self.hosts,
            "days": self.days,
            "hours": len(self.peaks),
            "mean": round(self.mean, 3),
            "highest": round(self.highest, 3),
            "full": round(self.full, 4),
            "promises": promises,
        }


def capacity_report(
    uses: Iterable[Use], hosts: int, promises: Sequence[float] = PROMISES, confidence: float = _CONFIDENCE
) -> CapacityReport:
    """Return how many hosts the recorded use takes, for each promise.

    :param uses: in any order; they may overlap
    :param hosts: how many hosts the site has
    :param confidence: of all bounds
    :raises InvalidValueError: a number is out of range, or the record is longer than ten years
    """
    for name, value in (*(("promise", promise) for promise in promises), ("confidence", confidence)):
        if not 0 < value <= HIGHEST:
            raise InvalidValueError(name, f"must be more than 0 and at most {HIGHEST}, not {value}")
    if hosts < 0:
        raise InvalidValueError("hosts", f"must be at least 0, not {hosts}")
    steps = _levels(uses)
    if not any(level for _, level in steps):
        unknown = (Need(promise, None, None, 0, least_count(promise, confidence)) for promise in promises)
        return CapacityReport(hosts, 0, (), 0.0, 0.0, tuple(unknown))
    begin, end = steps[0][0] // _HOUR, -(-steps[-1][0] // _HOUR)
    if end - begin > _MOST_HOURS:
        raise InvalidValueError("history", f"must not be longer than ten years, not {(end - begin) // (24 * 366)}")
    peaks = np.zeros(end - begin)
    in_use = 0.0
    for (start, level), (until, _) in pairwise(steps):
        hours = slice(start // _HOUR - begin, -(-until // _HOUR) - begin)
        np.maximum(peaks[hours], level, out=peaks[hours])
        in_use += level * (until - start)
    active = np.flatnonzero(peaks)
    days = len(np.unique((active + begin) // 24))
    known = np.sort(peaks[active])
    typical = float(known[len(known) // 2])
    history = _history(steps, hosts, typical)
    needs = [
        Need(
            promise,
            _needed(known, days, promise, confidence),
            _spare(steps, promise, confidence),
            _lifetime(history, (hosts - typical - 1) / max(1, hosts), promise, confidence, steps[-1][0]),
            least_count(promise, confidence),
        )
        for promise in promises
    ]
    full = float(np.mean(known >= hosts * (1 - 1 / _PARTS)))
    mean = in_use / (steps[-1][0] - steps[0][0])
    trend = _trend(peaks, begin, confidence)
    return CapacityReport(hosts, days, known.tolist(), mean, full, tuple(needs), trend)


def _trend(peaks: NDArray[np.float64], begin: int, confidence: float) -> Trend | None:
    """Compare the highest demands of older and newer days with use.

    :param peaks: by hour
    :param begin: number of the first hour
    """
    from scipy.stats import mannwhitneyu  # type: ignore[import-untyped]

    whole = np.zeros(-(-(begin % 24 + len(peaks)) // 24) * 24)
    whole[begin % 24 : begin % 24 + len(peaks)] = peaks
    daily = whole.reshape(-1, 24).max(axis=1)
    daily = daily[daily > 0]
    half = len(daily) // 2
    if half < _LEAST_HALF:
        return None
    older, newer = daily[:half], daily[-half:]
    chance = float(mannwhitneyu(newer, older, alternative="greater").pvalue)
    return Trend(float(np.median(older)), float(np.median(newer)), chance <= 1 - confidence)


def _levels(uses: Iterable[Use]) -> list[tuple[int, float]]:
    """Return the instants at which the demand changes, and the demand from then on, which is 0 at last."""
    changes: dict[int, float] = {}
    for use in uses:
        if use.end > use.start and use.hosts > 0:
            changes[use.start] = changes.get(use.start, 0.0) + use.hosts
            changes[use.end] = changes.get(use.end, 0.0) - use.hosts
    found, level = [], 0.0
    for instant in sorted(changes):
        level += changes[instant]
        found.append((instant, max(0.0, round(level, 9))))
    return found


def _needed(peaks: NDArray[np.float64], days: int, promise: float, confidence: float) -> int | None:
    """Return the upper confidence bound of the quantile of the hourly demand, in whole hosts."""
    rank = upper_rank(days, promise, confidence)
    if rank is None:
        return None
    # The same share of all hours: they are more, but say no more about the confidence.
    place = min(len(peaks), -(-rank * len(peaks) // days)) - 1
    return math.ceil(float(peaks[place]) - _ROUNDING)


def _spare(steps: Sequence[tuple[int, float]], promise: float, confidence: float) -> int | None:
    """Return how many hosts must be free for what is requested in an hour."""
    rules = SpareRules(promise, confidence)
    learning = HotSpare(replace(rules, most_epochs=max(rules.most_epochs, least_count(promise, confidence))))
    hour, before = steps[0][0] // _HOUR, 0.0
    for instant, level in steps:
        while hour < instant // _HOUR:
            learning.end_epoch()
            hour += 1
        change = round((level - before) * _PARTS)
        if change > 0:
            learning.started(change)
        else:
            learning.ended(-change)
        before = level
    cores = learning.cores()
    return None if cores is None else math.ceil(cores / _PARTS)


def _history(steps: Sequence[tuple[int, float]], hosts: int, typical: float) -> DemandHistory:
    """Return the demand as the assurance policies know it, with the typical demand at the end."""
    history = DemandHistory()
    for instant, level in steps:
        history.demand(instant, level / max(1, hosts))
    history.demand(steps[-1][0], typical / max(1, hosts))
    return history


def _lifetime(history: DemandHistory, room: float, promise: float, confidence: float, now: int) -> int:
    """Return the longest lifetime in hours, as seconds, that is reached with this probability."""
    low, high = 0, _LONGEST if room >= 0 else 0
    while high > low:
        middle = (low + high + 1) // 2
        if history.survey(room, middle * _HOUR, now).reaches(promise, confidence):
            low = middle
        else:
            high = middle - 1
    return low * _HOUR
