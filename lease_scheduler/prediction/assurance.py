"""For how long an instance is assured to live, by the number of free slots (Pucher 2016, sections 4.3 and 4.4.2)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

from lease_scheduler.prediction.bounds import check_probability, lower_rank
from lease_scheduler.prediction.lifetimes import Lifetime


class AssuranceTable:
    """The lifetime that an instance reaches with a stated probability, for each number of free slots.

    Without ``confidence`` it is the quantile of the samples. The chance that the next instance ends earlier is at most
    ``preemption``, if samples are independent. The k-th smallest of n is more than the next one with probability
    ``k / (n + 1)``, which is a third for the smaller of two, whatever was promised. So k is rounded down, and a level
    with too few samples is pooled with those right below it, as few as possible.

    Without ``pools`` either, k is rounded up, and each level has only its own samples, as in the dissertation. With few
    samples for a level, such a promise is not kept.

    With ``confidence``, it is a lower confidence bound of the quantile, computed from as many samples as do not
    overlap, since overlapping ones saw the same events. A level with too few of them is pooled with those below it,
    which have fewer free slots.

    Levels between two known ones are interpolated. Above the highest known level its value holds, and below the lowest
    one the line from 0 at no slots.

    :param lifetimes: samples, those that still live with what they have reached so far
    :param preemption: largest probability that an instance ends earlier
    :param confidence: of the bound; None for the quantile itself
    :param pools: whether levels are pooled for the quantile itself; False as in the dissertation
    :ivar levels: seconds for the levels that are known from samples, 0 slots included
    :ivar counts: number of samples for each level
    :raises InvalidValueError: a probability is not between 0 and 1
    """

    def __init__(
        self,
        lifetimes: Iterable[Lifetime],
        preemption: float,
        confidence: float | None = None,
        *,
        pools: bool = True,
    ) -> None:
        check_probability("preemption", preemption)
        if confidence is not None:
            check_probability("confidence", confidence)
        groups: dict[int, list[Lifetime]] = {}
        for each in lifetimes:
            groups.setdefault(each.slots, []).append(each)
        self.counts: dict[int, int] = {level: len(groups[level]) for level in sorted(groups)}
        self.levels: dict[int, float] = {0: 0.0}
        if pools and confidence is None:
            self.levels.update(_pooled(groups, preemption))
            return
        pool: list[Lifetime] = []
        for level in self.counts:
            if confidence is None:
                self.levels[level] = _quantile(groups[level], preemption)
                continue
            pool = [*pool, *groups[level]]
            for samples in (groups[level], pool):
                bound = _lower_bound(samples, preemption, confidence)
                if bound is not None:
                    self.levels[level] = bound
                    break

    def seconds(self, slots: int) -> float:
        """Return for how long an instance is assured to live from now on.

        :param slots: how many instances of the size fit, that one included
        """
        return interpolated(self.levels, slots)

    def admits(self, slots: int, seconds: float) -> bool:
        """Return whether an instance is assured to live for this many seconds."""
        return slots > 0 and self.seconds(slots) >= seconds


def interpolated(levels: Mapping[int, float], level: int) -> float:
    """Return the value of a level on the line between the known ones next to it; above the highest, its value.

    :param levels: values of known levels, of which one must be at most ``level``
    """
    if level in levels:
        return levels[level]
    below = max(known for known in levels if known < level)
    above = min((known for known in levels if known > level), default=None)
    if above is None:
        return levels[below]
    share = (level - below) / (above - below)
    return levels[below] + share * (levels[above] - levels[below])


def independent_count(lifetimes: Sequence[Lifetime]) -> int:
    """Return how many of the samples do not overlap, taking them in the order of their starts."""
    count, end = 0, -math.inf
    for each in sorted(lifetimes, key=lambda each: each.start):
        if each.start >= end:
            count += 1
            end = each.start + each.seconds
    return count


def _quantile(lifetimes: Sequence[Lifetime], probability: float) -> float:
    rank = max(1, math.ceil(round(probability * len(lifetimes), 9)))
    return sorted(each.seconds for each in lifetimes)[rank - 1]


def _pooled(groups: Mapping[int, Sequence[Lifetime]], probability: float) -> dict[int, float]:
    """Return the quantiles of levels, each pooled with the fewest levels below it that make it known."""
    known = sorted(groups)
    found: dict[int, float] = {}
    for place, level in enumerate(known):
        pool: list[float] = []
        for below in reversed(known[: place + 1]):
            pool += [each.seconds for each in groups[below]]
            rank = math.floor(round(probability * (len(pool) + 1), 9))
            if rank:
                found[level] = sorted(pool)[rank - 1]
                break
    return found


def _lower_bound(lifetimes: Sequence[Lifetime], probability: float, confidence: float) -> float | None:
    independent = independent_count(lifetimes)
    rank = lower_rank(independent, probability, confidence)
    if rank is None:
        return None
    # The same share of all samples: they are more, and describe the distribution better, but say no more about it.
    rank = max(1, rank * len(lifetimes) // independent)
    return sorted(each.seconds for each in lifetimes)[rank - 1]
