"""What theory says of the largest stretch on one node (Stillwell 2010, section 5.1.2, theorems 2 to 4)."""

from __future__ import annotations

import heapq
import math

import numpy as np

from lease_scheduler.fractional.arrays import Floats
from lease_scheduler.model.errors import InvalidValueError


def equipartition(release: Floats, processing: Floats) -> Floats:
    """Return the end of each job if all unfinished jobs have equal shares of one node at all times.

    EQUIPARTITION needs no run times, and no algorithm that does not know them is better in the worst case: its largest
    stretch is at most the number of jobs times the smallest possible one (theorems 3 and 4).

    :param release: submission of each job, in seconds
    :param processing: seconds that each job takes alone, more than 0
    """
    ends = np.empty(len(release))
    # Jobs end in the order of the service that each has had, counted from the beginning for all of them alike.
    running: list[tuple[float, int]] = []
    served, now = 0.0, 0.0
    arrivals = sorted(range(len(release)), key=lambda job: release[job])
    for position in range(len(arrivals) + 1):
        until = float(release[arrivals[position]]) if position < len(arrivals) else math.inf
        while running and now + (running[0][0] - served) * len(running) <= until:
            goal, job = running[0]
            now += (goal - served) * len(running)
            served = goal
            ends[job] = now
            heapq.heappop(running)
        if position < len(arrivals):
            served += (until - now) / len(running) if running else 0.0
            now = until
            job = arrivals[position]
            heapq.heappush(running, (served + float(processing[job]), job))
    return ends


def hardest_for_equipartition(jobs: int) -> tuple[Floats, Floats]:
    """Return release and processing times for which EQUIPARTITION is the number of jobs times worse than needed.

    The stretch of its last job is the number of jobs n. To run each job when it is submitted, and the first one last,
    has a largest stretch of 1 + H(n - 1) (proof of theorem 4).

    :param jobs: at least 3
    :raises InvalidValueError: there are fewer
    """
    if jobs < 3:
        raise InvalidValueError("jobs", f"must be at least 3, not {jobs}")
    processing = (jobs - 1) / np.maximum(1, np.arange(jobs))
    release = np.concatenate([[0.0, 0.0], np.cumsum(processing[1:-1])])
    return release, processing


def online_limit(longest_by_shortest: float) -> float:
    """Return the competitive ratio that no on-line algorithm reaches, even if it knows run times (theorem 2).

    :param longest_by_shortest: longest processing time by the shortest, of at least three different ones
    """
    return float(longest_by_shortest ** (math.sqrt(2) - 1) / 2)
