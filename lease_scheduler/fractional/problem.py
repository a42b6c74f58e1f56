"""The off-line problem: jobs for equal nodes, and what a placement gives them (Stillwell 2010, 3.1 and 4.1)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lease_scheduler.fractional.arrays import TOLERANCE, Floats, Integers
from lease_scheduler.fractional.kernels import compiled
from lease_scheduler.model.errors import InvalidValueError


@dataclass(frozen=True, eq=False)
class Instance:
    """Jobs of one task each, and equal nodes. All amounts are fractions of a node, from 0 to 1.

    The *scaled* yield of a job is 0 at its minimum and 1 at full speed (section 4.1). Without a minimum it is the
    yield.

    :ivar nodes: number of nodes, at least 1
    :ivar minimum: least yield of each job
    :ivar fixed: jobs x dimensions: requirements, which a job holds completely, such as memory
    :ivar fluid: jobs x dimensions: needs at full speed, such as CPU
    :raises InvalidValueError: a number is out of bounds, or the shapes do not agree
    """

    nodes: int
    minimum: Floats
    fixed: Floats
    fluid: Floats

    def __post_init__(self) -> None:
        if self.nodes < 1:
            raise InvalidValueError("nodes", f"must be at least 1, not {self.nodes}")
        jobs = len(self.minimum)
        for name, values, dimensions in (
            ("minimum", self.minimum, 1),
            ("fixed", self.fixed, 2),
            ("fluid", self.fluid, 2),
        ):
            if values.ndim != dimensions or len(values) != jobs:
                raise InvalidValueError(name, f"must have one row for each of {jobs} jobs, not shape {values.shape}")
            # "not all" instead of "any" also finds NaN.
            if not ((values >= 0) & (values <= 1)).all():
                raise InvalidValueError(name, "must be fractions of a node, from 0 to 1")

    @property
    def jobs(self) -> int:
        """Number of jobs."""
        return len(self.minimum)

    @property
    def constrained(self) -> Floats:
        """Jobs x fluid dimensions: what the minimum yields need."""
        return self.minimum[:, None] * self.fluid

    def vectors(self, target: float) -> Floats:
        """Return what all jobs take at a scaled yield: jobs x (fixed dimensions, then fluid ones)."""
        yields = self.minimum + target * (1 - self.minimum)
        return np.hstack([self.fixed, yields[:, None] * self.fluid])


@dataclass(frozen=True, eq=False)
class Placement:
    """A node for each job.

    :ivar nodes: index of the node of each job
    :ivar least: highest scaled yield that all jobs can have at once
    :ivar target: highest yield that a search tried with success; None if the placement was not found by a search.
        ``least`` may be higher
    """

    nodes: Integers
    least: float
    target: float | None = None


def place(instance: Instance, nodes: Integers, target: float | None = None) -> Placement | None:
    """Return the placement with its least yield, or None if a node cannot hold what its jobs need at least."""
    if not len(nodes):
        return Placement(nodes, 1.0, target)
    fixed, constrained, rest = (
        loads(values, nodes, instance.nodes)
        for values in (
            instance.fixed,
            instance.constrained,
            (1 - instance.minimum)[:, None] * instance.fluid,
        )
    )
    if (fixed > 1 + TOLERANCE).any() or (constrained > 1 + TOLERANCE).any():
        return None
    # A node without fluid needs slows no job down.
    shares = np.divide(1 - constrained, rest, out=np.ones_like(rest), where=rest > 0)
    return Placement(nodes, float(np.clip(shares.min(initial=1.0), 0, 1)), target)


def loads(values: Floats, nodes: Integers, count: int) -> Floats:
    """Return nodes x dimensions: the sum of the values of the jobs on each node.

    :param values: jobs x dimensions
    :param nodes: index of the node of each job
    :param count: number of nodes
    """
    return _sums(np.ascontiguousarray(values), nodes, count)


@compiled
def _sums(values: Floats, nodes: Integers, count: int) -> Floats:
    found = np.zeros((count, values.shape[1]))
    for job in range(len(nodes)):
        for dimension in range(values.shape[1]):
            found[nodes[job], dimension] += values[job, dimension]
    return found
