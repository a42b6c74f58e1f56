"""Hosts, leases and requests of a cell: the same for both services."""

from __future__ import annotations

import math
from dataclasses import dataclass
from random import Random

import numpy as np

HOUR = 3_600
DAY = 24 * HOUR

#: Range of the leases' lengths, and the days over which leases are spread; more days if hosts would be too full.
SHORTEST_HOURS = 1
LONGEST_HOURS = 72
_LEAST_DAYS = 60
_MOST_LOAD = 0.4

#: What each request asks for.
REQUEST_HOSTS = 2
REQUEST_HOURS = 48

_SEED = 11


@dataclass(frozen=True)
class Cell:
    """One size: a number of hosts and of leases."""

    hosts: int
    leases: int

    @property
    def hosts_per_lease(self) -> int:
        """Number of whole hosts that every lease has."""
        if self.hosts < 50:
            return 1
        return 2 if self.hosts < 500 else 4

    @property
    def hours(self) -> int:
        """How many hours into the future leases lie."""
        mean = (SHORTEST_HOURS + LONGEST_HOURS) / 2
        needed = self.leases * self.hosts_per_lease * mean / (self.hosts * _MOST_LOAD)
        return max(_LEAST_DAYS * 24, math.ceil(needed) + LONGEST_HOURS)


@dataclass(frozen=True)
class Booking:
    """A lease that exists before the measurement.

    :ivar start: hours after the beginning
    :ivar hours: length in hours
    :ivar hosts: numbers of its hosts, from 0 on
    """

    start: int
    hours: int
    hosts: tuple[int, ...]


@dataclass(frozen=True)
class Workload:
    """The existing leases, and starts (hours after the beginning) at which a request finds free hosts."""

    cell: Cell
    bookings: tuple[Booking, ...]
    free_starts: tuple[int, ...]


def workload(cell: Cell, requests: int) -> Workload:
    """Return the workload of a cell, in which no host is given to two leases at once.

    :param requests: number of starts of requests to find
    """
    random = Random(_SEED)
    taken = np.zeros((cell.hosts, cell.hours), dtype=bool)
    bookings: list[Booking] = []
    while len(bookings) < cell.leases:
        hours = random.randint(SHORTEST_HOURS, LONGEST_HOURS)
        start = random.randrange(cell.hours - hours)
        free = np.flatnonzero(~taken[:, start : start + hours].any(axis=1))
        if len(free) < cell.hosts_per_lease:
            continue
        hosts = tuple(sorted(random.sample(free.tolist(), cell.hosts_per_lease)))
        taken[list(hosts), start : start + hours] = True
        bookings.append(Booking(start, hours, hosts))
    starts: list[int] = []
    while len(starts) < requests:
        start = random.randrange(cell.hours - REQUEST_HOURS)
        if np.count_nonzero(~taken[:, start : start + REQUEST_HOURS].any(axis=1)) >= REQUEST_HOSTS:
            starts.append(start)
    return Workload(cell, tuple(bookings), tuple(starts))
