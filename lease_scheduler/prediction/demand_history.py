"""How the demand of others grew, at every time of the past, and how often it grew too soon.

This is the time to increase of Pucher 2016, section 5.3.3, in a form that a service can keep: the demand at the start
of each step of ten minutes and the highest one in it, for a limited number of days. It answers one question, for one
lifetime and one spare capacity at a time: in what share of the past was the spare capacity used up within the lifetime?

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

from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.prediction.bmbp import Bmbp
from lease_scheduler.prediction.bounds import clopper_pearson
from lease_scheduler.prediction.coverage import Coverage

#: Seconds of a step.
STEP = 600
#: The demand is kept in billionths of the site: far finer than one node of any site, and compared with a tolerance
#: that is more than what rounding can add. A coarser unit answers differently for sites of 4 and of 5 equal hosts.
PARTS = 10**9
_TOLERANCE = 2

_DAY = 86_400 // STEP
_WEEK = 7 * _DAY
_HOUR = 3_600 // STEP
_BIN = 2 * _HOUR
_BINS = _DAY // _BIN
_GAP = -1
#: Hours that are looked at for changes of the process.
_HOURS = 1_000
#: Share of the hours that should stay within their bound.
_GROWTH = 0.95
#: A newest part of the past is looked at by itself from this many days, and this many lifetimes, on.
_LEAST_DAYS = 2
_LEAST_LIVES = 10
#: The present demand counts as no lower than the highest of this many lowest demands of the past: six hours.
_LOWEST = 6 * _HOUR
_ROUNDING = 1e-9


@dataclass(frozen=True)
class Survey:
    """How often a lifetime was not reached in the past.

    :ivar observations: number of lifetimes that fit into the past one after the other
    :ivar missed: in how many of them the spare capacity was used up too soon
    """

    observations: int
    missed: int

    def reaches(self, assurance: float, confidence: float) -> bool:
        """Return whether ``assurance(confidence)`` is at least this, without computing it where that is clear."""
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
    :ivar highest: its n-th row is the highest demand of the 2^n steps from each step on
    :ivar gaps: number of steps without observation before each step
    :ivar bins: time of week of each step
    :ivar low: the demand that is not exceeded in at least ``_LOWEST`` known steps
    """

    first: int
    starts: NDArray[np.integer[Any]]
    highest: Sequence[NDArray[np.integer[Any]]]
    gaps: NDArray[np.integer[Any]]
    bins: NDArray[np.integer[Any]]
    low: int

    def growth(self, begin: int, end: int, steps: int) -> NDArray[np.integer[Any]]:
        """Return by how much the demand grows within some steps, for each of the starts from ``begin`` to ``end``."""
        power = steps.bit_length() - 1
        row, rest = self.highest[power], steps - (1 << power)
        most = np.maximum(row[begin:end], row[begin + rest : end + rest])
        return np.asarray(most - self.starts[begin:end])


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
        self._masks: dict[int, list[NDArray[np.bool_]]] = {}
        self.coverage = Coverage()
        self.changed: set[int] = set()

    # -- observation ---------------------------------------------------------------------------------------

    def demand(self, now: int, share: float) -> None:
        """Tell which share of the site is in demand by others from now on.

        An instant before the last one, as when a clock is set back, counts as the last one.
        """
        self._begin(now, share)
        self._share = share
        self._raise(share)
        self._note()

    def refused(self, now: int, share: float) -> None:
        """Tell that others asked for this share in addition, and were refused."""
        self._begin(now, self._share)
        self._raise(self._share + share)
        self._note()

    def pass_to(self, now: int) -> None:
        """Tell that the demand has not changed until now. Without any demand so far, this tells nothing.

        It makes no difference how often this is told. What follows from the passing of time alone is stored once an
        hour.
        """
        step = now // STEP
        if self._step is None or step <= self._step:
            return
        level = self._parts(self._share)
        oldest = step // _DAY - self._kept + 1
        for each in range(max(self._step + 1, oldest * _DAY), step + 1):
            if each % _HOUR == 0:
                self._hour_is_over(each)
            starts, mosts = self._day(each // _DAY)
            missing = each % _DAY - len(starts)
            starts += [_GAP] * missing + [level]
            mosts += [_GAP] * missing + [level]
            if each % _HOUR == 0:
                self.changed |= {each // _DAY, (each - 1) // _DAY} & self._days.keys()
        self._step = step
        for day in [day for day in self._days if day < oldest]:
            del self._days[day]
            self.changed.add(day)

    def _begin(self, now: int, share: float) -> None:
        """Pass to now. If nothing is known of the past, the history begins at this share, without a growth to it."""
        if self._step is None:
            self._step, self._share = now // STEP - 1, share
        self.pass_to(now)

    def resume(self, now: int, share: float) -> None:
        """Go on after an interruption.

        While no engine serves requests the demand does not grow, so it counts as unchanged for up to a day. A longer
        time is a gap, about which nothing is known.
        """
        if self._step is not None and now // STEP - self._step > _DAY:
            self._step = None
        self.demand(now, share)

    @staticmethod
    def _parts(share: float) -> int:
        return round(share * PARTS)

    def _raise(self, share: float) -> None:
        assert self._step is not None
        mosts = self._day(self._step // _DAY)[1]
        if mosts:
            mosts[-1] = max(mosts[-1], self._parts(share))

    def _note(self) -> None:
        """Have the present day stored."""
        assert self._step is not None
        self.changed.add(self._step // _DAY)

    def _day(self, day: int) -> tuple[list[int], list[int]]:
        return self._days.setdefault(day, ([], []))

    def _hour_is_over(self, step: int) -> None:
        """Detect a change in the growth of demand. After one, only newer history counts."""
        first = (step - _HOUR) % _DAY
        starts, mosts = self._days.get((step - _HOUR) // _DAY, ([], []))
        starts, mosts = starts[first : first + _HOUR], mosts[first : first + _HOUR]
        if len(starts) == _HOUR and _GAP not in starts:
            for known, value in ((self._growth, max(mosts) - starts[0]), (self._level, max(mosts))):
                bound = known.bound()
                if bound is not None:
                    bound += _TOLERANCE
                if known is self._growth and bound is not None:
                    self.coverage.judge(_GROWTH, step * STEP, held=value <= bound)
                if known.observe(value, bound) and bound is not None and value > bound:
                    # A demand that grows less than it used to, or falls, breaks no promise.
                    self._since = step - known.least * _HOUR
            self._table = None

    @property
    def has_begun(self) -> bool:
        """Whether any demand was told."""
        return self._step is not None

    @property
    def since(self) -> int:
        """Instant from which the history counts, because the growth of demand changed then; 0 if it never did."""
        return self._since * STEP

    # -- questions -----------------------------------------------------------------------------------------

    def survey(self, room: float, seconds: int, now: int, start: int | None = None) -> Survey:
        """Return how often the demand grew by more than the spare capacity within a lifetime.

        :param room: spare capacity, as a share of the site
        :param seconds: the lifetime
        :param now: the present instant, up to which the demand has not changed since it was last told
        :param start: instant at which the lifetime begins; None for now
        """
        self.pass_to(now)
        # The steps since the last hour are not in the table. Those at its end are too new for any lifetime anyway.
        table = self._table = self._table or self._computed()
        steps = -(-seconds // STEP) + 1
        begin = max(0, self._since - table.first)
        end = len(table.starts) - steps
        if end <= begin:
            return Survey(0, 0)
        is_missed = table.growth(begin, end, steps) > self._parts(room) + _TOLERANCE
        is_known: NDArray[np.bool_] | None = None
        if table.gaps[-1]:
            is_known = table.gaps[begin + steps : end + steps] == table.gaps[begin:end]
            is_missed &= is_known
        count = end - begin if is_known is None else int(np.count_nonzero(is_known))
        if not count:
            return Survey(0, 0)
        observations = -(-count // steps)
        similar = [each[begin:end] for each in self._similar(table, now if start is None else start)]
        share = largest_share(is_missed, is_known, similar, steps)
        return Survey(observations, math.ceil(share * observations - _ROUNDING))

    def _similar(self, table: _Table, start: int) -> list[NDArray[np.bool_]]:
        """Return which starts resemble this one: by the time of week, by the time of day, and by the demand."""
        present = start // STEP % _WEEK // _BIN
        found = self._masks.get(present)
        if found is None:
            found = self._masks[present] = [table.bins == present, table.bins % _BINS == present % _BINS]
        return [*found, table.starts <= max(self._parts(self._share), table.low) + _TOLERANCE]

    def _computed(self) -> _Table:
        self._masks = {}
        days = sorted(self._days)
        if not days:
            empty = np.zeros(0, dtype=np.int64)
            return _Table(0, empty, [empty], np.zeros(1, dtype=np.int64), empty, 0)
        length = (days[-1] - days[0] + 1) * _DAY
        starts = np.full(length, _GAP, dtype=np.int64)
        mosts = np.full(length, _GAP, dtype=np.int64)
        for day in days:
            place = (day - days[0]) * _DAY
            for whole, part in zip((starts, mosts), self._days[day], strict=True):
                whole[place : place + len(part)] = part
        length = (days[-1] - days[0]) * _DAY + len(self._days[days[-1]][0])
        starts, highest = starts[:length], [mosts[:length]]
        while 2 << (len(highest) - 1) <= length:
            row, half = highest[-1], 1 << (len(highest) - 1)
            highest.append(np.maximum(row[:-half], row[half:]))
        gaps = np.concatenate(([0], np.cumsum(starts == _GAP)))
        bins = (np.arange(length) + days[0] * _DAY) % _WEEK // _BIN
        known = starts[starts != _GAP]
        # Stored days may be damaged, so that nothing is known of them.
        lowest = min(_LOWEST, len(known)) - 1
        low = int(np.partition(known, lowest)[lowest]) if len(known) else 0
        return _Table(days[0] * _DAY, starts, highest, gaps, bins, low)

    # -- storage -------------------------------------------------------------------------------------------

    def stored_day(self, day: int) -> Mapping[str, Any] | None:
        """Return a day as plain values; None if it is not kept any more."""
        if day not in self._days:
            return None
        starts, mosts = self._days[day]
        return {"parts": PARTS, "starts": starts[:], "mosts": mosts[:]}

    def stored_rest(self) -> Mapping[str, Any]:
        """Return what is known beside the days, as plain values."""
        return {
            "parts": PARTS,
            "share": self._share,
            "since": self._since,
            "growth": self._growth.state(),
            "level": self._level.state(),
            "coverage": self.coverage.stored(),
        }

    def restore(self, days: Mapping[int, Mapping[str, Any]], rest: Mapping[str, Any] | None) -> None:
        """Go on with what was stored, without days that are not what ``stored_day`` returns.

        :raises InvalidValueError: the rest is not what ``stored_rest`` returns
        """
        self._clear()
        for day, stored in days.items():
            starts, mosts = _steps(stored.get("starts")), _steps(stored.get("mosts"))
            if stored.get("parts") == PARTS and starts and len(starts) == len(mosts):
                self._days[day] = starts, mosts
        if self._days:
            last = max(self._days)
            self._step = last * _DAY + len(self._days[last][0]) - 1
        if rest is None or rest.get("parts") != PARTS:
            return
        try:
            share, since = float(rest["share"]), int(rest["since"])
            self._growth.restore(rest["growth"])
            self._level.restore(rest["level"])
            self.coverage.restore(rest["coverage"])
        except (KeyError, TypeError, ValueError, OverflowError) as error:
            raise InvalidValueError("rest", f"must be what stored_rest() has returned: {error!r}") from None
        if not math.isfinite(share):
            raise InvalidValueError("rest", f"must have a finite share, not {share}")
        self._share, self._since = share, since


def largest_share(
    is_missed: NDArray[np.bool_], is_known: NDArray[np.bool_] | None, similar: Sequence[NDArray[np.bool_]], steps: int
) -> float:
    """Return the largest share of misses among all starts, the newest ones, and those that resemble the present.

    :param is_missed: by start, in the order of time: whether the lifetime was not reached
    :param is_known: whether it is known what became of a start; None if it always is
    :param similar: sets of starts that resemble the present
    :param steps: the lifetime in steps
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
