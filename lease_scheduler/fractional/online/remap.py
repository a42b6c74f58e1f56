"""Mapping everything anew: MCB and MCB-stretch (Stillwell 2010, sections 5.2.2 and 5.2.6).

Jobs are given by decreasing priority. Those of the lowest priority are left out until the others can be packed; the
packing is that of the best target that a binary search finds. The tasks of the jobs that are kept are in one array of
nodes, job after job.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lease_scheduler.fractional.arrays import TOLERANCE, Floats, Integers
from lease_scheduler.fractional.kernels import compiled
from lease_scheduler.fractional.online.decisions import Jobs

#: Width of the intervals at which searches for a yield, and for the inverse of a stretch, end.
YIELD_WIDTH = 0.01
STRETCH_WIDTH = 1e-4

#: Smallest share of a node that a task gets when stretches are estimated.
SMALLEST_SHARE = 0.01


class Outlook(NamedTuple):
    """What stretches are estimated from; arrays by position in the order of priority.

    :ivar horizon: seconds until the end of the period; 0 to search for a yield instead
    :ivar flow: seconds since the submission of each job
    :ivar virtual: virtual time of each job
    """

    horizon: float
    flow: Floats
    virtual: Floats


class _Tasks(NamedTuple):
    """Jobs by decreasing priority; ``first`` is as in ``Jobs``.

    :ivar place: node of each task of jobs that keep their nodes, -1 for the others
    """

    cpu: Floats
    memory: Floats
    first: Integers
    place: Integers


class _Nodes(NamedTuple):
    """What others hold of each node, and what they leave of CPU and memory in all, in nodes."""

    load: Floats
    held: Floats
    cpu: float
    memory: float


@compiled
def map_anew(
    order: Integers,
    jobs: Jobs,
    place: Integers,
    keeps: NDArray[np.bool_],
    others_load: Floats,
    others_held: Floats,
    outlook: Outlook,
    literal: bool,
) -> tuple[int, Integers, Floats]:
    """Map as many jobs as possible anew.

    :param order: numbers of all jobs in the system, by decreasing priority
    :param place: node of each task of running jobs, sorted for each job
    :param keeps: whether the job keeps its nodes, by position in ``order``
    :param others_load: what others than these jobs hold of the CPU of each node, at most 1
    :param others_held: what they hold of its memory, at most 1
    :param literal: search all targets before a job is left out. Otherwise it is left out if the easiest target of the
        search is too much, which is faster; packing is not monotone, so now and then a higher one might do
    :return: how many jobs are kept, from the first one on; the nodes of their tasks, sorted for each job; the yields
        that were aimed at
    """
    count = len(order)
    widths = jobs.first[order + 1] - jobs.first[order]
    first = np.zeros(count + 1, np.int64)
    first[1:] = np.cumsum(widths)
    fixed = np.full(first[count], -1)
    for position in range(count):
        if keeps[position]:
            begin = jobs.first[order[position]]
            fixed[first[position] : first[position + 1]] = place[begin : begin + widths[position]]
    tasks = _Tasks(jobs.cpu[order], jobs.memory[order], first, fixed)
    nodes = _Nodes(others_load, others_held, (1 - others_load).sum(), (1 - others_held).sum())
    demands = tasks.memory * widths
    kept = count
    demand = 0.0
    for position in range(count):
        demand += demands[position]
    while kept > 0 and demand > nodes.memory * (1 + TOLERANCE):
        kept -= 1
        demand -= demands[kept]
    by_cpu = _sorted(tasks.cpu, tasks.memory)
    by_memory = _sorted(tasks.memory, tasks.cpu)
    while kept > 0:
        found, yields = _search(kept, tasks, nodes, outlook, by_cpu, by_memory, literal)
        if len(found):
            return kept, found, yields
        kept -= 1
    return 0, np.empty(0, np.int64), np.empty(0)


@compiled
def pack_all(
    jobs: Jobs, place: Integers, keeps: NDArray[np.bool_], others_load: Floats, others_held: Floats
) -> Integers:
    """Return the nodes of the tasks of all jobs at the highest yield that the search finds, sorted for each job.

    :param place: node of each task
    :param keeps: whether the job keeps its nodes, by job
    :param others_load: as in ``map_anew``
    :param others_held: likewise
    :return: an empty array if not all of them can be packed
    """
    count = len(jobs.cpu)
    fixed = np.full(jobs.first[count], -1)
    for job in range(count):
        if keeps[job]:
            fixed[jobs.first[job] : jobs.first[job + 1]] = place[jobs.first[job] : jobs.first[job + 1]]
    tasks = _Tasks(jobs.cpu, jobs.memory, jobs.first, fixed)
    nodes = _Nodes(others_load, others_held, (1 - others_load).sum(), (1 - others_held).sum())
    nothing = np.empty(0)
    by_cpu, by_memory = _sorted(jobs.cpu, jobs.memory), _sorted(jobs.memory, jobs.cpu)
    return _search(count, tasks, nodes, Outlook(0.0, nothing, nothing), by_cpu, by_memory, False)[0]


@compiled
def _search(
    kept: int, tasks: _Tasks, nodes: _Nodes, outlook: Outlook, by_cpu: Integers, by_memory: Integers, literal: bool
) -> tuple[Integers, Floats]:
    """Return the packing of the highest target that the search finds and its yields, or empty arrays."""
    width = STRETCH_WIDTH if outlook.horizon > 0 else YIELD_WIDTH
    easiest = 0.5
    while easiest > width:
        easiest /= 2
    best, reached = np.empty(0, np.int64), np.empty(0)
    if not literal:
        aim = _aim(easiest, kept, tasks, outlook)
        if len(aim):
            best, reached = _pack(aim, kept, tasks, nodes, outlook, by_cpu, by_memory), aim
        if len(best) == 0:
            return best, reached
    low, high = 0.0, 1.0
    while high - low > width:
        target = (low + high) / 2
        # The easiest one has been tried.
        if not literal and target == easiest:
            break
        aim = _aim(target, kept, tasks, outlook)
        found = np.empty(0, np.int64)
        if len(aim):
            found = _pack(aim, kept, tasks, nodes, outlook, by_cpu, by_memory)
        if len(found):
            low = target
            best, reached = found, aim
        else:
            high = target
    return best, reached


@compiled
def _aim(target: float, kept: int, tasks: _Tasks, outlook: Outlook) -> Floats:
    """Return the yields that reach a target, or an empty array if a job would need more than full speed.

    :param target: yield of all jobs, or the inverse of the largest stretch at the end of the period
    """
    aim = np.full(kept, target)
    if outlook.horizon > 0:
        cpu, flow, virtual = tasks.cpu, outlook.flow, outlook.virtual
        for job in range(kept):
            needed = target * (flow[job] + outlook.horizon) - virtual[job]
            if needed > outlook.horizon:
                return np.empty(0)
            aim[job] = max(needed / outlook.horizon, min(1.0, SMALLEST_SHARE / cpu[job]))
    return aim


@compiled
def _sorted(first: Floats, second: Floats) -> Integers:
    """Return positions by decreasing first value, then by decreasing second one, equal ones as given."""
    by_second = np.argsort(-second, kind="mergesort")
    return by_second[np.argsort(-first[by_second], kind="mergesort")]


@compiled
def _pack(
    aim: Floats,
    kept: int,
    tasks: _Tasks,
    nodes: _Nodes,
    outlook: Outlook,
    by_cpu: Integers,
    by_memory: Integers,
) -> Integers:
    """Return the nodes of the tasks of the first jobs at some yields, or an empty array if they do not fit.

    Tasks are in two lists: those that take more CPU than memory, and the others. Nodes are filled one after the other,
    from the list that levels the loads of CPU and memory.
    """
    need = aim * tasks.cpu[:kept]
    # Fields are read once: a compiled loop counts references to arrays of tuples.
    memory, first = tasks.memory, tasks.first
    total = 0.0
    for job in range(kept):
        total += need[job] * (first[job + 1] - first[job])
    if total > nodes.cpu * (1 + 2 * TOLERANCE):
        return np.empty(0, np.int64)
    if outlook.horizon > 0:
        by_cpu = _sorted(need, memory[:kept])
        by_memory = _sorted(memory[:kept], need)
    load, held = nodes.load.copy(), nodes.held.copy()
    placed = tasks.place[: first[kept]].copy()
    left = np.zeros(kept, np.int64)
    missing = 0
    least_need, least_memory = np.inf, np.inf
    for job in range(kept):
        if placed[first[job]] < 0:
            left[job] = first[job + 1] - first[job]
            missing += left[job]
            least_need, least_memory = min(least_need, need[job]), min(least_memory, memory[job])
            continue
        for task in range(first[job], first[job + 1]):
            node = placed[task]
            load[node] += need[job]
            held[node] += memory[job]
            if load[node] > 1 + TOLERANCE or held[node] > 1 + TOLERANCE:
                return np.empty(0, np.int64)
    # Two linked lists of the jobs that have tasks left.
    heads, following = np.full(2, -1), np.full(kept, -1)
    for which in range(2):
        last = -1
        for job in by_cpu if which == 0 else by_memory:
            if job < kept and left[job] and (need[job] > memory[job]) == (which == 0):
                if last < 0:
                    heads[which] = job
                else:
                    following[last] = job
                last = job
    cursor, previous = np.empty(2, np.int64), np.empty(2, np.int64)
    for node in range(len(load)):
        if missing == 0:
            break
        # The loads of a node only grow, so what has not fitted will not.
        cursor[:] = heads
        previous[:] = -1
        while missing and load[node] + least_need <= 1 + TOLERANCE and held[node] + least_memory <= 1 + TOLERANCE:
            chosen = -1
            which = 0 if load[node] <= held[node] else 1
            for _ in range(2):
                while cursor[which] >= 0:
                    job = cursor[which]
                    if load[node] + need[job] <= 1 + TOLERANCE and held[node] + memory[job] <= 1 + TOLERANCE:
                        chosen = job
                        break
                    previous[which] = job
                    cursor[which] = following[job]
                if chosen >= 0:
                    break
                which = 1 - which
            if chosen < 0:
                break
            load[node] += need[chosen]
            held[node] += memory[chosen]
            placed[first[chosen + 1] - left[chosen]] = node
            left[chosen] -= 1
            missing -= 1
            if left[chosen] == 0:
                cursor[which] = following[chosen]
                if previous[which] < 0:
                    heads[which] = following[chosen]
                else:
                    following[previous[which]] = following[chosen]
    return placed if missing == 0 else np.empty(0, np.int64)
