"""Servers of external requests that local requests interrupt (Amini Salehi 2012, section 5.2).

Local requests do not notice external ones. So the time in which a server has no local requests is known beforehand, and
external requests are served in that time as if there were no others.
"""

from __future__ import annotations

from collections import deque

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


class IdleTime:
    """The time that local requests leave idle on a server.

    :param arrival: seconds at which they arrive, ascending; they are served one after the other
    :param service: seconds that each of them takes
    """

    def __init__(self, arrival: Floats, service: Floats) -> None:
        # The end of each service if the server had been busy since the zero, less the idle time before it (Lindley).
        work = service.cumsum()
        idle_before = np.maximum.accumulate(np.maximum(arrival - (work - service), 0)) if len(arrival) else arrival
        end = work + idle_before
        is_last = np.append(arrival[1:] > end[:-1], True) if len(arrival) else np.empty(0, dtype=bool)
        is_first = np.append(True, is_last[:-1]) if len(arrival) else is_last
        #: When each idle interval begins and ends; the last one has no end.
        self._begin = np.concatenate(([0.0], end[is_last]))
        self._end = np.concatenate((arrival[is_first], [np.inf]))
        lengths = self._end[:-1] - self._begin[:-1]
        #: Idle seconds before each idle interval.
        self._before = np.concatenate(([0.0], lengths.cumsum()))

    def until(self, instants: Floats) -> Floats:
        """Return the idle seconds before each instant."""
        interval = self._begin.searchsorted(instants, side="right") - 1
        found: Floats = self._before[interval] + np.minimum(instants, self._end[interval]) - self._begin[interval]
        return found

    def instants(self, idle: Floats) -> Floats:
        """Return the instants at which the given idle seconds have passed."""
        interval = np.maximum(0, self._before.searchsorted(idle, side="left") - 1)
        found: Floats = self._begin[interval] + idle - self._before[interval]
        return found


def serve(arrival: Floats, service: Floats, places: int | None) -> Floats:
    """Return the ends of the requests of one server; NaN for those that are not admitted.

    :param arrival: seconds at which they arrive, ascending
    :param service: seconds that each takes
    :param places: how many may be there at a time, the one in service included; None for any number
    """
    ends: list[float] = []
    there: deque[float] = deque()
    free = 0.0
    for arrives, takes in zip(arrival.tolist(), service.tolist(), strict=True):
        while there and there[0] <= arrives:
            there.popleft()
        if places is not None and len(there) >= places:
            ends.append(np.nan)
            continue
        free = max(free, arrives) + takes
        there.append(free)
        ends.append(free)
    return np.array(ends)
