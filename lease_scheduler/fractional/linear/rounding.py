"""Randomized rounding and diving: placements from the rational relaxation (Stillwell 2010, section 4.2.3).

The relaxation has many corners with the same least yield. Which of them HiGHS returns decides what rounding finds, so
figures of these heuristics differ from one solver to the next.
"""

from __future__ import annotations

import numpy as np

from lease_scheduler.fractional.arrays import TOLERANCE, Floats
from lease_scheduler.fractional.linear.programs import relaxation
from lease_scheduler.fractional.problem import Instance, Placement, place

#: What RRNDNZ takes instead of a share of 0.
_NO_ZERO = 0.01


def round_randomly(instance: Instance, random: np.random.Generator, *, no_zeros: bool) -> Placement | None:
    """Return a placement in which a job is on a node with the probability of its share there, or None.

    Jobs are placed in the order given, each on one of the nodes on which it still fits.

    :param no_zeros: give nodes without a share of a job a small one (RRNDNZ), so that jobs have more nodes to go to;
        without it, this is RRND
    """
    relaxed = relaxation(instance)
    if relaxed is None:
        return None
    shares = np.where(relaxed.shares > TOLERANCE, relaxed.shares, _NO_ZERO if no_zeros else 0)
    rigid = np.hstack([instance.fixed, instance.constrained])
    held = np.zeros((instance.nodes, rigid.shape[1]))
    nodes = np.empty(instance.jobs, np.int64)
    for job in range(instance.jobs):
        weights = np.where((held + rigid[job] <= 1 + TOLERANCE).all(axis=1), shares[job], 0)
        if not weights.any():
            return None
        nodes[job] = random.choice(instance.nodes, p=weights / weights.sum())
        held[nodes[job]] += rigid[job]
    return place(instance, nodes)


def dive_fast(instance: Instance) -> Placement | None:
    """Return a placement found by fixing one job after the other where its share is largest (FASTDIVING), or None."""
    lower = np.zeros((instance.jobs, instance.nodes))
    upper = np.ones((instance.jobs, instance.nodes))
    is_open = np.ones(instance.jobs, bool)
    while is_open.any():
        relaxed = relaxation(instance, lower, upper)
        if relaxed is None:
            return None
        job, node = _where_highest(np.where(is_open[:, None], relaxed.shares, -1))
        upper[job] = 0
        lower[job, node] = upper[job, node] = 1
        is_open[job] = False
    return _if_feasible(instance, lower, upper)


def dive_slowly(instance: Instance) -> Placement | None:
    """Return a placement found by fixing the share nearest to 0 or 1, one after the other (SLOWDIVING), or None.

    It solves up to one program for each job and node.
    """
    lower = np.zeros((instance.jobs, instance.nodes))
    upper = np.ones((instance.jobs, instance.nodes))
    is_open = np.ones((instance.jobs, instance.nodes), bool)
    while is_open.any():
        relaxed = relaxation(instance, lower, upper)
        if relaxed is None:
            return None
        shares = relaxed.shares
        # Distance to the nearer end, upside down, so that the first of equals is taken as elsewhere.
        job, node = _where_highest(np.where(is_open, np.abs(shares - 0.5), -1))
        lower[job, node] = upper[job, node] = float(shares[job, node] > 0.5)
        is_open[job, node] = False
    return _if_feasible(instance, lower, upper)


def _where_highest(values: Floats) -> tuple[int, int]:
    job, node = np.unravel_index(int(values.argmax()), values.shape)
    return int(job), int(node)


def _if_feasible(instance: Instance, lower: Floats, upper: Floats) -> Placement | None:
    if instance.jobs and relaxation(instance, lower, upper) is None:
        return None
    return place(instance, lower.argmax(axis=1) if instance.jobs else np.empty(0, np.int64))
