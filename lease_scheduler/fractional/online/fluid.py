"""Fair shares of what hosts have left for jobs that hold a part of their needs (Stillwell 2010, sections 4.1, 5.2.5).

As ``sharing.fair_yields`` and ``sharing.average_yields``, but hosts differ in what they have left, and so do the needs
of the tasks of a job.
"""

from __future__ import annotations

import numpy as np

from lease_scheduler.fractional.arrays import TOLERANCE, Floats, Integers


def fair_scaled_yields(free: Floats, hosts: Integers, jobs: Integers, needs: Floats, count: int) -> Floats:
    """Return scaled yields that are fair in the sense of max-min: no job can get more except from one that has no more.

    A job at scaled yield y gets the part y of what each of its tasks needs beyond what the task holds.

    :param free: what each host has left
    :param hosts: host of each task
    :param jobs: number of the job of each task, from 0 on
    :param needs: what each task needs beyond what it holds
    :param count: number of jobs
    :return: scaled yield of each job, from 0 to 1
    """
    yields = np.ones(count)
    left = np.maximum(free, 0.0)
    is_open = needs > 0
    hosts, jobs, needs = hosts[is_open], jobs[is_open], needs[is_open]
    while len(jobs):
        rest = np.bincount(hosts, weights=needs, minlength=len(left))
        highest = np.minimum(np.divide(left, rest, out=np.ones(len(left)), where=rest > 0), 1.0)
        of_job = np.ones(count)
        np.minimum.at(of_job, jobs, highest[hosts])
        # A host bounds its jobs if none of them is bounded more strictly by another host. There always is such a host.
        bounds = np.ones(len(left), np.bool_)
        bounds[hosts[of_job[jobs] < highest[hosts] - TOLERANCE]] = False
        is_settled = np.zeros(count, np.bool_)
        is_settled[jobs[bounds[hosts]]] = True
        yields[is_settled] = of_job[is_settled]
        done = is_settled[jobs]
        given = np.bincount(hosts[done], weights=(needs * yields[jobs])[done], minlength=len(left))
        left = np.maximum(left - given, 0.0)
        hosts, jobs, needs = hosts[~done], jobs[~done], needs[~done]
    return yields


def average_scaled_yields(free: Floats, hosts: Integers, jobs: Integers, needs: Floats, count: int) -> Floats:
    """Return the scaled yields with the highest average, once every job has the least one: OPT=AVG (section 5.2.5).

    Arguments and result are those of ``fair_scaled_yields``.

    :raises ArithmeticError: HiGHS has not found the optimum
    """
    from scipy.optimize import linprog  # type: ignore[import-untyped]
    from scipy.sparse import coo_matrix  # type: ignore[import-untyped]

    left = np.maximum(free, 0.0)
    needed = coo_matrix((needs, (hosts, jobs)), shape=(len(left), count)).tocsr()
    rest = np.asarray(needed.sum(axis=1)).ravel()
    # The other hosts bound no job.
    bounds = rest > left
    if not bounds.any():
        return np.ones(count)
    least = float((left[bounds] / rest[bounds]).min())
    solved = linprog(
        -np.ones(count),
        A_ub=needed[bounds],
        b_ub=left[bounds] * (1 + TOLERANCE),
        bounds=(least, 1.0),
        method="highs",
    )
    if solved.status != 0:
        raise ArithmeticError(f"HiGHS: {solved.message}")
    found: Floats = np.clip(solved.x, least, 1.0)
    return found
