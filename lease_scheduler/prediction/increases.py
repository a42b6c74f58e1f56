"""How long it takes until the demand has grown by a number of slots (Pucher 2016, section 5.3.3).

The history is one of *demand*: requests that were refused for lack of capacity count as increases too. Otherwise the
demand of a full cloud would seem not to grow.
"""

from __future__ import annotations

from heapq import heappop, heappush

from lease_scheduler.prediction.bounds import Side
from lease_scheduler.prediction.day_bins import DayBins


class Increases:
    """Times until the demand has grown by 1, 2, ... slots, by time of day.

    :param capacity: slots of the cloud; growth up to one more is watched
    :param bin_seconds: length of a bin of the time of day; must divide a day
    :param offset: seconds that local time is ahead of the instants
    :raises InvalidValueError: the length of a bin does not divide a day
    """

    def __init__(self, capacity: int, bin_seconds: int = 7200, offset: int = 0) -> None:
        self._most = capacity + 1
        self._bins = [DayBins(bin_seconds, offset) for _ in range(self._most)]
        self._demand = 0
        # Open waits: the demand that ends the next one of a sample, its instant, and the growth that it waits for.
        self._waits: list[tuple[int, float, int]] = []

    def demand(self, now: float, slots: int) -> None:
        """Tell the demand from now on.

        :param slots: slots in use by the demand that is watched
        """
        while self._waits and self._waits[0][0] <= slots:
            level, start, growth = heappop(self._waits)
            self._bins[growth - 1].add(start, now - start)
            if growth < self._most:
                heappush(self._waits, (level + 1, start, growth + 1))
        self._demand = slots

    def refused(self, now: float, slots: int) -> None:
        """Tell that a request for this many slots was refused for lack of capacity."""
        present = self._demand
        self.demand(now, present + slots)
        self._demand = present

    def sample(self, now: float) -> None:
        """Begin to wait for all increases from the present demand on."""
        heappush(self._waits, (self._demand + 1, now, 1))

    def seconds(self, growth: int, preemption: float, now: float, confidence: float = 0.95) -> float:
        """Return the time that this growth of the demand takes at least, except with the stated probability.

        It is 0 if too few days are known. It never falls with the growth, as a larger increase comes after a smaller
        one. Waits that are still open do not count.

        :param growth: slots, at least 1; more than the capacity and one count as that
        :param preemption: probability that it happens earlier
        :raises InvalidValueError: a probability is not between 0 and 1
        """
        bounds = (self._bins[k].bound(now, preemption, confidence, Side.LOWER) for k in range(min(growth, self._most)))
        return max((bound for bound in bounds if bound is not None), default=0.0)
