"""Requests in ranges on a site with worst fit (Grit 2007, section 4.7.3, table 4.3; shirako E3)."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from math import ceil
from typing import Any, ClassVar

import numpy as np

from lease_scheduler.plan.capacity.availability import IntArray
from lease_scheduler.plan.capacity.worst_fit import Slivers, worst_fit
from lease_scheduler.random_streams import random_stream

#: As in table 4.3: requests, grains of a host in each of three classes, hosts.
REQUESTS = 2_024
_GRAINS = 100
_CLASSES = 3
_HOSTS = 100

#: In hours. Requests are spread evenly over the month; each asks for one term.
_MONTH = 30 * 24
_TERM = 12

#: Slivers of a request, and its share of a host in each class.
_UNITS = (10, 40)
_SHARES = (0.2, 1.0)


@dataclass(frozen=True)
class ElasticCase:
    """A month of requests of one elasticity.

    :ivar elasticity: in per cent: 0 if only the largest number and size are of use, 100 if any are
    :ivar seed: seed of the requests
    """

    elasticity: int
    seed: int
    cost_s: ClassVar[float] = 0.2

    @property
    def name(self) -> str:
        """See ``campaigns.case.Case``."""
        return f"elasticity {self.elasticity} seed {self.seed}"

    def run(self) -> dict[str, Any]:
        """See ``campaigns.case.Case``."""
        stream = random_stream(self.seed, "elastic requests")
        units = stream.integers(_UNITS[0], _UNITS[1] + 1, REQUESTS)
        sizes = np.maximum(1, np.rint(stream.uniform(*_SHARES, (REQUESTS, _CLASSES)) * _GRAINS)).astype(np.int64)
        free = np.full((_CLASSES, _HOSTS), _GRAINS, dtype=np.int64)
        running: deque[tuple[float, IntArray]] = deque()
        allocated = rejected = 0
        for number in range(REQUESTS):
            now = number * _MONTH / REQUESTS
            while running and running[0][0] <= now:
                free += running.popleft()[1]
            wanted = _slivers(int(units[number]), sizes[number], self.elasticity)
            found = worst_fit(free, wanted)
            if found is None:
                rejected += 1
                continue
            taken = found.size[:, None] * found.counts
            free -= taken
            running.append((now + _TERM, taken))
            allocated += 1
        return {"allocated": allocated, "rejected": rejected}


def _slivers(units: int, size: IntArray, elasticity: int) -> Slivers:
    """Return what a request accepts: from (1 - elasticity) of each amount to all of it (shirako P27)."""
    least = 100 - elasticity
    smallest = np.maximum(1, -(-size * least // 100))
    return Slivers(max(1, ceil(units * least / 100)), units, smallest, size)
