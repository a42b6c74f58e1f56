"""The off-line problem as programs for HiGHS (Stillwell 2010, sections 4.1.2, 4.2.1, 4.5.1 and 6.2).

Variables are, job after job and node after node, whether a job is on a node, then the yield that it gets there, then
the least scaled yield.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lease_scheduler.fractional.arrays import Floats, Integers
from lease_scheduler.fractional.problem import Instance, Placement, place


@dataclass(frozen=True, eq=False)
class Relaxation:
    """A solution of the rational relaxation, in which jobs may be divided among nodes.

    :ivar shares: jobs x nodes: which part of a job is on a node
    :ivar least: least scaled yield
    """

    shares: Floats
    least: float


def optimum(instance: Instance, *, seconds: float = 60.0, gap: float = 1e-6) -> Placement | None:
    """Return the placement with the highest least yield, or None if there is none.

    :param seconds: time limit
    :param gap: relative gap to the optimum at which HiGHS stops
    :raises TimeoutError: HiGHS has neither found a placement nor proved that there is none in this time
    """
    # Nodes are equal, so they can be numbered in the order of the first job on each: job 0 is on node 0, and so on.
    allowed = np.arange(instance.nodes)[None, :] <= np.arange(instance.jobs)[:, None]
    return _exact(instance, allowed, None, np.inf, seconds, gap)


def adaptation(
    instance: Instance,
    current: Integers,
    costs: Floats,
    budget: float,
    *,
    seconds: float = 60.0,
    gap: float = 1e-6,
) -> Placement | None:
    """Return the best placement that moves of limited cost lead to, or None if there is none (section 6.2).

    The current placement may be invalid, for instance after needs have changed.

    :param current: node of each job, -1 for a new job, which may go anywhere for nothing
    :param costs: cost of moving each job, in any unit, such as bytes
    :param budget: largest sum of costs
    :param seconds: time limit
    :param gap: relative gap to the optimum at which HiGHS stops
    :raises TimeoutError: HiGHS has neither found a placement nor proved that there is none in this time
    """
    moved = np.where(current[:, None] == np.arange(instance.nodes), 0, costs[:, None])
    moved[current < 0] = 0
    return _exact(instance, np.ones(moved.shape, bool), moved, budget, seconds, gap)


def _exact(
    instance: Instance, allowed: NDArray[np.bool_], costs: Floats | None, budget: float, seconds: float, gap: float
) -> Placement | None:
    """Solve the mixed integer program.

    :param allowed: jobs x nodes
    :param costs: jobs x nodes, what it costs to have a job there; None for nothing
    """
    from scipy.optimize import Bounds, LinearConstraint, milp  # type: ignore[import-untyped]

    jobs, nodes = instance.jobs, instance.nodes
    if jobs == 0:
        return Placement(np.empty(0, np.int64), 1.0)
    pairs = jobs * nodes
    upper = np.ones(2 * pairs + 1)
    upper[:pairs][~allowed.ravel()] = 0
    constraints = [LinearConstraint(*_constraints(instance))]
    if costs is not None:
        constraints.append(LinearConstraint(np.concatenate([costs.ravel(), np.zeros(pairs + 1)]), -np.inf, budget))
    solved = milp(
        _only_least(pairs),
        integrality=np.concatenate([np.ones(pairs), np.zeros(pairs + 1)]),
        bounds=Bounds(0, upper),
        constraints=constraints,
        options={"time_limit": seconds, "mip_rel_gap": gap},
    )
    if solved.x is None:
        if solved.status == 2:
            return None
        raise TimeoutError(f"HiGHS: {solved.message}")
    return place(instance, solved.x[:pairs].reshape(jobs, nodes).argmax(axis=1))


def relaxation(instance: Instance, lower: Floats | None = None, upper: Floats | None = None) -> Relaxation | None:
    """Return a corner of the rational relaxation with the highest least yield, or None if there is no solution.

    The simplex method finds a corner. An inner solution, such as the same part of each job on each node, tells nothing.

    :param lower: jobs x nodes: least part of a job on a node; None for 0 everywhere
    :param upper: jobs x nodes: largest part of a job on a node; None for 1 everywhere
    """
    from scipy.optimize import linprog

    jobs, nodes = instance.jobs, instance.nodes
    pairs = jobs * nodes
    bounds = np.zeros((2 * pairs + 1, 2))
    bounds[:, 1] = 1
    if lower is not None:
        bounds[:pairs, 0] = lower.ravel()
    if upper is not None:
        bounds[:pairs, 1] = upper.ravel()
    matrix, low, high = _constraints(instance)
    is_equal = low == high
    upward = np.isfinite(low) & ~is_equal
    downward = np.isfinite(high) & ~is_equal
    from scipy.sparse import vstack  # type: ignore[import-untyped]

    solved = linprog(
        _only_least(pairs),
        A_ub=vstack([matrix[downward], -matrix[upward]]),
        b_ub=np.concatenate([high[downward], -low[upward]]),
        A_eq=matrix[is_equal],
        b_eq=low[is_equal],
        bounds=bounds,
        method="highs-ds",
    )
    if solved.x is None or solved.status != 0:
        return None
    shares = np.clip(solved.x[:pairs], 0, 1).reshape(jobs, nodes)
    return Relaxation(shares, float(solved.x[-1]))


def highest_average(instance: Instance, placement: Placement, group: Integers | None = None) -> Floats:
    """Return the scaled yields with the highest average, none below the least yield of the placement (section 4.5.1).

    :param group: number of the job that each row of the instance belongs to: tasks of one job, or components whose
        needs have a constant ratio, get one yield (sections 4.5.1 and 4.5.2). They must have the same minimum. None
        if each row is a job of its own
    :raises ArithmeticError: HiGHS has not found the optimum
    """
    from scipy.optimize import linprog
    from scipy.sparse import coo_matrix

    group = np.arange(instance.jobs) if group is None else group
    jobs, members = np.unique(group, return_inverse=True)
    fluids = instance.fluid.shape[1]
    rest = (1 - instance.minimum)[:, None] * instance.fluid
    rows = (placement.nodes[:, None] * fluids + np.arange(fluids)).ravel()
    capacity = np.ones(instance.nodes * fluids)
    np.subtract.at(capacity, rows, instance.constrained.ravel())
    matrix = coo_matrix(
        (rest.ravel(), (rows, np.repeat(members, fluids))), shape=(instance.nodes * fluids, len(jobs))
    ).tocsr()
    least = min(placement.least, 1.0)
    # The least yield itself may exceed the capacity by a rounding error, which HiGHS would not accept.
    capacity = np.maximum(capacity, matrix @ np.full(len(jobs), least))
    solved = linprog(-np.ones(len(jobs)), A_ub=matrix, b_ub=capacity, bounds=(least, 1.0), method="highs")
    if solved.status != 0:
        raise ArithmeticError(f"HiGHS: {solved.message}")
    scaled: Floats = np.asarray(solved.x)[members]
    return scaled


def _only_least(pairs: int) -> Floats:
    """Return the objective, which is minimised: the least yield upside down."""
    objective = np.zeros(2 * pairs + 1)
    objective[-1] = -1
    return objective


def _constraints(instance: Instance) -> tuple[Any, Floats, Floats]:
    """Return the constraints (4.3) to (4.6) as a sparse matrix with lower and upper bounds of its rows."""
    from scipy.sparse import coo_matrix

    jobs, nodes = instance.jobs, instance.nodes
    pairs = jobs * nodes
    pair = np.arange(pairs).reshape(jobs, nodes)
    rows: list[NDArray[np.int64]] = []
    columns: list[NDArray[np.int64]] = []
    values: list[Floats] = []
    low: list[Floats] = []
    high: list[Floats] = []
    height = 0

    def add(where: NDArray[np.int64], what: NDArray[np.int64], amount: Floats) -> None:
        rows.append((height + where).ravel())
        columns.append(what.ravel())
        values.append(amount.ravel())

    job_of = np.repeat(np.arange(jobs), nodes).reshape(jobs, nodes)
    node_of = np.tile(np.arange(nodes), (jobs, 1))
    # (4.3): each job is on one node.
    add(job_of, pair, np.ones((jobs, nodes)))
    low.append(np.ones(jobs))
    high.append(np.ones(jobs))
    height += jobs
    # (4.4): a job gets a yield only where it is.
    add(pair, pairs + pair, np.ones((jobs, nodes)))
    add(pair, pair, -np.ones((jobs, nodes)))
    low.append(np.full(pairs, -np.inf))
    high.append(np.zeros(pairs))
    height += pairs
    # (4.5): no node is overloaded, in fixed and in fluid dimensions.
    for needs, offset in ((instance.fixed, 0), (instance.fluid, pairs)):
        for dimension in range(needs.shape[1]):
            add(node_of, offset + pair, np.repeat(needs[:, dimension, None], nodes, axis=1))
            low.append(np.full(nodes, -np.inf))
            high.append(np.ones(nodes))
            height += nodes
    # (4.6): each job gets its minimum, and the least scaled yield of what is above.
    add(job_of, pairs + pair, np.ones((jobs, nodes)))
    add(np.arange(jobs), np.full(jobs, 2 * pairs), -(1 - instance.minimum))
    low.append(instance.minimum.astype(float))
    high.append(np.full(jobs, np.inf))
    height += jobs
    matrix = coo_matrix(
        (np.concatenate(values), (np.concatenate(rows), np.concatenate(columns))), shape=(height, 2 * pairs + 1)
    ).tocsr()
    return matrix, np.concatenate(low), np.concatenate(high)
