"""Greedy placement: 49 pairs of an order of jobs and a choice of the node (Stillwell 2010, section 4.2.2).

The wording of the dissertation and the published figures do not agree for four of the choices: P1 to P6 are described
by the largest need of a node's jobs and by loads in one dimension, but the figures come from the sums of loads. The
sums are the default; ``literal`` selects the wording.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum, IntEnum

import numpy as np

from lease_scheduler.fractional.arrays import TOLERANCE, Floats, Integers
from lease_scheduler.fractional.kernels import compiled
from lease_scheduler.fractional.problem import Instance, Placement, place
from lease_scheduler.fractional.shares import raise_average


class Sort(Enum):
    """In which order jobs are placed: decreasing, equal ones as given."""

    S1 = "as given, or at random"
    S2 = "largest fluid need"
    S3 = "sum of fluid needs"
    S4 = "largest fixed requirement or constrained need"
    S5 = "sum of fixed requirements and constrained needs"
    S6 = "largest fixed requirement or fluid need"
    S7 = "sum of fixed requirements and fluid needs"


class Pick(IntEnum):
    """Which of the nodes on which it fits a job gets; the first one of equals."""

    P1 = 1
    P2 = 2
    P3 = 3
    P4 = 4
    P5 = 5
    P6 = 6
    P7 = 7


#: The reduced list of pairs (section 4.4.1).
LIGHT: tuple[tuple[Sort, Pick], ...] = (
    (Sort.S3, Pick.P1),
    (Sort.S2, Pick.P1),
    (Sort.S5, Pick.P1),
    (Sort.S7, Pick.P1),
    (Sort.S6, Pick.P1),
    (Sort.S2, Pick.P2),
    (Sort.S3, Pick.P2),
    (Sort.S6, Pick.P2),
    (Sort.S5, Pick.P4),
)

#: All 49 pairs.
ALL: tuple[tuple[Sort, Pick], ...] = tuple((sort, pick) for sort in Sort for pick in Pick)


def greedy(
    instance: Instance,
    sort: Sort,
    pick: Pick,
    *,
    literal: bool = False,
    random: np.random.Generator | None = None,
) -> Placement | None:
    """Return the placement of one pair, or None if a job finds no node.

    :param literal: choose nodes by the wording of the dissertation
    :param random: for ``Sort.S1``; None for the order in which jobs are given
    """
    nodes = _placed(
        _order(instance, sort, random),
        np.hstack([instance.fixed, instance.constrained]),
        np.ascontiguousarray(instance.fluid),
        instance.fixed.shape[1],
        instance.nodes,
        int(pick),
        literal,
    )
    return place(instance, nodes) if len(nodes) == instance.jobs else None


def best_of(
    instance: Instance,
    pairs: Sequence[tuple[Sort, Pick]] = ALL,
    *,
    first: bool = False,
    literal: bool = False,
    random: np.random.Generator | None = None,
) -> Placement | None:
    """Return the placement with the highest least yield of several pairs, or None if all fail.

    With all 49 pairs this is GREEDY, with ``LIGHT`` it is GREEDYLIGHT (section 4.4.1). Of equal placements, that with
    the higher average yield after ``raise_average`` is taken.

    :param first: return the first placement that is found, as the text of the dissertation has it for GREEDYLIGHT; its
        figures are those of the best one
    """
    best: Placement | None = None
    for sort, pick in pairs:
        found = greedy(instance, sort, pick, literal=literal, random=random)
        if found is None:
            continue
        if first:
            return found
        if best is None or _is_better(instance, found, best):
            best = found
    return best


def _is_better(instance: Instance, found: Placement, best: Placement) -> bool:
    if found.least != best.least:
        return found.least > best.least
    if np.array_equal(found.nodes, best.nodes):
        return False
    return float(raise_average(instance, found).mean()) > float(raise_average(instance, best).mean())


def _order(instance: Instance, sort: Sort, random: np.random.Generator | None) -> Integers:
    if sort is Sort.S1:
        return np.arange(instance.jobs) if random is None else random.permutation(instance.jobs)
    if sort in (Sort.S2, Sort.S3):
        values = instance.fluid
    elif sort in (Sort.S4, Sort.S5):
        values = np.hstack([instance.fixed, instance.constrained])
    else:
        values = np.hstack([instance.fixed, instance.fluid])
    largest = sort in (Sort.S2, Sort.S4, Sort.S6)
    return np.argsort(-(values.max(axis=1, initial=0) if largest else values.sum(axis=1)), kind="stable")


@compiled
def _placed(
    order: Integers, rigid: Floats, fluid: Floats, fixed: int, count: int, pick: int, literal: bool
) -> Integers:
    """Return the node of each job, or an empty array if a job finds none.

    :param rigid: jobs x (fixed dimensions, then constrained needs), which must fit
    :param fixed: number of fixed dimensions
    """
    jobs, dimensions = rigid.shape
    fluids = fluid.shape[1]
    held = np.zeros((count, dimensions))
    held_most = np.zeros((count, dimensions))
    needed = np.zeros((count, fluids))
    needed_most = np.zeros((count, fluids))
    nodes = np.full(jobs, -1)
    for job in order:
        main_need = 0
        for dimension in range(1, fluids):
            if fluid[job, dimension] > fluid[job, main_need]:
                main_need = dimension
        # A fixed dimension counts only if it is strictly larger than all constrained needs.
        main = fixed if fluids else 0
        for dimension in range(fixed, dimensions):
            if rigid[job, dimension] > rigid[job, main]:
                main = dimension
        for dimension in range(fixed):
            if rigid[job, dimension] > rigid[job, main]:
                main = dimension
        chosen, lowest = -1, 0.0
        for node in range(count):
            fits = True
            for dimension in range(dimensions):
                if held[node, dimension] + rigid[job, dimension] > 1 + TOLERANCE:
                    fits = False
                    break
            if not fits:
                continue
            if pick == 7:
                chosen = node
                break
            if pick <= 2 and fluids == 0:
                cost = 0.0
            elif pick == 1:
                cost = needed_most[node, main_need] if literal else needed[node, main_need]
            elif pick == 2:
                cost = needed[node, main_need] if literal else needed[node].sum()
            elif pick in (3, 5):
                cost = held_most[node, main] if literal else held[node, main]
            else:
                cost = held[node, main] if literal else held[node].sum()
            # Best fit is worst fit upside down.
            if pick in (3, 4):
                cost = -cost
            if chosen < 0 or cost < lowest:
                chosen, lowest = node, cost
        if chosen < 0:
            return np.empty(0, np.int64)
        nodes[job] = chosen
        for dimension in range(dimensions):
            held[chosen, dimension] += rigid[job, dimension]
            held_most[chosen, dimension] = max(held_most[chosen, dimension], rigid[job, dimension])
        for dimension in range(fluids):
            needed[chosen, dimension] += fluid[job, dimension]
            needed_most[chosen, dimension] = max(needed_most[chosen, dimension], fluid[job, dimension])
    return nodes
