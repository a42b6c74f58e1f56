"""How long external requests take on a site that prefers local ones (Amini Salehi 2012, section 5.2).

The site is modelled as a server for one request at a time. Local requests interrupt the external one, so an external
service time is longer than its work by the busy periods of local requests that begin during it. Service times are
modelled as gamma distributed with that mean and variance, and the queue as M/G/1/K, where K includes the request in
service.

Corrections of the printed formulas: the rate in equations 5.5 and 5.11 is that of local service, and that in equation
5.10 is the rate of external arrivals. The recursion of equation 5.9 needs tail sums and the index k - i. Algorithm 4
would return the first number that violates the threshold, plus 1.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import exp, isfinite, log1p

import numpy as np

from lease_scheduler.model.errors import InvalidValueError

#: The threshold may be exceeded by this share, so that rounding does not decide.
_TOLERANCE = 1e-9
#: Numbers of requests above this count as unlimited.
_MOST = 10_000
#: A sum below the second, divided by a number above the first, is finite.
_TINY, _HUGE = 1e-100, 1e200


@dataclass(frozen=True)
class Load:
    """The load of a site. Times are in seconds, rates per second.

    :ivar external_rate: arrivals of external requests
    :ivar external_work: mean time that an external request needs if nothing interrupts it
    :ivar local_rate: arrivals of local requests; 0 if there are none
    :ivar local_service_rate: local requests that the site could serve, one after the other
    :ivar local_variation: coefficient of variation of local service times
    :raises InvalidValueError: a value is not finite, or not positive where it must be
    """

    external_rate: float
    external_work: float
    local_rate: float = 0.0
    local_service_rate: float = 1.0
    local_variation: float = 0.0

    def __post_init__(self) -> None:
        for name in ("external_rate", "external_work", "local_service_rate"):
            if not isfinite(getattr(self, name)) or getattr(self, name) <= 0:
                raise InvalidValueError(name, f"must be more than 0, not {getattr(self, name)}")
        for name in ("local_rate", "local_variation"):
            if not isfinite(getattr(self, name)) or getattr(self, name) < 0:
                raise InvalidValueError(name, f"must be at least 0, not {getattr(self, name)}")

    @property
    def local_load(self) -> float:
        """Share of the time that local requests take."""
        return self.local_rate / self.local_service_rate

    @property
    def mean_service(self) -> float:
        """Mean external service time, interruptions included (equation 5.4). The local load must be below 1."""
        return self.external_work / (1 - self.local_load)

    @property
    def variance_of_service(self) -> float:
        """Variance of external service times (equation 5.5)."""
        rest = 1 - self.local_load
        return self.local_load / rest**3 * (self.local_variation**2 + 1) / self.local_service_rate * self.external_work

    @property
    def external_load(self) -> float:
        """External work that arrives while one request is served, in requests (equation 5.7)."""
        return self.external_rate * self.mean_service

    def mean_response(self) -> float | None:
        """Return the mean time from arrival to end with a queue of any length; None if such a queue grows for ever."""
        if self.external_load >= 1:
            return None
        second_moment = self.variance_of_service + self.mean_service**2
        return self.mean_service + self.external_rate * second_moment / (2 * (1 - self.external_load))


@dataclass(frozen=True)
class Queue:
    """The queue of external requests if a number of them is admitted at a time.

    :ivar places: that number, the request in service included
    :ivar response: mean seconds from arrival to end of those that are admitted (equation 5.6)
    :ivar blocked: share that is not admitted
    """

    places: int
    response: float
    blocked: float


def arrivals_in_service(load: Load, count: int) -> list[float]:
    """Return the probabilities of 0, 1, ... external arrivals while one request is served (equation 5.10).

    :param count: how many probabilities
    """
    mean, variance = load.mean_service, load.variance_of_service
    if variance == 0:
        # Local requests do not make service times vary: arrivals follow a Poisson law.
        found = [exp(-load.external_load)]
        for k in range(1, count):
            found.append(found[-1] * load.external_load / k)
        return found
    shape, more = mean**2 / variance, load.external_rate * variance / mean
    found = [exp(-shape * log1p(more))]
    for k in range(1, count):
        found.append(found[-1] * (k - 1 + shape) / k * more / (1 + more))
    return found


def queues(load: Load) -> Iterator[Queue]:
    """Yield the queue with one place, with two, and so on (equations 5.6 to 5.9)."""
    arrivals = arrivals_in_service(load, 1)
    if arrivals[0] < _TINY:
        # So many requests arrive during one service that the first of them takes the place that it frees.
        yield Queue(1, load.mean_service, 1 - 1 / (1 + load.external_load))
        for places in range(2, _MOST + 1):
            yield Queue(places, places * load.mean_service - 1 / load.external_rate, 1 - 1 / load.external_load)
        return
    # Probabilities, up to a common factor, that an ending service leaves 0, 1, ... requests behind.
    left = np.zeros(_MOST + 1)
    left[0] = 1.0
    total, weighted, tails = 1.0, 0.0, np.array([1 - arrivals[0]])
    for places in range(1, _MOST + 1):
        empty = float(left[0]) / total
        response = weighted / total / load.external_rate
        response += places / load.external_rate * (empty + load.external_load - 1)
        yield Queue(places, response, 1 - 1 / (empty + load.external_load))
        if places == len(arrivals):
            arrivals = arrivals_in_service(load, 2 * places)
            tails = np.maximum(0.0, 1 - np.cumsum(arrivals))
        # Whole arrays, because there are up to some thousands of places, each with a sum over all before it.
        following = float(tails[places - 1] * left[0] + tails[places - 1 : 0 : -1] @ left[1:places]) / arrivals[0]
        left[places] = following
        total += following
        weighted += places * following
        if total > _HUGE:
            left /= total
            weighted, total = weighted / total, 1.0


def most_places(load: Load, threshold: float, least: int = 1) -> int | None:
    """Return how many external requests to admit at a time, or None for any number (algorithm 4).

    It is the largest number with which admitted requests take no longer than the threshold on average. It is 0 if local
    requests take all of the time, because then no external one is ever served.

    :param threshold: seconds from arrival to end
    :param least: smallest result otherwise
    """
    if load.local_load >= 1:
        return 0
    limit = threshold * (1 + _TOLERANCE)
    unlimited = load.mean_response()
    if unlimited is not None and unlimited <= limit:
        return None
    fitting = 0
    for queue in queues(load):
        if queue.response > limit:
            return max(least, fitting)
        fitting = queue.places
    return None


def places_by_rates(load: Load) -> int | None:
    """Return how many external requests can be served between two local ones, at least 1 (RACP, section 5.3.2).

    That is the service rate without interruptions over the local arrival rate. None means any number, as there are next
    to no local requests.
    """
    if load.external_work * load.local_rate * _MOST < 1:
        return None
    return max(1, round(1 / (load.external_work * load.local_rate)))
