"""How the demand of others grew, at every time of the past, and how often it grew too soon.

This is the time to increase of Pucher 2016, section 5.3.3, in a form that a service can keep: the demand at the start
of each step of ten minutes and the highest one in it, for a limited number of days. The question is answered for one
lifetime and one spare room at a time: in what share of the past was the room taken within the lifetime?

Starts that overlap saw the same events. So as many observations count as lifetimes fit into the past one after the
other. The share of misses is the largest one among those of all starts and of the starts

* in the same two hours of the day, and of the week, since demand comes by day and on working days,
* at which the demand was as low as now or lower, since it then grows more than it does on the average,
* in the newest half of the past, its newest quarter, and so on, since the load may grow slowly.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lease_scheduler.prediction.bmbp import Bmbp
from lease_scheduler.prediction.bounds import clopper_pearson
from lease_scheduler.prediction.coverage import Coverage

#: Seconds of a step.
STEP = 600
#: The demand is kept in this many parts of the site; rounded so that a growth never looks smaller than it was.
PARTS = 64

_DAY = 86_400 // STEP
_WEEK = 7 * _DAY
_HOUR = 3_600 // STEP
_BIN = 2 * _HOUR
_BINS = _DAY // _BIN
_GAP = -1
#: Hours that are looked at for changes of the process.
_HOURS = 1_000
#: Share of the hours that is to keep their bound.
_GROWTH = 0.95
#: A newest part of the past is looked at by itself from this many days, and this many lifetimes, on.
_LEAST_DAYS = 2
_LEAST_LIVES = 10
#: With how many of the lowest demands of the past the present one is compared at least, if it is lower: six hours.
_LOWEST = 6 * _HOUR
_ROUNDING = 1e-9


@dataclass(frozen=True)
class Survey:
    """How often a lifetime was not reached in the past.

    :ivar observations: number of lifetimes that fit into the past one after the other
    :ivar missed: in how many of them the room was taken too soon
    """

    observations: int
    missed: int

    def reaches(self, assurance: float, confidence: float) -> bool:
        """Return whether ``assurance`` is at least so much, without computing it where that is clear."""
        allowed = 1.0 - assurance
        return self.missed <= allowed * self.observations and self.assurance(confidence) >= assurance

    def assurance(self, confidence: float) -> float:
        """Return the probability with which the lifetime is reached at least, with this confidence; 0 if unknown."""
        return 1.0 - clopper_pearson(self.missed, self.observations, confidence)[1]


@dataclass(frozen=True)
class _Table:
    """What is computed from the history at once.

    :ivar first: number of the first step
    :ivar starts: demand at the start of each step
    :ivar reached: by demand, for each step the first one from it on in which the demand is at least that
    :ivar gaps: number of steps without observation before each step
    :ivar bins: time of week of each step
    :ivar low: the demand that is not exceeded in so many steps that they tell something
    """

    first: int
    starts: NDArray[np.integer[Any]]
    reached: NDArray[np.integer[Any]]
    gaps: NDArray[np.integer[Any]]
    bins: NDArray[np.integer[Any]]
    low: int


class DemandHistory:
    """The demand of the past days.

    :param days: how many days are kept
    :ivar coverage: how often the demand of an hour grew within the bound that 95 % of the hours keep
    :ivar changed: days that differ from what was last stored, as numbers since the epoch
    """

    def __init__(self, days: int = 90) -> None:
        self._kept = days
        self._clear()

    def _clear(self) -> None:
        self._days: dict[int, tuple[list[int], list[int]]] = {}
        self._share = 0.0
        self._step: int | None = None
        self._since = 0
        self._growth = Bmbp(_GROWTH, window=_HOURS)
        self._level = Bmbp(window=_HOURS)
        self._table: _Table | None = None
        self._lives: dict[int, NDArray[np.integer[Any]]] = {}
        self._masks: dict[tuple[int, int], list[NDArray[np.bool_]]] = {}
        self.coverage = Coverage()
        self.changed: set[int] = set()

    # -- observation ---------------------------------------------------------------------------------------

    def demand(self, now: int, share: float) -> None:
        """Tell which share of the site is in demand by others from now on.

        An instant before the last one, as when a clock is set back, counts as the last one.
        """
        self.pass_to(now)
        self._share = share
        self._raise(share)

    def refused(self, now: int, share: float) -> None:
        """Tell that others asked for this share more, and were refused."""
        self.pass_to(now)
        self._raise(self._share + share)

    def pass_to(self, now: int) -> None:
        """Tell that the demand has not changed until now."""
        step = now // STEP
        if self._step is None:
            self._step = step - 1
        if step <= self._step:
            return
        if step - self._step > self._kept * _DAY:
            self._days.clear()
            self._step = step - 1
        start, most = math.floor(self._share * PARTS + _ROUNDING), self._parts(self._share)
        for each in range(self._step + 1, step + 1):
            if each % _HOUR == 0:
                self._hour_is_over(each)
            starts, mosts = self._day(each // _DAY)
            missing = each % _DAY - len(starts)
            starts += [_GAP] * missing + [start]
            mosts += [_GAP] * missing + [most]
            self.changed.add(each // _DAY)
        self._step = step
        for day in [day for day in self._days if day <= step // _DAY - self._kept]:
            del self._days[day]
            self.changed.add(day)

    def resume(self, now: int, share: float) -> None:
        """Go on after an interruption.

        While nobody serves requests the demand does not grow, so it counts as unchanged for up to a day. A longer time
        is a gap, about which nothing is known.
        """
        if self._step is not None and now // STEP - self._step > _DAY:
            self._step = now // STEP - 1
        self.demand(now, share)

    def _parts(self, share: float) -> int:
        return math.ceil(share * PARTS - _ROUNDING)

    def _raise(self, share: float) -> None:
        assert self._step is not None
        mosts = self._day(self._step // _DAY)[1]
        if mosts and self._parts(share) > mosts[-1]:
            mosts[-1] = self._parts(share)
            self.changed.add(self._step // _DAY)

    def _day(self, day: int) -> tuple[list[int], list[int]]:
        return self._days.setdefault(day, ([], []))

    def _hour_is_over(self, step: int) -> None:
        """Look whether the demand grows otherwise than it used to. Then only what is newer counts."""
        first = (step - _HOUR) % _DAY
        starts, mosts = self._days.get((step - _HOUR) // _DAY, ([], []))
        starts, mosts = starts[first : first + _HOUR], mosts[first : first + _HOUR]
        if len(starts) == _HOUR and _GAP not in starts:
            for known, value in ((self._growth, max(mosts) - starts[0]), (self._level, max(mosts))):
                bound = known.bound()
                if known is self._growth and bound is not None:
                    self.coverage.judge(_GROWTH, step * STEP, held=value <= bound)
                if known.observe(value) and bound is not None and value > bound:
                    # A demand that grows less than it used to, or falls, breaks no promise.
                    self._since = step - known.least * _HOUR
            self._table = None

    @property
    def since(self) -> int:
        """Instant of the last change of the demand, before which nothing counts; 0 if there was none."""
        return self._since * STEP

    # -- questions -----------------------------------------------------------------------------------------

    def survey(self, room: float, seconds: int, now: int) -> Survey:
        """Return how often the demand took more than this room within this time.

        :param room: share of the site
        """
        # The steps since the last hour are not in the table. Those at its end are too new for any lifetime anyway.
        table = self._table = self._table or self._computed()
        steps = -(-seconds // STEP) + 1
        begin = max(0, self._since - table.first)
        end = len(table.starts) - steps
        if end <= begin:
            return Survey(0, 0)
        is_missed = self._lives_of(table, room)[begin:end] < steps
        is_known: NDArray[np.bool_] | None = None
        if table.gaps[-1]:
            is_known = table.gaps[begin + steps : end + steps] == table.gaps[begin:end]
            is_missed &= is_known
        count = end - begin if is_known is None else int(np.count_nonzero(is_known))
        if not count:
            return Survey(0, 0)
        observations = -(-count // steps)
        similar = [each[begin:end] for each in self._similar(table, now)]
        share = largest_share(is_missed, is_known, similar, steps)
        return Survey(observations, math.ceil(share * observations - _ROUNDING))

    def _similar(self, table: _Table, now: int) -> list[NDArray[np.bool_]]:
        """Return which starts resemble the present: by the time of week, by the time of day, and by the demand."""
        present = now // STEP % _WEEK // _BIN
        level = max(math.floor(self._share * PARTS + _ROUNDING), table.low)
        found = self._masks.get((present, level))
        if found is None:
            of_week, of_day = table.bins == present, table.bins % _BINS == present % _BINS
            found = self._masks[present, level] = [of_week, of_day, table.starts <= level]
        return found

    def _computed(self) -> _Table:
        self._lives, self._masks = {}, {}
        days = sorted(self._days)
        if not days:
            empty = np.zeros(0, dtype=np.int64)
            return _Table(0, empty, empty.reshape(1, 0), np.zeros(1, dtype=np.int64), empty, 0)
        length = (days[-1] - days[0] + 1) * _DAY
        starts = np.full(length, _GAP, dtype=np.int64)
        mosts = np.full(length, _GAP, dtype=np.int64)
        for day in days:
            place = (day - days[0]) * _DAY
            for whole, part in zip((starts, mosts), self._days[day], strict=True):
                whole[place : place + len(part)] = part
        length = (days[-1] - days[0]) * _DAY + len(self._days[days[-1]][0])
        starts, mosts = starts[:length], mosts[:length]
        steps = np.arange(length, dtype=np.int32)
        never = np.int32(1 << 30)
        reached = np.empty((int(mosts.max(initial=0)) + 2, length), dtype=np.int32)
        for level in range(len(reached)):
            instants = np.where(mosts >= level, steps, never)
            reached[level] = np.minimum.accumulate(instants[::-1])[::-1]
        gaps = np.concatenate(([0], np.cumsum(starts == _GAP)))
        bins = (steps + days[0] * _DAY) % _WEEK // _BIN
        known = starts[starts != _GAP]
        # Stored days may be damaged, so that nothing is known of them.
        lowest = min(_LOWEST, len(known)) - 1
        low = int(np.partition(known, lowest)[lowest]) if len(known) else 0
        return _Table(days[0] * _DAY, starts, reached, gaps, bins, low)

    def _lives_of(self, table: _Table, room: float) -> NDArray[np.integer[Any]]:
        """Return for each step how many steps later the demand has grown by more than this share of the site."""
        parts = max(math.floor(room * PARTS + _ROUNDING), -1)
        found = self._lives.get(parts)
        if found is None:
            steps = np.arange(len(table.starts))
            levels = np.clip(table.starts + parts + 1, 0, len(table.reached) - 1)
            found = self._lives[parts] = table.reached[levels, steps] - steps
        return found

    # -- storage -------------------------------------------------------------------------------------------

    def stored_day(self, day: int) -> Mapping[str, Any] | None:
        """Return a day as plain values; None if it is not kept any more."""
        if day not in self._days:
            return None
        starts, mosts = self._days[day]
        return {"starts": starts[:], "mosts": mosts[:]}

    def stored_rest(self) -> Mapping[str, Any]:
        """Return what is known beside the days, as plain values."""
        return {
            "share": self._share,
            "since": self._since,
            "growth": self._growth.state(),
            "level": self._level.state(),
            "coverage": self.coverage.stored(),
        }

    def restore(self, days: Mapping[int, Mapping[str, Any]], rest: Mapping[str, Any] | None) -> None:
        """Go on with what was stored, without days that are not what ``stored_day`` returns."""
        self._clear()
        for day, stored in days.items():
            starts, mosts = _steps(stored.get("starts")), _steps(stored.get("mosts"))
            if starts and len(starts) == len(mosts):
                self._days[day] = starts, mosts
        if self._days:
            last = max(self._days)
            self._step = last * _DAY + len(self._days[last][0]) - 1
        if rest is not None:
            self._growth.restore(rest["growth"])
            if "level" in rest:
                self._level.restore(rest["level"])
            if "coverage" in rest:
                self.coverage.restore(rest["coverage"])
            self._share, self._since = float(rest["share"]), int(rest["since"])


def largest_share(
    is_missed: NDArray[np.bool_], is_known: NDArray[np.bool_] | None, similar: Sequence[NDArray[np.bool_]], steps: int
) -> float:
    """Return the largest share of misses among all starts, the newest ones, and those that resemble the present.

    :param is_missed: by start, in the order of time: whether the lifetime was not reached
    :param is_known: whether it is known what became of a start; None if it always is
    :param similar: sets of starts that resemble the present
    :param steps: the lifetime
    """
    missed, counts = [np.count_nonzero(is_missed & each) for each in similar], []
    for each in similar:
        counts.append(np.count_nonzero(each if is_known is None else each & is_known))
    newest = len(is_missed)
    while newest == len(is_missed) or newest >= max(_LEAST_DAYS * _DAY, _LEAST_LIVES * steps):
        missed.append(np.count_nonzero(is_missed[-newest:]))
        counts.append(np.int64(newest) if is_known is None else np.count_nonzero(is_known[-newest:]))
        newest //= 2
    return max(part / count for part, count in zip(missed, counts, strict=True) if count)


def parts_of_week(first: int, count: int, now: int) -> list[NDArray[np.bool_]]:
    """Return which steps lie in the same two hours of the week as now, and in the same two hours of the day.

    :param first: number of the first step
    :param count: number of steps
    """
    present = now // STEP % _WEEK // _BIN
    bins = (first + np.arange(count)) % _WEEK // _BIN
    return [bins == present, bins % _BINS == present % _BINS]


def _steps(values: Any) -> list[int]:
    """Return the steps of a day; empty if they are damaged."""
    if not isinstance(values, list) or len(values) > _DAY or not all(isinstance(each, int) for each in values):
        return []
    return [*values]
