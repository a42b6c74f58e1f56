"""Where a job starts, and which jobs are paused for it (Stillwell 2010, sections 5.2.1 and 5.2.3).

The decisions see the system as it is, and know nothing of run times. They change nothing.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lease_scheduler.fractional.arrays import TOLERANCE, Floats, Integers
from lease_scheduler.fractional.kernels import compiled


class Jobs(NamedTuple):
    """What jobs need, by the number of the job.

    The tasks of all jobs are numbered too: those of job number k are from ``first[k]`` to ``first[k + 1]`` (excluded).

    :ivar cpu: CPU need of each task, more than 0 and at most 1 node
    :ivar memory: memory of each task, from 0 to 1 node
    :ivar first: number of the first task of each job, and at the end the number of all tasks
    """

    cpu: Floats
    memory: Floats
    first: Integers


@compiled
def by_priority(numbers: Integers, flow: Floats, virtual: Floats) -> Integers:
    """Return job numbers by decreasing priority, flow time / virtual time squared, equal ones as given (5.2.3).

    A job that has not run has the highest priority.

    :param numbers: jobs in the order of submission
    :param flow: seconds since the submission of each of them
    :param virtual: virtual time of each of them: seconds that it would have needed alone for what it has done
    """
    inverse = np.zeros(len(numbers))
    for position in range(len(numbers)):
        if flow[position] > 0:
            inverse[position] = virtual[position] * virtual[position] / flow[position]
    return numbers[np.argsort(inverse, kind="mergesort")]


@compiled
def greedy_nodes(job: int, jobs: Jobs, load: Floats, held: Floats) -> Integers:
    """Return the sorted nodes of the tasks of a job, or an empty array if memory is short (5.2.1).

    Each task goes to the node with the least CPU load among those with enough memory, the first of equals.

    :param load: sum of CPU needs on each node, which may exceed 1
    :param held: memory in use on each node
    """
    count = jobs.first[job + 1] - jobs.first[job]
    cpu, memory = jobs.cpu[job], jobs.memory[job]
    if not _may_fit(count, memory, held):
        return np.empty(0, np.int64)
    loads, helds = load.copy(), held.copy()
    nodes = np.empty(count, np.int64)
    # Loads only grow, so the next of the nodes with the least load is further on; there is none at the beginning.
    least, chosen = np.inf, len(loads)
    for task in range(count):
        while chosen < len(loads) and not (loads[chosen] == least and helds[chosen] + memory <= 1 + TOLERANCE):
            chosen += 1
        if chosen == len(loads):
            least = np.inf
            for node in range(len(loads)):
                if loads[node] < least and helds[node] + memory <= 1 + TOLERANCE:
                    least, chosen = loads[node], node
            if least == np.inf:
                return np.empty(0, np.int64)
        nodes[task] = chosen
        loads[chosen] += cpu
        helds[chosen] += memory
    nodes.sort()
    return nodes


@compiled
def _may_fit(count: int, memory: float, held: Floats) -> bool:
    """Return False only if this many tasks certainly do not fit; this is faster than trying."""
    if memory <= 2 * TOLERANCE:
        return True
    room, inverse = 0, 1 / memory
    for node in range(len(held)):
        # Slightly too much rather than too little: rounding must not decide here.
        room += max(0, int((1 - held[node] + 2 * TOLERANCE) * inverse + TOLERANCE))
        if room >= count:
            return True
    return False


@compiled
def admit(
    job: int, victims: Integers, jobs: Jobs, place: Integers, load: Floats, held: Floats
) -> tuple[Integers, NDArray[np.bool_]]:
    """Return the sorted nodes of the tasks of a job, and which running jobs must be paused for that (GreedyP; 5.2.3).

    Jobs are marked by increasing priority until the new one fits. Then those that still have enough memory on their
    nodes are not paused after all. The nodes are an empty array if the job does not fit into the empty system.

    :param victims: running jobs by increasing priority
    :param place: node of each task of running jobs
    :param load: as for ``greedy_nodes``
    :param held: as for ``greedy_nodes``
    """
    loads, helds = load.copy(), held.copy()
    is_paused = np.zeros(len(victims), np.bool_)
    nodes = greedy_nodes(job, jobs, loads, helds)
    marked = 0
    while len(nodes) == 0 and marked < len(victims):
        victim = victims[marked]
        is_paused[marked] = True
        marked += 1
        for task in range(jobs.first[victim], jobs.first[victim + 1]):
            loads[place[task]] -= jobs.cpu[victim]
            helds[place[task]] -= jobs.memory[victim]
        nodes = greedy_nodes(job, jobs, loads, helds)
    if len(nodes) == 0:
        is_paused[:] = False
        return nodes, is_paused
    for node in nodes:
        helds[node] += jobs.memory[job]
    for number in range(marked - 1, -1, -1):
        victim = victims[number]
        tasks = place[jobs.first[victim] : jobs.first[victim + 1]]
        # Only memory is in the way: CPU can be shared.
        for node in tasks:
            helds[node] += jobs.memory[victim]
        is_paused[number] = False
        for node in tasks:
            if helds[node] > 1 + TOLERANCE:
                is_paused[number] = True
        if is_paused[number]:
            for node in tasks:
                helds[node] -= jobs.memory[victim]
    return nodes, is_paused
