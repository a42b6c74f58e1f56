"""How CPU is shared among jobs that have their nodes (Stillwell 2010, sections 5.2.5 and 5.2.6).

All functions return the yield of each running job. Their first arguments are the numbers of these jobs, what jobs need,
the node of each task of running jobs, and the number of nodes.
"""

from __future__ import annotations

import numpy as np

from lease_scheduler.fractional.arrays import TOLERANCE, Floats, Integers
from lease_scheduler.fractional.kernels import compiled
from lease_scheduler.fractional.online.decisions import Jobs

#: By how much ``stretch_yields`` raises a yield at a time.
STEP = 0.01


@compiled
def fair_yields(running: Integers, jobs: Jobs, place: Integers, nodes: int) -> Floats:
    """Return yields that are fair in the sense of max-min: OPT=MIN (section 5.2.5).

    The least yield, 1 / (largest load), goes to the jobs on the nodes that bound it. The others share what is left, and
    so on.
    """
    # Fields are read once: a compiled loop counts references to arrays of tuples.
    cpu, first = jobs.cpu, jobs.first
    yields = np.ones(len(running))
    # What jobs without a yield need of each node and how many tasks they have there, and what the others get.
    rest, used = np.zeros(nodes), np.zeros(nodes)
    waiting = np.zeros(nodes, np.int64)
    for job in running:
        for task in range(first[job], first[job + 1]):
            rest[place[task]] += cpu[job]
            waiting[place[task]] += 1
    # The other nodes bound no job.
    overloaded = np.flatnonzero(rest > 1)
    if len(overloaded) == 0:
        return yields
    # The jobs on each overloaded node, a job as often as it has tasks there.
    following = np.full(nodes, -1)
    begin = np.zeros(len(overloaded) + 1, np.int64)
    for number in range(len(overloaded)):
        following[overloaded[number]] = begin[number]
        begin[number + 1] = begin[number] + waiting[overloaded[number]]
    on_node = np.empty(begin[-1], np.int64)
    for position in range(len(running)):
        job = running[position]
        for task in range(first[job], first[job + 1]):
            node = place[task]
            if following[node] >= 0:
                on_node[following[node]] = position
                following[node] += 1
    is_open = np.ones(len(running), np.bool_)
    highest = np.empty(len(overloaded))
    while True:
        least = 1.0
        for number in range(len(overloaded)):
            node = overloaded[number]
            highest[number] = max(0.0, 1 - used[node]) / rest[node] if waiting[node] else np.inf
            least = min(least, highest[number])
        if least >= 1:
            return yields
        for number in range(len(overloaded)):
            if highest[number] > least * (1 + TOLERANCE):
                continue
            for position in on_node[begin[number] : begin[number + 1]]:
                if not is_open[position]:
                    continue
                is_open[position] = False
                yields[position] = least
                job = running[position]
                for task in range(first[job], first[job + 1]):
                    rest[place[task]] -= cpu[job]
                    used[place[task]] += least * cpu[job]
                    waiting[place[task]] -= 1


@compiled
def stretch_yields(
    running: Integers,
    jobs: Jobs,
    place: Integers,
    nodes: int,
    least: Floats,
    flow: Floats,
    virtual: Floats,
    horizon: float,
) -> Floats:
    """Return yields that make the largest stretch low at the end of the period, in small steps: OPT=MAX (5.2.6).

    :param running: by decreasing priority
    :param least: least yield of each running job; together they overload no node
    :param flow: seconds since the submission of each running job
    :param virtual: virtual time of each running job
    :param horizon: seconds until the end of the period
    """
    cpu, first = jobs.cpu, jobs.first
    yields = least.copy()
    load = np.zeros(nodes)
    for position in range(len(running)):
        job = running[position]
        for task in range(first[job], first[job + 1]):
            load[place[task]] += yields[position] * cpu[job]
    is_open = yields < 1
    while True:
        worst, chosen = 0.0, -1
        for position in range(len(running)):
            if is_open[position]:
                reached = virtual[position] + yields[position] * horizon
                stretch = (flow[position] + horizon) / max(reached, TOLERANCE)
                if stretch > worst:
                    worst, chosen = stretch, position
        if chosen < 0:
            return yields
        job = running[chosen]
        step = min(STEP, 1 - yields[chosen])
        tasks = place[first[job] : first[job + 1]]
        for node in tasks:
            load[node] += step * cpu[job]
        has_room = True
        for node in tasks:
            if load[node] > 1 + TOLERANCE:
                has_room = False
        if has_room:
            yields[chosen] += step
            is_open[chosen] = yields[chosen] < 1
        else:
            # Loads never fall, so the step will not fit later.
            is_open[chosen] = False
            for node in tasks:
                load[node] -= step * cpu[job]


def average_yields(
    running: Integers, jobs: Jobs, place: Integers, nodes: int, least: Floats | None, weights: Floats | None = None
) -> Floats:
    """Return the yields with the highest average: OPT=AVG (section 5.2.5).

    :param least: least yield of each running job; None for 1 / (largest load)
    :param weights: weight of each running job in the average; None for equal ones
    :raises ArithmeticError: HiGHS has not found the optimum
    """
    from scipy.optimize import linprog  # type: ignore[import-untyped]
    from scipy.sparse import coo_matrix  # type: ignore[import-untyped]

    widths = jobs.first[running + 1] - jobs.first[running]
    position = np.repeat(np.arange(len(running)), widths)
    where = np.concatenate([place[jobs.first[job] : jobs.first[job + 1]] for job in running])
    needs = coo_matrix((jobs.cpu[running][position], (where, position)), shape=(nodes, len(running))).tocsr()
    load = np.asarray(needs.sum(axis=1)).ravel()
    if load.max() <= 1:
        return np.ones(len(running))
    lower = np.full(len(running), 1 / load.max()) if least is None else np.minimum(least, 1.0)
    # A node that is not overloaded bounds nothing.
    solved = linprog(
        -(np.ones(len(running)) if weights is None else weights / weights.max()),
        A_ub=needs[load > 1],
        b_ub=np.ones(int((load > 1).sum())) + TOLERANCE,
        bounds=np.column_stack([lower, np.ones(len(running))]),
        method="highs",
    )
    if solved.status != 0:
        raise ArithmeticError(f"HiGHS: {solved.message}")
    found: Floats = np.clip(solved.x, lower, 1.0)
    return found
