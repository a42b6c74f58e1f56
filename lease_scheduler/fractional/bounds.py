"""The upper bound of the least yield: all nodes as if they were one (LPBOUND; Stillwell 2010, section 4.2.3)."""

from __future__ import annotations

import numpy as np

from lease_scheduler.fractional.arrays import TOLERANCE
from lease_scheduler.fractional.problem import Instance


def yield_bound(instance: Instance) -> float | None:
    """Return the highest scaled yield that the capacity of all nodes together allows, or None if it allows none.

    It is the optimum of the rational relaxation, so no placement is better, and without it there is no placement.
    """
    capacity = instance.nodes * (1 + TOLERANCE)
    constrained = instance.constrained.sum(axis=0)
    if (instance.fixed.sum(axis=0) > capacity).any() or (constrained > capacity).any():
        return None
    rest = ((1 - instance.minimum)[:, None] * instance.fluid).sum(axis=0)
    # A dimension in which no job needs more than its minimum bounds nothing (section 4.2.3, the set NZ).
    shares = np.divide(instance.nodes - constrained, rest, out=np.ones_like(rest), where=rest > 0)
    return float(np.clip(shares.min(initial=1.0), 0, 1))
