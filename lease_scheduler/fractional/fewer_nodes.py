"""The least yield on fewer nodes, to tell how many can be switched off (Stillwell 2010, section 4.4.7; dfrs F29).

All tasks that can move are packed anew on the nodes that remain. What others hold stays where it is.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

import numpy as np

from lease_scheduler.fractional.arrays import TOLERANCE, Booleans, Floats, Integers
from lease_scheduler.fractional.online.fluid import fair_scaled_yields


@dataclass(frozen=True, eq=False)
class Occupancy:
    """The present placement of tasks, and what others hold. All amounts are parts of the largest node.

    :ivar cpu: CPU need of each task, more than 0
    :ivar least: CPU that each task holds, at most its need
    :ivar held: what each task holds of memory, or of the resource of which it holds most, CPU included
    :ivar place: node of each task
    :ivar stays: whether the task cannot move
    :ivar load: what others hold of the CPU of each node, at most 1
    :ivar others_held: what they hold of the resource of which they hold most, at most 1
    :ivar closed: nodes that take nothing; each task there can move
    :ivar leaving: the nodes that can be switched off, in that order; others hold nothing there, and each task there can
        move
    """

    cpu: Floats
    least: Floats
    held: Floats
    place: Integers
    stays: Booleans
    load: Floats
    others_held: Floats
    closed: Integers
    leaving: Integers


def least_yields(occupancy: Occupancy, counts: Collection[int]) -> Mapping[int, float | None]:
    """Return the highest least yield that is found without the first nodes that can be switched off.

    It never grows with the number of these nodes: a placement on few nodes is also one on more.

    :param counts: numbers of nodes to switch off
    :return: number of nodes -> least yield, from 0 to 1; None if there are not as many, or not everything fits
    """
    found: dict[int, float | None] = {}
    best: float | None = None
    for count in sorted(set(counts), reverse=True):
        if count <= len(occupancy.leaving):
            yields = [best, *_reached(occupancy, count)]
            best = max((each for each in yields if each is not None), default=None)
        found[count] = best
    return found


def _reached(occupancy: Occupancy, count: int) -> list[float]:
    """Return the least yields of a packing without the first nodes, and of the present places if none is on these."""
    # These load a compiler, which engines that are never asked do not need.
    from lease_scheduler.fractional.online.decisions import Jobs
    from lease_scheduler.fractional.online.remap import pack_all

    load, held = occupancy.load.copy(), occupancy.others_held.copy()
    away = np.concatenate([occupancy.closed, occupancy.leaving[:count]])
    load[away] = held[away] = 1.0
    tasks = len(occupancy.cpu)
    jobs = Jobs(occupancy.cpu, occupancy.held, np.arange(tasks + 1))
    places = [pack_all(jobs, occupancy.place, occupancy.stays, load, held)]
    if not np.isin(occupancy.place, away).any():
        places.append(occupancy.place)
    return [_least_yield(occupancy, nodes, load) for nodes in places if len(nodes) == tasks]


def _least_yield(occupancy: Occupancy, nodes: Integers, load: Floats) -> float:
    """Return the least yield of all tasks on these nodes."""
    cpu, least = occupancy.cpu, occupancy.least
    free = np.maximum(1 - load - np.bincount(nodes, weights=least, minlength=len(load)), 0.0)
    beyond = np.where(cpu > least + TOLERANCE, cpu - least, 0.0)
    scaled = fair_scaled_yields(free, nodes, np.arange(len(cpu)), beyond, len(cpu))
    return float(((least + scaled * beyond) / cpu).min(initial=1.0))
