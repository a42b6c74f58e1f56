"""Traces of jobs, and their schedules (Stillwell 2010, sections 5.1 and 5.3)."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from lease_scheduler.fractional.arrays import Floats, Integers
from lease_scheduler.fractional.stretch_bound import SHORTEST, stretch_bound
from lease_scheduler.model.errors import InvalidValueError


@dataclass(frozen=True, eq=False)
class Trace:
    """Jobs in the order of their submission; arrays of the same length.

    :ivar nodes: number of nodes of the cluster
    :ivar release: submission in seconds, at least 0
    :ivar tasks: number of tasks
    :ivar cpu: CPU need of each task, more than 0 and at most 1 node
    :ivar memory: memory of each task, at least 0 and at most 1 node
    :ivar processing: seconds that the job takes alone, more than 0
    :raises InvalidValueError: a number is out of bounds, or a job does not fit into the empty cluster
    """

    nodes: int
    release: Floats
    tasks: Integers
    cpu: Floats
    memory: Floats
    processing: Floats

    def __post_init__(self) -> None:
        if self.nodes < 1:
            raise InvalidValueError("nodes", f"must be at least 1, not {self.nodes}")
        for field in ("release", "cpu", "memory", "processing"):
            object.__setattr__(self, field, np.ascontiguousarray(getattr(self, field), float))
        object.__setattr__(self, "tasks", np.ascontiguousarray(self.tasks, np.int64))
        in_order = (self.release >= 0) & (self.release < np.inf) & (np.diff(self.release, prepend=0) >= 0)
        for field, is_good, rule in (
            ("release", in_order, "must be at least 0, finite and in order"),
            ("tasks", self.tasks >= 1, "must be at least 1"),
            ("cpu", (self.cpu > 0) & (self.cpu <= 1), "must be more than 0 and at most 1 node"),
            ("memory", (self.memory >= 0) & (self.memory <= 1), "must be from 0 to 1 node"),
            ("processing", (self.processing > 0) & (self.processing < np.inf), "must be more than 0 and finite"),
        ):
            if not is_good.all():
                raise InvalidValueError(f"{field}[{int(np.argmin(is_good))}]", rule)
        each = np.floor(1 / np.maximum(self.memory, 1e-9) + 1e-9)
        for field, most in (("tasks", self.nodes * each), ("tasks x cpu", self.nodes / self.cpu)):
            if (self.tasks > most).any():
                job = int(np.argmax(self.tasks > most))
                raise InvalidValueError(f"{field}[{job}]", f"must fit into the {self.nodes} empty nodes")

    @property
    def load(self) -> float:
        """Work that is submitted per second, as a share of what all nodes can do."""
        work = float((self.processing * self.tasks * self.cpu).sum())
        return work / self.nodes / float(self.release[-1] - self.release[0])

    def scaled(self, load: float) -> Trace:
        """Return the same jobs with the times between them stretched to a load, in whole seconds.

        :param load: more than 0
        :raises InvalidValueError: the load is out of bounds, or all jobs are submitted at one instant
        """
        if not 0 < load < np.inf:
            raise InvalidValueError("load", f"must be more than 0, not {load:g}")
        if not len(self.release) or self.release[-1] == self.release[0]:
            raise InvalidValueError("load", "the jobs must be submitted at two instants at least")
        return replace(self, release=np.round(self.release * (self.load / load)))

    def bound(self) -> float:
        """Return a lower bound of the largest stretch in any schedule of these jobs."""
        return stretch_bound(self.nodes, self.release, self.processing, self.tasks * self.cpu)

    def stretches(self, ends: Floats) -> Floats:
        """Return the bounded stretch of each job."""
        return np.maximum(1, (ends - self.release) / np.maximum(SHORTEST, self.processing))


@dataclass(frozen=True, eq=False)
class Schedule:
    """The outcome of a run of a trace.

    :ivar ends: end of each job in seconds
    :ivar resumed: number of resumptions after a pause
    :ivar moved: number of times that a running job changed nodes
    :ivar resumed_memory: memory of all tasks that were resumed, in nodes
    :ivar moved_memory: memory of all tasks that left a node for another one, in nodes
    """

    ends: Floats
    resumed: int = 0
    moved: int = 0
    resumed_memory: float = 0.0
    moved_memory: float = 0.0
