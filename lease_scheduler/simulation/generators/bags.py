"""Bags of tasks after the model of the Grid Workloads Archive (Iosup et al., HPDC 2008).

Times between arrivals and numbers of tasks follow Weibull laws. All tasks of a bag have the same duration, which
follows a normal law.

The parameters by default are those of Amini Salehi 2012, table 5.2. That table does not state which of (1.76, 2.11) is
the scale. Here it is the first one, as in its other rows.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.random_streams import random_stream

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

_SHORTEST_TASK = 1.0


@dataclass(frozen=True)
class Bags:
    """Bags in the order of arrival; arrays of the same length.

    :ivar arrival: seconds from the zero of the workload
    :ivar tasks: number of tasks of each bag
    :ivar task_duration: seconds that one task takes
    """

    arrival: Floats
    tasks: Integers
    task_duration: Floats

    @property
    def work(self) -> Floats:
        """Seconds that each bag takes on one processor."""
        return self.tasks * self.task_duration


@dataclass(frozen=True)
class BagLaws:
    """The laws of a stream of bags. Times are in seconds.

    :ivar gap_scale: scale of the Weibull law of the time between arrivals
    :ivar task_mean: mean duration of a task
    :ivar gap_shape: shape of the law of the time between arrivals; 7.86 makes it nearly constant
    :ivar tasks: scale and shape of the law of the number of tasks, which is rounded up
    :ivar task_deviation: standard deviation of the duration of a task
    :raises InvalidValueError: a value is not positive
    """

    gap_scale: float
    task_mean: float
    gap_shape: float = 7.86
    tasks: tuple[float, float] = (1.76, 2.11)
    task_deviation: float = 6.1

    def __post_init__(self) -> None:
        named = {"tasks.scale": self.tasks[0], "tasks.shape": self.tasks[1]}
        for name in ("gap_scale", "task_mean", "gap_shape", "task_deviation"):
            named[name] = getattr(self, name)
        for name, value in named.items():
            if not np.isfinite(value) or value <= 0:
                raise InvalidValueError(name, f"must be more than 0, not {value}")


def generate_bags(laws: BagLaws, span: float, seed: int, purpose: str) -> Bags:
    """Return the bags that arrive within a span of seconds.

    :param purpose: name of the stream of bags; streams of different names are independent
    """
    gaps = random_stream(seed, f"{purpose}: arrivals")
    arrival: Floats = np.empty(0)
    while not len(arrival) or arrival[-1] < span:
        more = laws.gap_scale * gaps.weibull(laws.gap_shape, size=max(16, int(span / laws.gap_scale)))
        arrival = np.concatenate((arrival, (arrival[-1] if len(arrival) else 0.0) + more.cumsum()))
    arrival = arrival[arrival < span]
    count = len(arrival)
    scale, shape = laws.tasks
    tasks = np.ceil(scale * random_stream(seed, f"{purpose}: tasks").weibull(shape, size=count))
    durations = random_stream(seed, f"{purpose}: durations").normal(laws.task_mean, laws.task_deviation, size=count)
    return Bags(arrival, np.maximum(1, tasks).astype(np.int64), np.maximum(_SHORTEST_TASK, durations))
