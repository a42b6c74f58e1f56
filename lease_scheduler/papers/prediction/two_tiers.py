"""A cloud with regular and preemptible instances, as Pucher 2016 simulates it (section 4.3).

The loop beside the engine is for studies of hundreds of thousands of requests. ``prediction.lifetimes`` and
``prediction.assurance`` decide what preemptible instances are assured of.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from heapq import heappop, heappush
from math import inf

from lease_scheduler.papers.prediction.requests import DAY, Request
from lease_scheduler.prediction.assurance import AssuranceTable
from lease_scheduler.prediction.lifetimes import LifetimeSampler, Threat, slot_count
from lease_scheduler.random_streams import random_stream

#: Seconds between two tables of lifetimes (section 4.4.1).
_TABLE_EVERY = 6 * 3600


@dataclass(frozen=True)
class Assurance:
    """The promise to preemptible requests.

    :ivar preemption: largest probability of preemption; None to admit whatever fits
    :ivar threat: what an instance is preempted by
    :ivar sample_every: mean seconds between fictitious instances
    :ivar seed: seed of their instants
    :ivar confidence: confidence of the bound of the lifetimes; None for their quantile, as in the dissertation
    :ivar pools: whether levels with few samples are pooled, see ``AssuranceTable``
    """

    preemption: float | None
    threat: Threat = Threat.OLDER
    sample_every: float = 86.4
    seed: int = 1
    confidence: float | None = None
    pools: bool = False


@dataclass
class TwoTierResult:
    """The outcome of the requests of both tiers.

    :ivar regular: number of regular requests
    :ivar regular_admitted: number of admitted ones
    :ivar preemptible: number of preemptible requests
    :ivar admitted: number of admitted ones
    :ivar preempted: number of admitted ones that were preempted
    :ivar incidents: number of instants at which any was preempted
    :ivar busy: core-seconds in use until the end
    """

    regular: int = 0
    regular_admitted: int = 0
    preemptible: int = 0
    admitted: int = 0
    preempted: int = 0
    incidents: int = 0
    busy: float = 0.0

    @property
    def regular_share(self) -> float:
        """Share of the regular requests that were admitted."""
        return self.regular_admitted / max(1, self.regular)

    @property
    def admitted_share(self) -> float:
        """Share of the preemptible requests that were admitted."""
        return self.admitted / max(1, self.preemptible)

    @property
    def preempted_share(self) -> float:
        """Share of the admitted preemptible requests that were preempted."""
        return self.preempted / max(1, self.admitted)


@dataclass(frozen=True, slots=True)
class _Running:
    node: int
    cores: int
    start: float
    is_regular: bool


@dataclass(frozen=True)
class _NodeVictims:
    """Victims on a node, youngest first."""

    node: int
    victims: tuple[int, ...]


@dataclass
class _Samples:
    """Fictitious instances of one size, and the table made of them."""

    sampler: LifetimeSampler
    table: AssuranceTable | None = None
    made: float = field(default=-inf)


class TwoTierCloud:
    """Alike nodes that are filled in order. Regular requests preempt the youngest preemptible instances.

    With instances of one core only, one node with all cores is the same, and faster.

    :param nodes: number of nodes
    :param cores: cores of each node
    :param assurance: what preemptible requests are assured of
    """

    def __init__(self, nodes: int, cores: int, assurance: Assurance) -> None:
        self._cores = cores
        self._free = [cores] * nodes
        self._assurance = assurance
        self._running: dict[int, _Running] = {}
        # The preemptible instances of each node, oldest first.
        self._preemptible: list[dict[int, None]] = [{} for _ in range(nodes)]
        self._samples: dict[int, _Samples] = {}
        self._leaving: list[tuple[float, int]] = []
        self._now = 0.0
        self._last_incident = -inf

    def run(
        self, regular: Sequence[Request], preemptible: Sequence[Request], end: float, warm_up: float = DAY
    ) -> TwoTierResult:
        """Serve requests of both tiers until an instant.

        :param regular: in the order of their arrivals
        :param preemptible: the same; those that arrive before the end of the warm-up are left out
        """
        found = TwoTierResult()
        sizes = sorted({each.cores for each in preemptible if each.cores <= self._cores})
        if self._assurance.preemption is not None:
            self._samples = {
                size: _Samples(LifetimeSampler([self._cores] * len(self._free), size, self._assurance.threat))
                for size in sizes
            }
        random = random_stream(self._assurance.seed, "instants of fictitious instances")
        arrivals = [(each.arrival, 0, place) for place, each in enumerate(regular) if each.arrival < end]
        arrivals += [
            (each.arrival, 1, place) for place, each in enumerate(preemptible) if warm_up <= each.arrival < end
        ]
        instant = float(random.exponential(self._assurance.sample_every)) if self._samples else inf
        for number, (now, tier, place) in enumerate(sorted(arrivals)):
            while instant < now:
                self._end_until(instant, found)
                for each in self._samples.values():
                    each.sampler.sample(instant)
                instant += float(random.exponential(self._assurance.sample_every))
            self._end_until(now, found)
            if tier == 0:
                self._admit_regular(number, regular[place], found)
            else:
                self._admit_preemptible(number, preemptible[place], found)
        self._end_until(end, found)
        found.busy += sum(each.cores * (end - each.start) for each in self._running.values())
        return found

    def sizes(self) -> list[int]:
        """Return the sizes of fictitious instances."""
        return list(self._samples)

    def counts(self, size: int) -> Mapping[int, int]:
        """Return the number of samples behind each level of the last table of a size."""
        table = self._samples[size].table
        return {} if table is None else table.counts

    def lifetimes(self, size: int) -> LifetimeSampler:
        """Return the fictitious instances of a size."""
        return self._samples[size].sampler

    def _admit_regular(self, number: int, request: Request, found: TwoTierResult) -> None:
        found.regular += 1
        oldest = inf
        node = self._first_fit(request.cores)
        if node is None:
            choice = self._victims(request.cores)
            if choice is None:
                return
            node = choice.node
            oldest = self._running[choice.victims[-1]].start
            for victim in choice.victims:
                self._end(victim, found)
                found.preempted += 1
            found.incidents += self._now != self._last_incident
            self._last_incident = self._now
        found.regular_admitted += 1
        self._start(number, node, request, is_regular=True)
        for each in self._samples.values():
            each.sampler.regular_started(number, node, request.cores, self._now, oldest)

    def _admit_preemptible(self, number: int, request: Request, found: TwoTierResult) -> None:
        found.preemptible += 1
        node = self._first_fit(request.cores)
        if node is None or not self._is_assured(request):
            return
        found.admitted += 1
        self._start(number, node, request, is_regular=False)
        self._preemptible[node][number] = None
        for each in self._samples.values():
            each.sampler.preemptible_started(number, node, request.cores, self._now)

    def _is_assured(self, request: Request) -> bool:
        asked = self._assurance
        if asked.preemption is None:
            return True
        samples = self._samples[request.cores]
        if samples.table is None or self._now - samples.made >= _TABLE_EVERY:
            lifetimes = samples.sampler.lifetimes(self._now)
            samples.table = AssuranceTable(lifetimes, asked.preemption, asked.confidence, pools=asked.pools)
            samples.made = self._now
        return samples.table.admits(slot_count(self._free, request.cores), request.seconds)

    def _first_fit(self, cores: int) -> int | None:
        for node, free in enumerate(self._free):
            if free >= cores:
                return node
        return None

    def _victims(self, cores: int) -> _NodeVictims | None:
        """Return the youngest instances whose end frees enough cores, on the node whose oldest victim is youngest."""
        best: _NodeVictims | None = None
        best_key: tuple[float, int] | None = None
        for node, present in enumerate(self._preemptible):
            free = self._free[node]
            victims: list[int] = []
            for number in reversed(present):
                if free >= cores:
                    break
                victims.append(number)
                free += self._running[number].cores
            if free < cores or not victims:
                continue
            key = (-self._running[victims[-1]].start, len(victims))
            if best_key is None or key < best_key:
                best, best_key = _NodeVictims(node, tuple(victims)), key
        return best

    def _start(self, number: int, node: int, request: Request, *, is_regular: bool) -> None:
        self._free[node] -= request.cores
        self._running[number] = _Running(node, request.cores, self._now, is_regular)
        heappush(self._leaving, (self._now + request.seconds, number))

    def _end_until(self, now: float, found: TwoTierResult) -> None:
        while self._leaving and self._leaving[0][0] <= now:
            self._now, number = heappop(self._leaving)
            if number in self._running:
                self._end(number, found)
        self._now = now

    def _end(self, number: int, found: TwoTierResult) -> None:
        gone = self._running.pop(number)
        self._free[gone.node] += gone.cores
        found.busy += gone.cores * (self._now - gone.start)
        if not gone.is_regular:
            del self._preemptible[gone.node][number]
        for each in self._samples.values():
            if gone.is_regular:
                each.sampler.regular_ended(number)
            else:
                each.sampler.preemptible_ended(number)
