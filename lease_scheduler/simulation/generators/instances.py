"""Off-line instances: jobs with random requirements and needs on equal nodes (Stillwell 2010, section 4.3)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lease_scheduler.fractional.arrays import Floats
from lease_scheduler.fractional.problem import Instance
from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.random_streams import random_stream

#: Mean of requirements and needs, and the bounds within which they are drawn.
_MEAN, _LEAST, _MOST = 0.5, 0.01, 1.0

#: Minimum yield of a job that has one.
_MINIMUM = 0.5


@dataclass(frozen=True)
class InstanceLaw:
    """The law of random instances.

    :ivar nodes: number of nodes
    :ivar jobs: number of jobs
    :ivar dimensions: number of dimensions, an even number; half of them are fixed
    :ivar sigma: standard deviation of requirements and needs, more than 0; their mean is 0.5
    :ivar guaranteed: probability that a job has a minimum yield, which is 0.5
    :ivar slack: share of each fixed dimension that stays free on all nodes together, at least 0 and less than 1
    :raises InvalidValueError: a number is out of bounds
    """

    nodes: int
    jobs: int
    dimensions: int
    sigma: float
    guaranteed: float
    slack: float

    def __post_init__(self) -> None:
        for field, low in (("nodes", 1), ("jobs", 1), ("dimensions", 2)):
            value = getattr(self, field)
            if value < low:
                raise InvalidValueError(field, f"must be at least {low}, not {value}")
        if self.dimensions % 2:
            raise InvalidValueError("dimensions", f"must be even, as half of them are fixed, not {self.dimensions}")
        if not self.sigma > 0:
            raise InvalidValueError("sigma", f"must be more than 0, not {self.sigma}")
        if not 0 <= self.guaranteed <= 1:
            raise InvalidValueError("guaranteed", f"must be from 0 to 1, not {self.guaranteed}")
        if not 0 <= self.slack < 1:
            raise InvalidValueError("slack", f"must be at least 0 and less than 1, not {self.slack}")

    def draw(self, seed: int) -> Instance:
        """Return the instance of a seed.

        :param seed: at least 0
        """
        random = random_stream(seed, "instances")
        half = self.dimensions // 2
        minimum = np.where(random.random(self.jobs) < self.guaranteed, _MINIMUM, 0.0)
        values = _truncated_normal(random, self.sigma, (self.jobs, self.dimensions))
        fixed, fluid = values[:, :half], values[:, half:]
        # Only fixed requirements are scaled, so many jobs together need more CPU than there is.
        fixed = np.minimum(1, fixed * ((1 - self.slack) * self.nodes / fixed.sum(axis=0)))
        return Instance(self.nodes, minimum, np.round(fixed, 3), np.round(fluid, 3))


def _truncated_normal(random: np.random.Generator, sigma: float, shape: tuple[int, int]) -> Floats:
    values = random.normal(_MEAN, sigma, shape)
    while (outside := (values < _LEAST) | (values > _MOST)).any():
        values[outside] = random.normal(_MEAN, sigma, int(outside.sum()))
    return values
