"""Loads of two services over days: one that follows the hours of the day, and one of long campaigns.

The traces of Grit 2007, section 4.7.1 (a month of an e-commerce site and of a cluster) are private. These generators
stand in for them (shirako 6.1); their parameters are chosen so that experiments agree with the dissertation.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from math import ceil, exp, log, pi, sin, sqrt

import numpy as np
import numpy.typing as npt

from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.random_streams import random_stream

FloatArray = npt.NDArray[np.float64]

#: Steps of five minutes.
STEPS_PER_HOUR = 12
STEPS_PER_DAY = 24 * STEPS_PER_HOUR


@dataclass(frozen=True)
class DailyLoad:
    """A load that follows the hours of the day, with fewer users at weekends, noise, and spikes that fade.

    :ivar base: mean load
    :ivar amplitude: by how much the hours of the day raise and lower it
    """

    base: float
    amplitude: float

    def values(self, steps: int, seed: int) -> FloatArray:
        """Return the load at each step of five minutes, shape (steps,)."""
        stream = random_stream(seed, "daily load")
        noise = spike = 0.0
        found = np.empty(steps)
        for step in range(steps):
            noise = 0.98 * noise + stream.normal(0, 1.2)
            if stream.random() < 1 / (4 * STEPS_PER_DAY):
                spike = stream.uniform(25, 60)
            spike *= 0.985
            day, hour = divmod(step / STEPS_PER_HOUR, 24)
            weekly = 0.85 if int(day) % 7 in (5, 6) else 1.0
            regular = (self.base + self.amplitude * sin(2 * pi * (hour - 9) / 24)) * weekly
            found[step] = max(0.0, regular + 2 * noise + spike + stream.normal(0, 4))
        return found


@dataclass(frozen=True)
class CampaignLoad:
    """A load of campaigns, each of which lasts for days.

    :ivar level: median height of a campaign
    :ivar hours: median duration of a campaign
    :ivar every: mean hours between the beginnings of two
    :ivar peak: largest load
    """

    level: float
    hours: float
    every: float
    peak: float

    def values(self, steps: int, seed: int) -> FloatArray:
        """Return the load at each step of five minutes, shape (steps,)."""
        stream = random_stream(seed, "campaign load")
        found = np.zeros(steps)
        ramp = 6 * STEPS_PER_HOUR
        begin = 0.0
        while (begin := begin + stream.exponential(self.every * STEPS_PER_HOUR)) < steps:
            length = max(1, ceil(exp(stream.normal(log(self.hours), 0.5)) * STEPS_PER_HOUR))
            height = exp(stream.normal(log(self.level), 0.35))
            first = int(begin)
            rise = np.minimum(1.0, np.arange(1, length + 1) / ramp)
            found[first : first + length] += (height * np.minimum(rise, rise[::-1]))[: steps - first]
        limited = np.minimum(found, self.peak)
        positive: FloatArray = limited + np.abs(stream.normal(0, 3, steps))
        return positive


def held_level(values: FloatArray, window: int, *, threshold: float = 1.0, damping: float = 7 / 8) -> FloatArray:
    """Return a load as a level that is kept until the load has left it for good (flop-flip filter, shirako A36, F131).

    See Grit 2007, section 4.7.1. The level becomes the damped mean of the last observations when that differs from it
    by more than their standard deviation.

    :param window: number of observations
    :param threshold: in standard deviations
    :param damping: weight of the damped mean so far, at least 0 and below 1
    :raises InvalidValueError: a parameter is out of range
    """
    if window < 1 or not 0 <= damping < 1:
        raise InvalidValueError("window, damping", f"must be at least 1 and in [0, 1), not {window} and {damping}")
    found = np.empty(len(values))
    recent: deque[float] = deque()
    total = squares = 0.0
    level = damped = float(values[0]) if len(values) else 0.0
    for step, value in enumerate(values.tolist()):
        recent.append(value)
        total += value
        squares += value * value
        if len(recent) > window:
            gone = recent.popleft()
            total -= gone
            squares -= gone * gone
        mean = total / len(recent)
        damped = damping * damped + (1 - damping) * mean
        if abs(level - damped) > threshold * sqrt(max(0.0, squares / len(recent) - mean * mean)):
            level = damped
        found[step] = level
    return found
