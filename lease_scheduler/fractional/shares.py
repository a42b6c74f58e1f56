"""More than the least yield: the highest average yield of a placement (Stillwell 2010, sections 4.4.7 and 4.5.1)."""

from __future__ import annotations

import numpy as np

from lease_scheduler.fractional.arrays import Floats, Integers
from lease_scheduler.fractional.kernels import compiled
from lease_scheduler.fractional.problem import Instance, Placement, loads

#: Increases of yields below this are not worth another round (section 4.4.7).
_SMALLEST_INCREASE = 1e-5


def raise_average(instance: Instance, placement: Placement) -> Floats:
    """Return the scaled yield of each job: at least the least yield of the placement, and as much more as fits.

    On each node, the job that can gain most gets what it can, again and again. With one fluid dimension no other
    division has a higher average. With more, ``linear.programs.highest_average`` may find a higher one.
    """
    return _raised(
        instance.minimum, np.ascontiguousarray(instance.fluid), placement.nodes, instance.nodes, placement.least
    )


@compiled
def _raised(minimum: Floats, fluid: Floats, nodes: Integers, count: int, least: float) -> Floats:
    jobs, dimensions = fluid.shape
    scaled = np.full(jobs, least)
    free = np.ones((count, dimensions))
    for job in range(jobs):
        share = minimum[job] + least * (1 - minimum[job])
        for dimension in range(dimensions):
            free[nodes[job], dimension] -= share * fluid[job, dimension]
    by_node = np.argsort(nodes, kind="mergesort")
    first = 0
    while first < jobs:
        last = first
        node = nodes[by_node[first]]
        while last < jobs and nodes[by_node[last]] == node:
            last += 1
        # Each job is raised once at most: then it is at full speed, or a dimension of the node that it needs is full.
        for _ in range(last - first):
            best, gain = -1, _SMALLEST_INCREASE
            for position in range(first, last):
                job = by_node[position]
                increase = 1 - scaled[job]
                for dimension in range(dimensions):
                    need = fluid[job, dimension] * (1 - minimum[job])
                    if need > 0:
                        increase = min(increase, free[node, dimension] / need)
                if increase > gain:
                    best, gain = job, increase
            if best < 0:
                break
            scaled[best] += gain
            for dimension in range(dimensions):
                free[node, dimension] -= gain * fluid[best, dimension] * (1 - minimum[best])
        first = last
    return scaled


def utilisation(instance: Instance, placement: Placement, scaled: Floats) -> float:
    """Return the share of all fluid capacity that is given to jobs, from 0 to 1 (section 4.4.7).

    :param scaled: scaled yield of each job
    """
    yields = instance.minimum + scaled * (1 - instance.minimum)
    return float(loads(yields[:, None] * instance.fluid, placement.nodes, instance.nodes).mean())
