"""One sliver that follows its load (Grit 2007, section 6.2, figure 6.1; shirako E14)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from lease_scheduler.plan.capacity.worst_fit import grown
from lease_scheduler.simulation.generators.daily_load import STEPS_PER_DAY, STEPS_PER_HOUR, DailyLoad, held_level
from lease_scheduler.simulation.tracking import TrackingError

#: Resource of figure 6.1 -> its amount on a host.
HOST = {"CPU": 100, "bandwidth": 700}

_STEPS = 30 * STEPS_PER_DAY
_WINDOW = 30
_LOAD = DailyLoad(75, 35)

#: Steps from the end of a round of allocations to the next one.
INTERVAL = 1


@dataclass(frozen=True)
class SliverCase:
    """A month of one sliver on a host of its own.

    :ivar resource: a key of ``HOST``
    :ivar hours: length of a lease; the sliver gets another size when the lease is extended
    :ivar seed: seed of the load
    """

    resource: str
    hours: int
    seed: int
    cost_s: ClassVar[float] = 0.2

    @property
    def name(self) -> str:
        """See ``campaigns.case.Case``."""
        return f"sliver {self.resource} {self.hours} h seed {self.seed}"

    def run(self) -> dict[str, Any]:
        """See ``campaigns.case.Case``."""
        offered = HOST[self.resource]
        load = _LOAD.values(_STEPS, self.seed)
        demand = held_level(load * offered / load.max(), _WINDOW)
        free, one = np.array([[offered]]), np.array([1])
        allocated = np.empty(_STEPS)
        term = self.hours * STEPS_PER_HOUR
        for start in range(0, _STEPS, term):
            # What is asked for was measured when the round of allocations before the extension began.
            wanted = np.array([max(1, round(float(demand[max(0, start - INTERVAL)])))])
            allocated[start : start + term] = grown(free, one, wanted)[0]
        error, extent = TrackingError.of(demand, allocated), float(demand.max() - demand.min())
        return {
            "rmse_share": error.rmse / extent,
            "biased_share": error.biased() / extent,
            "largest": float(allocated.max()),
            "lag_steps": _lag(demand, allocated, 2 * term),
        }


def _lag(demand: np.ndarray[Any, Any], allocated: np.ndarray[Any, Any], most: int) -> int:
    """Return by how many steps the allocation follows the demand, by the best correlation."""
    best = max(range(most + 1), key=lambda lag: float(np.corrcoef(demand[: len(demand) - lag], allocated[lag:])[0, 1]))
    return int(best)
