"""Requests of flows that share a site (Grit 2007, section 5.7.1; shirako 6.3)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import ceil, floor, log, log2

import numpy as np

from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.random_streams import random_stream

#: Number of requests that are drawn at a time.
_BATCH = 1_000


@dataclass(frozen=True)
class FlowLoad:
    """The requests of a flow, which arrive at a constant rate.

    :ivar name: name of the flow
    :ivar share: its share of the site, above 0 and at most 1
    :ivar durations: least and most ticks of a request, uniformly distributed
    :ivar widths: least and most hosts of a request: half of the requests have a power of two, the others are
        distributed log-uniformly; None for requests of one host
    :ivar load: work that it requests per tick, as a multiple of the capacity of the site
    :ivar least: smallest part of its width that a request accepts, above 0 and at most 1
    :ivar times: intervals in which it requests, in ticks; None for the whole run
    :raises InvalidValueError: a value is out of range
    """

    name: str
    share: float
    durations: tuple[int, int]
    widths: tuple[int, int] | None = None
    load: float = 1.5
    least: float = 1.0
    times: tuple[tuple[int, int], ...] | None = None

    def __post_init__(self) -> None:
        if not 0 < self.share <= 1:
            raise InvalidValueError("share", f"must be above 0 and at most 1, not {self.share}")
        for name, bounds in (("durations", self.durations), ("widths", self.widths)):
            if bounds is not None and not 1 <= bounds[0] <= bounds[1]:
                raise InvalidValueError(name, f"must be two ascending whole numbers of at least 1, not {bounds}")
        if not 0 < self.least <= 1:
            raise InvalidValueError("least", f"must be above 0 and at most 1, not {self.least}")
        if self.load < 0:
            raise InvalidValueError("load", f"must be at least 0, not {self.load}")

    def least_width(self, width: int) -> int:
        """Return the smallest number of hosts that a request of this width accepts."""
        return ceil(self.least * width)

    @property
    def mean_width(self) -> float:
        """Estimate of the mean width that its rate is computed with."""
        return 1.0 if self.widths is None else max(1.0, sum(self.widths) / 4)

    def rate(self, hosts: int) -> float:
        """Return the number of requests per tick on a site of this many hosts."""
        return self.load * hosts / (sum(self.durations) / 2 * self.mean_width)

    def arrivals(self, hosts: int, ticks: int) -> Iterator[tuple[int, int]]:
        """Yield the ticks at which requests arrive, each with their number."""
        rate, due = self.rate(hosts), 0.0
        for tick in range(ticks):
            if self.times is not None and not any(start <= tick < end for start, end in self.times):
                continue
            due += rate
            count = int(due)
            if count:
                due -= count
                yield tick, count

    def requests(self, seed: int) -> Iterator[tuple[int, int]]:
        """Yield the width and the duration of one request after the other, without end."""
        stream = random_stream(seed, f"flow {self.name}")
        low, high = self.durations
        while True:
            durations = stream.integers(low, high + 1, _BATCH).tolist()
            widths = [1] * _BATCH if self.widths is None else _widths(stream, *self.widths)
            yield from zip(widths, durations, strict=True)


def _widths(stream: np.random.Generator, low: int, high: int) -> list[int]:
    first, last = ceil(log2(low)), floor(log2(high))
    spread = np.clip(np.rint(np.exp(stream.uniform(log(low), log(high), _BATCH))), low, high).astype(int)
    if first > last:
        return [int(width) for width in spread]
    powers = 2 ** stream.integers(first, last + 1, _BATCH)
    return [int(width) for width in np.where(stream.random(_BATCH) < 0.5, powers, spread)]
