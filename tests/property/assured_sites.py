"""Synthetic sites on which lifetimes are promised, and what becomes of the promises."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from heapq import heappop, heappush
from typing import Any

import numpy as np
from numpy.random import Generator

from lease_scheduler.model.grant import Grant
from lease_scheduler.model.host import Site
from lease_scheduler.model.kinds import Assured, LeaseKind
from lease_scheduler.model.lease import Lease, LeaseRequest
from lease_scheduler.model.nodes import NodeSet
from lease_scheduler.model.resources import VCPU, Resources
from lease_scheduler.model.states import LeaseState
from lease_scheduler.policy.assurance.base import AssurancePolicy, Promise, Wanted
from lease_scheduler.policy.outcomes import Outcome

HOUR, DAY = 3_600, 86_400
#: Hosts of a site; a node fills one.
NODES = 16

#: A Monday at midnight, from which instants count.
_BEGIN = 20_003 * DAY
_NODE = Resources({VCPU: 4})
_SITE = Site.homogeneous(NODES, _NODE)


@dataclass(frozen=True)
class Reservation:
    """A reservation that starts when it is requested.

    :ivar start: seconds since the beginning
    """

    start: int
    seconds: int
    nodes: int


#: Makes the reservations of a site: from random numbers, the seconds that they cover, and when a lifetime is asked for.
Family = Callable[[Generator, int, int], list[Reservation]]


def _instants(random: Generator, seconds: int, rate: Callable[[float], float], highest: float) -> Iterator[int]:
    """Yield the instants of a Poisson process with a changing rate per hour, by thinning."""
    now = 0.0
    while (now := now + random.exponential(HOUR / highest)) < seconds:
        if random.random() * highest < rate(now):
            yield int(now)


def _small(random: Generator, seconds: int, rate: Callable[[float], float], highest: float) -> list[Reservation]:
    """Return reservations of one to three nodes for about two hours each."""
    found = []
    for now in _instants(random, seconds, rate, highest):
        length = min(max(random.lognormal(np.log(2 * HOUR), 0.8), 600), 2 * DAY)
        found.append(Reservation(now, int(length), int(random.integers(1, 4))))
    return found


def _in_order(*parts: list[Reservation]) -> list[Reservation]:
    return sorted((each for part in parts for each in part), key=lambda each: each.start)


def _is_working_hour(now: float) -> bool:
    return 8 <= now % DAY / HOUR < 18


def steady(random: Generator, seconds: int, ask: int) -> list[Reservation]:
    """Requests come at any time."""
    rate = random.uniform(0.3, 1.5)
    return _small(random, seconds, lambda now: rate, rate)


def daily(random: Generator, seconds: int, ask: int) -> list[Reservation]:
    """Most requests come by day."""
    rate = random.uniform(0.5, 2.0)
    return _small(random, seconds, lambda now: rate if _is_working_hour(now) else rate / 10, rate)


def weekly(random: Generator, seconds: int, ask: int) -> list[Reservation]:
    """Nearly all come by day and from Monday to Friday."""
    rate = random.uniform(0.5, 2.0)

    def at(now: float) -> float:
        return rate if _is_working_hour(now) and now // DAY % 7 < 5 else rate / 20

    return _small(random, seconds, at, rate)


def working_weeks(random: Generator, seconds: int, ask: int) -> list[Reservation]:
    """Half of the site and more is reserved from Monday morning to Friday evening."""
    nodes, rate = int(random.integers(6, 12)), random.uniform(0.1, 0.4)
    weeks = [Reservation(week * DAY + 8 * HOUR, 4 * DAY + 10 * HOUR, nodes) for week in range(0, seconds // DAY, 7)]
    return _in_order(weeks, _small(random, seconds, lambda now: rate, rate))


def bursts(random: Generator, seconds: int, ask: int) -> list[Reservation]:
    """Now and then a request takes most of the site."""
    rate = 1 / random.uniform(50, 300)
    large = [
        Reservation(now, int(random.integers(1, 8)) * HOUR, int(random.integers(8, 14)))
        for now in _instants(random, seconds, lambda now: rate, rate)
    ]
    return _in_order(large, steady(random, seconds, ask))


def pauses(random: Generator, seconds: int, ask: int) -> list[Reservation]:
    """Most of the site is always reserved, except for short pauses. In a pause the past is a bad guide."""
    nodes, rate = int(random.integers(8, 13)), random.uniform(0.1, 0.3)
    large, now = [], 0
    while now < seconds:
        length = int(random.exponential(30 * HOUR)) + 600
        large.append(Reservation(now, length, nodes))
        now += length + int(random.exponential(3 * HOUR)) + 60
    return _in_order(large, _small(random, seconds, lambda now: rate, rate))


def growing(random: Generator, seconds: int, ask: int) -> list[Reservation]:
    """The load grows all the time, to twice or five times what it was."""
    rate, factor = random.uniform(0.15, 0.5), random.uniform(2, 5)
    return _small(random, seconds, lambda now: rate * (1 + (factor - 1) * now / seconds), rate * factor)


def doubled(random: Generator, seconds: int, ask: int) -> list[Reservation]:
    """The load doubles or more, between 30 hours and eight days before the question."""
    rate, factor = random.uniform(0.2, 0.8), random.uniform(2, 4)
    change = ask - random.uniform(30 * HOUR, 8 * DAY)
    return _small(random, seconds, lambda now: rate * (factor if now > change else 1), rate * factor)


def surging(random: Generator, seconds: int, ask: int) -> list[Reservation]:
    """A site that was nearly idle is in demand since some days."""
    rate, factor = random.uniform(0.05, 0.3), random.uniform(4, 10)
    change = ask - random.uniform(40 * HOUR, 5 * DAY)
    return _small(random, seconds, lambda now: rate * (factor if now > change else 1), rate * factor)


FAMILIES: tuple[Family, ...] = (
    steady,
    daily,
    weekly,
    working_weeks,
    bursts,
    pauses,
    growing,
    doubled,
    surging,
)


@dataclass(frozen=True)
class Promised:
    """A promise that was given, for this many seconds."""

    lease_id: str
    seconds: int


class SyntheticSite:
    """A site on which reservations preempt the youngest promised lease first.

    :param policy: makes promises
    :param reservations: in the order of their starts
    :ivar used: nodes that are reserved at present
    :ivar broken: leases that had to leave within their lifetimes
    """

    def __init__(self, policy: AssurancePolicy, reservations: list[Reservation]) -> None:
        self._policy = policy
        policy.follow(_SITE)
        self._to_come = iter(reservations)
        self._next = next(self._to_come, None)
        self._ends: list[tuple[int, int]] = []
        self._running: dict[int, Lease] = {}
        self._promised: list[Lease] = []
        self._number = 0
        self.used = 0
        self.broken: set[str] = set()

    def until(self, instant: int) -> None:
        """Process all events up to an instant, ends before starts."""
        while True:
            end = self._ends[0][0] if self._ends else instant + 1
            upcoming = self._next
            start = upcoming.start if upcoming is not None else instant + 1
            if end <= min(start, instant):
                self._end(*heappop(self._ends))
            elif upcoming is not None and start <= instant:
                self._next = next(self._to_come, None)
                self.reserve(upcoming)
            else:
                return

    def reserve(self, asked: Reservation) -> None:
        """Start a reservation, or refuse it if it does not fit."""
        now = _BEGIN + asked.start
        lease = self._lease(asked.nodes, now, asked.seconds, kind=LeaseKind.RESERVATION, preemptible=False, start=now)
        if self.used + asked.nodes > NODES:
            self._policy.observe(Outcome.REFUSED, replace(lease, state=LeaseState.REJECTED), None, now)
            return
        self.used += asked.nodes
        while self._left(now) < 0:
            victim = self._promised.pop()
            self.broken.add(victim.lease_id)
            lost = replace(victim, grant=replace(victim.grant, assured=Assured.BROKEN), active_since=None)
            self._policy.observe(Outcome.BROKEN, lost, victim, now)
        self._running[lease.sequence] = lease = replace(lease, started=now, active_since=now)
        heappush(self._ends, (asked.start + asked.seconds, lease.sequence))
        self._policy.observe(Outcome.STARTED, lease, None, now)

    def ask(self, instant: int, nodes: int, lifetimes: list[int], assurance: float) -> Promised | None:
        """Ask for lifetimes, one after the other, until one is promised."""
        now = _BEGIN + instant
        if self._left(now) < nodes:
            return None
        for seconds in lifetimes:
            terms = {"preemptible": True, "min_lifetime": seconds, "assurance": assurance}
            lease = self._lease(nodes, now, 30 * DAY, kind=LeaseKind.BEST_EFFORT, **terms)
            made = self._policy.promise(Wanted(lease.request), now)
            if isinstance(made, Promise):
                lease = replace(lease, grant=Grant(assured=made.basis), started=now)
                lease = replace(lease, active_since=now)
                self._promised.append(lease)
                self._policy.observe(Outcome.STARTED, lease, None, now)
                return Promised(lease.lease_id, seconds)
        return None

    def _lease(self, nodes: int, now: int, seconds: int, **terms: Any) -> Lease:
        self._number += 1
        request = LeaseRequest(
            str(self._number), nodes=(NodeSet(nodes, _NODE),), submitted=now, duration=seconds, **terms
        )
        return Lease(request, self._number, LeaseState.ACTIVE)

    def _left(self, now: int) -> int:
        """Return how many nodes neither reservations nor promised leases have."""
        self._promised = [each for each in self._promised if (each.assured_until or 0) > now]
        return NODES - self.used - sum(each.request.node_count for each in self._promised)

    def _end(self, instant: int, number: int) -> None:
        lease = self._running.pop(number)
        self.used -= lease.request.node_count
        over = replace(lease, state=LeaseState.DONE, active_since=None)
        self._policy.observe(Outcome.DONE, over, lease, _BEGIN + instant)
