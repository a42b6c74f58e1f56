"""The month in steps of five minutes for which experiments of Grit 2007 run two users (section 4.7)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lease_scheduler.simulation.generators.daily_load import STEPS_PER_DAY, FloatArray

DAYS = 30
STEPS = DAYS * STEPS_PER_DAY
#: Steps in the window of the filter of the load of e-commerce (section 4.7.1): 150 minutes.
WINDOW = 30


def means(values: FloatArray | Sequence[int], steps: int) -> list[float]:
    """Return the means of values by step over intervals, rounded for figures.

    :param values: by step; their number is a multiple of ``steps``
    :param steps: steps of an interval
    """
    found = np.asarray(values, dtype=np.float64).reshape(-1, steps).mean(axis=1)
    return [round(float(mean), 2) for mean in found]
