"""Step functions: quantities that change at instants and are constant in between, such as utilisation."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lease_scheduler.model.errors import InvalidValueError


@dataclass(frozen=True)
class StepFunction:
    """A function that is ``values[i]`` in ``[times[i], times[i + 1])``, the last value until ``end``, and 0 elsewhere.

    Consecutive values differ.

    :ivar times: instants in s, int64, strictly increasing, at least one
    :ivar values: the value from each of these instants on, float64, same shape
    :ivar end: first second after the last value; equal to the first of the times for a function of no length
    """

    times: NDArray[np.int64]
    values: NDArray[np.float64]
    end: int

    @classmethod
    def from_changes(
        cls, instants: NDArray[np.int64], changes: NDArray[np.int64], begin: int, end: int
    ) -> StepFunction:
        """Return the function over ``[begin, end]`` of a quantity that starts at 0 and changes by whole amounts.

        :param instants: instants of the changes in s, in any order; they may be repeated or precede ``begin``
        :param changes: amounts of the changes, same shape
        """
        instants = np.concatenate(([begin], np.maximum(instants, begin)))
        changes = np.concatenate(([0], changes))
        times, position = np.unique(instants, return_inverse=True)
        sums = np.zeros(len(times), dtype=np.int64)
        np.add.at(sums, position, changes)
        values = np.cumsum(sums)
        kept = np.concatenate(([True], (values[1:] != values[:-1]) & (times[1:] < end)))
        return cls(times[kept].astype(np.int64), values[kept].astype(np.float64), end)

    def scaled(self, divisor: float) -> StepFunction:
        """Return the function divided by a positive number."""
        return StepFunction(self.times, self.values / divisor, self.end)

    def integral(self, instants: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the area, in value times seconds, from the beginning of the function to each of the instants."""
        knots = np.append(self.times, self.end)
        areas = np.concatenate(([0.0], np.cumsum(self.values * np.diff(knots))))
        return np.interp(instants, knots, areas)

    def averages(self, edges: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the time-weighted average between each edge and the next.

        :param edges: instants in s, strictly increasing
        :return: array with one element less than ``edges``
        """
        return np.asarray(np.diff(self.integral(edges)) / np.diff(edges), dtype=np.float64)

    def average(self, begin: float, end: float) -> float:
        """Return the time-weighted average in ``[begin, end)``.

        :raises InvalidValueError: the interval is empty
        """
        if end <= begin:
            raise InvalidValueError("end", f"must be after begin ({begin} s), not {end} s")
        return float(self.averages(np.array([begin, end], dtype=np.float64))[0])

    def running_averages(self) -> NDArray[np.float64]:
        """Return, for each of the times, the average since the first time; for the first time, the value itself.

        This is the third column of Haizea's counters (Sotomayor 2010, appendix A.6).
        """
        elapsed = (self.times - self.times[0]).astype(np.float64)
        areas = self.integral(self.times.astype(np.float64))
        averages = self.values.copy()
        np.divide(areas, elapsed, out=averages, where=elapsed > 0)
        return averages
