"""When is there room: all windows in which so many VMs fit for so long."""

from __future__ import annotations

from dataclasses import dataclass
from heapq import heapify, heappushpop

import numpy as np

from lease_scheduler.model.lease import NodeSet
from lease_scheduler.plan.availability import IntArray, Places
from lease_scheduler.plan.context import PlanningContext
from lease_scheduler.plan.trials import Counts


@dataclass(frozen=True)
class Window:
    """An interval with room.

    :ivar start: its first second
    :ivar end: the first second after it
    :ivar count: VMs that fit at once during the whole of it, each staying where it is
    :ivar preempted: leases that would be preempted by a reservation of so many VMs for the whole of it, by kind
    """

    start: int
    end: int
    count: int
    preempted: Counts = ()


@dataclass(frozen=True)
class Windows:
    """When there is room.

    :ivar windows: the maximal ones, by their start: none lies within another one, and none can be made longer without
        losing VMs that are wanted; they may overlap
    :ivar earliest: first instant from which the VMs that are wanted fit for as long as is wanted, none if never
    """

    windows: tuple[Window, ...]
    earliest: int | None


def windows(context: PlanningContext, node_set: NodeSet, start: int, end: int, duration: int) -> Windows:
    """All maximal windows within ``[start, end)`` in which the VMs of a node set fit for at least ``duration`` seconds.

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
    """Return the maximal intervals in which so many VMs fit throughout.

    Every run of a free place is an interval. From an instant on, the VMs fit until the count-th latest end of the runs
    that have begun by then, which grows only when another run begins: one pass over the runs by their beginning, with
    the latest ends in a heap.
    """
    begins, ends = _runs(places, count, start, end)
    if len(begins) < count:
        return []
    # All that are open at the start are one step.
    at_start = int(begins.searchsorted(start, side="right"))
    latest = np.sort(ends[:at_start])[-count:].tolist()
    # Too few runs are filled up with such that have ended already.
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
    """Beginnings, ascending, and ends of the runs of free places within ``[start, end)``."""
    begins, ends = [np.empty(0, dtype=np.int64)], [np.empty(0, dtype=np.int64)]
    for _, opened, closed in places.runs(count):
        within = (opened < end) & (closed > start)
        begins.append(np.maximum(opened[within], start))
        ends.append(np.minimum(closed[within], end))
    begin = np.concatenate(begins)
    order = begin.argsort(kind="stable")
    return begin[order], np.concatenate(ends)[order]
