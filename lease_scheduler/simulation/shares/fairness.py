"""Bounds of the lag between flows: the difference of their completed work per weight.

See Grit 2007, theorems 5.3.1 and 5.6.1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction


@dataclass(frozen=True)
class Backlog:
    """A flow that always has a request that can be served.

    :ivar weight: its weight
    :ivar largest: largest cost of one of its requests
    """

    weight: Fraction
    largest: int

    @property
    def normalised(self) -> Fraction:
        """The largest cost per weight."""
        return self.largest / self.weight


def lag_bound(hosts: int, one: Backlog, other: Backlog, preempted: int = 0) -> Fraction:
    """Return by how much the completed work of two flows, per weight, may differ in any interval.

    The term for preempted requests is divided by the weights, which the dissertation omits in its formula 5.18: a
    request that is preempted delays the work of its flow by its cost per weight.

    :param preempted: number of requests that are preempted in the interval
    """
    largest = max(one.normalised, other.normalised)
    return (hosts + 1) * (one.normalised + other.normalised) + preempted * largest


def largest_lag(
    completions: Sequence[tuple[int, int]], others: Sequence[tuple[int, int]], weight: Fraction, other_weight: Fraction
) -> Fraction:
    """Return the largest difference of completed work per weight of two flows, over all intervals between completions.

    :param completions: instant and cost of each completed request of the first flow
    :param others: the same for the second flow
    """
    events = sorted(
        [(at, cost / weight) for at, cost in completions] + [(at, -cost / other_weight) for at, cost in others]
    )
    difference = least = most = Fraction(0)
    largest = Fraction(0)
    for number, (at, change) in enumerate(events):
        difference += change
        if number + 1 < len(events) and events[number + 1][0] == at:
            continue
        largest = max(largest, difference - least, most - difference)
        least, most = min(least, difference), max(most, difference)
    return largest
