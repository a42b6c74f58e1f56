"""Windows: all maximal intervals in which a number of nodes fits."""

from __future__ import annotations

from dataclasses import dataclass
from heapq import heapify, heappushpop

import numpy as np

from lease_scheduler.model.nodes import NodeSet
from lease_scheduler.plan.capacity.availability import IntArray, Places
from lease_scheduler.plan.context import PlanningContext
from lease_scheduler.plan.explaining.trials import Counts


@dataclass(frozen=True)
class Window:
    """An interval in which nodes fit.

    :ivar start: first second
    :ivar end: first second after the window
    :ivar count: number of nodes that fit at once during the whole window, each on one host throughout
    :ivar preempted: number of leases of each kind that a reservation of ``count`` nodes for all of it would preempt
    """

    start: int
    end: int
    count: int
    preempted: Counts = ()


@dataclass(frozen=True)
class Windows:
    """All windows for a number of nodes.

    :ivar windows: the maximal windows in the order of their starts: none lies within another, and none can be longer
        for the requested number of nodes. They may overlap.
    :ivar earliest: first instant from which the requested nodes fit for the requested duration; None if there is none
    """

    windows: tuple[Window, ...]
    earliest: int | None


def windows(context: PlanningContext, node_set: NodeSet, start: int, end: int, duration: int) -> Windows:
    """Return all maximal windows in ``[start, end)`` in which a node set fits for at least ``duration`` seconds.

    :param duration: seconds, at least 1
    """
    if end - start < duration:
        return Windows((), None)
    plan = context.plan
    demand = plan.demands_of((node_set,))[0]
    places = plan.availability.places(demand.amounts, demand.eligible, demand.per_host)
    found = tuple(
        Window(first, last, places.throughout(first, last))
        for first, last in maximal(places, demand.count, start, end)
        if last - first >= duration
    )
    return Windows(found, found[0].start if found else None)


def maximal(places: Places, count: int, start: int, end: int) -> list[tuple[int, int]]:
    """Return the maximal intervals in which ``count`` nodes fit throughout.

    Each interval in which a place is free is a run. From an instant on, the nodes fit until the count-th latest end of
    the runs that have begun by then. That end grows only when another run begins. So one pass over the runs in the
    order of their begins is enough, with the latest ends in a heap.
    """
    begins, ends = _runs(places, count, start, end)
    if len(begins) < count:
        return []
    # All runs that are open at the start are handled in one step.
    at_start = int(begins.searchsorted(start, side="right"))
    latest = np.sort(ends[:at_start])[-count:].tolist()
    # If there are fewer than ``count`` of them, fill up with runs that have already ended.
    latest = [start] * (count - len(latest)) + latest
    heapify(latest)
    found: list[tuple[int, int]] = []
    if latest[0] > start:
        found.append((start, latest[0]))
    position, total = at_start, len(begins)
    instants, until = begins.tolist(), ends.tolist()
    while position < total:
        instant, before = instants[position], latest[0]
        while position < total and instants[position] == instant:
            heappushpop(latest, until[position])
            position += 1
        if latest[0] > before and latest[0] > instant:
            found.append((instant, latest[0]))
    return found


def _runs(places: Places, count: int, start: int, end: int) -> tuple[IntArray, IntArray]:
    """Return the begins, ascending, and the ends of the runs of free places within ``[start, end)``."""
    begins, ends = [np.empty(0, dtype=np.int64)], [np.empty(0, dtype=np.int64)]
    for _, opened, closed in places.runs(count):
        within = (opened < end) & (closed > start)
        begins.append(np.maximum(opened[within], start))
        ends.append(np.minimum(closed[within], end))
    begin = np.concatenate(begins)
    order = begin.argsort(kind="stable")
    return begin[order], np.concatenate(ends)[order]
