"""Batch schedulers with whole nodes, which know run times: FCFS and EASY (Stillwell 2010, section 5.3.1)."""

from __future__ import annotations

import heapq
from collections import deque
from enum import Enum

import numpy as np

from lease_scheduler.fractional.arrays import Floats
from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.simulation.fractional.trace import Schedule, Trace


class Backfilling(Enum):
    """Which jobs may start before the first one of the queue.

    :cvar NONE: none (FCFS)
    :cvar EASY: those that do not delay it (Lifka 1995)
    :cvar LEGACY_EASY: those on nodes that it will not use, but not those that end before it starts. The published
        figures of EASY come from this defect
    """

    NONE = "FCFS"
    EASY = "EASY"
    LEGACY_EASY = "legacy EASY"


def run_batch(trace: Trace, backfilling: Backfilling) -> Schedule:
    """Return the schedule: each task has a node for itself, and runs at full speed.

    :raises InvalidValueError: a job has more tasks than there are nodes
    """
    if (trace.tasks > trace.nodes).any():
        job = int(np.argmax(trace.tasks > trace.nodes))
        raise InvalidValueError(f"tasks[{job}]", f"must be at most the number of nodes ({trace.nodes})")
    ends = np.full(len(trace.release), np.nan)
    queue: deque[int] = deque()
    running: list[tuple[float, int]] = []
    free = trace.nodes
    upcoming = 0
    while upcoming < len(ends) or queue:
        submission = float(trace.release[upcoming]) if upcoming < len(ends) else np.inf
        now = min(submission, running[0][0] if running else np.inf)
        while running and running[0][0] <= now:
            free += int(trace.tasks[heapq.heappop(running)[1]])
        while upcoming < len(ends) and trace.release[upcoming] <= now:
            queue.append(upcoming)
            upcoming += 1
        started = []
        while queue and trace.tasks[queue[0]] <= free:
            free -= int(trace.tasks[queue[0]])
            started.append(queue.popleft())
        for job in started:
            ends[job] = now + trace.processing[job]
            heapq.heappush(running, (float(ends[job]), job))
        if queue and backfilling is not Backfilling.NONE:
            free = _backfill(trace, queue, running, ends, now, free, legacy=backfilling is Backfilling.LEGACY_EASY)
    return Schedule(ends)


def _backfill(
    trace: Trace,
    queue: deque[int],
    running: list[tuple[float, int]],
    ends: Floats,
    now: float,
    free: int,
    *,
    legacy: bool,
) -> int:
    """Start jobs behind the first one of the queue that do not delay it. Return the number of nodes that stay free."""
    needed = int(trace.tasks[queue[0]])
    available, start = free, now
    for end, job in sorted(running):
        if available >= needed:
            break
        available += int(trace.tasks[job])
        start = end
    # Nodes that are free at the start of the first job and that it does not need, also counting those that end then.
    spare = free + sum(int(trace.tasks[job]) for end, job in running if end <= start) - needed
    for job in list(queue)[1:]:
        width = int(trace.tasks[job])
        in_time = not legacy and now + trace.processing[job] <= start
        if width > free or not (in_time or width <= spare):
            continue
        queue.remove(job)
        free -= width
        if not in_time:
            spare -= width
        ends[job] = now + trace.processing[job]
        heapq.heappush(running, (float(ends[job]), job))
    return free
