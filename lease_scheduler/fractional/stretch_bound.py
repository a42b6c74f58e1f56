"""A lower bound of the largest stretch, from what is known when all is over (Stillwell 2010, section 5.1.2, theorem 1).

The stretch of a job is the time from its submission to its end by the time that it takes alone. For a given stretch,
each job has a deadline. Whether all deadlines can be kept is a question of flow: work flows from jobs through the
intervals between submissions and deadlines to the nodes. Memory, and the time that moves take, are left out, so no
schedule has a smaller largest stretch.
"""

from __future__ import annotations

import numpy as np

from lease_scheduler.fractional.arrays import Floats, Integers
from lease_scheduler.fractional.kernels import compiled
from lease_scheduler.model.errors import InvalidValueError

#: Shortest time that a job is taken to need alone, in seconds, so that the shortest jobs do not decide everything.
SHORTEST = 10.0

#: Part of all work that may be missing because of rounding errors.
_MISSING = 1e-9


def stretch_bound(
    nodes: int,
    release: Floats,
    processing: Floats,
    width: Floats,
    *,
    shortest: float = SHORTEST,
    precision: float = 0.005,
) -> float:
    """Return a largest bounded stretch that no schedule can be below.

    It is at least 1, and within ``precision`` of the smallest one that flows allow, from below.

    :param nodes: number of nodes
    :param release: submission of each job, in seconds
    :param processing: seconds that each job takes alone, more than 0
    :param width: nodes that each job can use at most: tasks x CPU need, more than 0
    :param shortest: seconds by which the stretch of shorter jobs is measured
    :raises InvalidValueError: a job is wider than all nodes, or a number is not more than 0
    """
    for field, values in (("processing", processing), ("width", width)):
        if not (values > 0).all():
            raise InvalidValueError(field, "must be more than 0")
    if (width > nodes).any():
        raise InvalidValueError("width", f"must be at most the number of nodes ({nodes}), not {width.max():g}")
    if not len(release):
        return 1.0
    scale = np.maximum(processing, shortest)

    def can_keep(stretch: float) -> bool:
        # A shorter job may take longer than its stretch allows it, but never less time than alone.
        return _flows(nodes, release, np.maximum(release + stretch * scale, release + processing), processing, width)

    if can_keep(1.0):
        return 1.0
    low, high = 1.0, 2.0
    while not can_keep(high):
        low, high = high, 2 * high
    while high - low > precision * low:
        middle = (low + high) / 2
        if can_keep(middle):
            high = middle
        else:
            low = middle
    return low


def _flows(nodes: int, release: Floats, deadline: Floats, processing: Floats, width: Floats) -> bool:
    """Return whether all jobs can be done between their release and deadline."""
    instants = np.unique(np.concatenate([release, deadline]))
    lengths = np.diff(instants)
    work = processing * width
    first, last = np.searchsorted(instants, release), np.searchsorted(instants, deadline)
    flow = _flow(first, last, lengths, work, width, float(nodes), float(work.sum()) * _MISSING / len(work))
    return bool(flow >= work.sum() * (1 - _MISSING))


@compiled
def _flow(
    first: Integers, last: Integers, lengths: Floats, work: Floats, width: Floats, nodes: float, least: float
) -> float:
    """Return the largest flow of work (Dinic's algorithm).

    Vertices are the source, the jobs, the intervals, and the sink. The edges of a vertex are a linked list; an edge and
    its reverse differ in the last bit.

    :param least: what is below this does not count
    """
    jobs, intervals = len(work), len(lengths)
    count = jobs + intervals + 2
    source, sink = 0, count - 1
    edges = 2 * (jobs + intervals + int((last - first).sum()))
    target = np.empty(edges, np.int64)
    room = np.zeros(edges)
    following = np.empty(edges, np.int64)
    head = np.full(count, -1)
    used = 0
    for job in range(jobs):
        used = _connect(target, room, following, head, used, source, 1 + job, work[job])
        for interval in range(first[job], last[job]):
            most = lengths[interval] * width[job]
            used = _connect(target, room, following, head, used, 1 + job, 1 + jobs + interval, most)
    for interval in range(intervals):
        used = _connect(target, room, following, head, used, 1 + jobs + interval, sink, nodes * lengths[interval])
    total = 0.0
    level = np.empty(count, np.int64)
    queue = np.empty(count, np.int64)
    path = np.empty(count, np.int64)
    cursor = np.empty(count, np.int64)
    while True:
        level[:] = -1
        level[source] = 0
        queue[0] = source
        begin, end = 0, 1
        while begin < end:
            vertex = queue[begin]
            begin += 1
            edge = head[vertex]
            while edge >= 0:
                if room[edge] > least and level[target[edge]] < 0:
                    level[target[edge]] = level[vertex] + 1
                    queue[end] = target[edge]
                    end += 1
                edge = following[edge]
        if level[sink] < 0:
            return total
        cursor[:] = head
        depth = 0
        vertex = source
        while True:
            if vertex == sink:
                amount = np.inf
                for step in range(depth):
                    amount = min(amount, room[path[step]])
                back = depth
                for step in range(depth - 1, -1, -1):
                    room[path[step]] -= amount
                    room[path[step] ^ 1] += amount
                    if room[path[step]] <= least:
                        back = step
                total += amount
                depth = back
                vertex = target[path[depth] ^ 1]
                continue
            edge = cursor[vertex]
            while edge >= 0 and not (room[edge] > least and level[target[edge]] == level[vertex] + 1):
                edge = following[edge]
            cursor[vertex] = edge
            if edge >= 0:
                path[depth] = edge
                depth += 1
                vertex = target[edge]
            elif depth == 0:
                break
            else:
                depth -= 1
                vertex = target[path[depth] ^ 1]
                cursor[vertex] = following[cursor[vertex]]


@compiled
def _connect(
    target: Integers,
    room: Floats,
    following: Integers,
    head: Integers,
    used: int,
    one: int,
    other: int,
    capacity: float,
) -> int:
    """Add an edge and its reverse, and return the number of edges."""
    target[used], room[used], following[used], head[one] = other, capacity, head[one], used
    used += 1
    target[used], following[used], head[other] = one, head[other], used
    return used + 1
