"""A cloud of alike nodes that are put to sleep, as Pucher 2016 simulates it (section 3.3).

The loop beside the engine is for studies of millions of requests. ``prediction.hot_spare`` decides which nodes stay
awake.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from heapq import heappop, heappush
from math import inf

from lease_scheduler.papers.prediction.requests import Request
from lease_scheduler.prediction.hot_spare import HotSpare, PoweredHost, SpareRules, power_change


@dataclass(frozen=True)
class PowerSettings:
    """Settings of power saving.

    :ivar rules: how the spare is learned
    :ivar epoch: seconds between decisions
    :ivar wake_seconds: seconds that a node takes to wake
    """

    rules: SpareRules
    epoch: int
    wake_seconds: float


@dataclass(frozen=True)
class PowerResult:
    """The outcome of the requests.

    :ivar accepted: number of requests that got a node
    :ivar rejected: number of those that did not
    :ivar delayed: number of accepted ones that waited for a node to wake
    :ivar utilisation: share of the cores in use, for each node
    :ivar uptime: share of the time awake or waking, for each node
    """

    accepted: int
    rejected: int
    delayed: int
    utilisation: tuple[float, ...]
    uptime: tuple[float, ...]

    @property
    def acceptance(self) -> float:
        """Share of the requests that got a node."""
        return self.accepted / max(1, self.accepted + self.rejected)

    @property
    def responsiveness(self) -> float:
        """Share of the accepted requests that did not wait for a node to wake."""
        return 1 - self.delayed / max(1, self.accepted)

    @property
    def efficiency(self) -> float:
        """Utilisation over uptime (equation 3.1)."""
        return power_efficiency(sum(self.utilisation), sum(self.uptime))


def power_efficiency(utilisation: float, uptime: float) -> float:
    """Return the power efficiency of equation 3.1."""
    return utilisation / uptime


class PowerCloud:
    """Nodes that are filled in order: awake ones first, then waking ones, then sleeping ones.

    :param nodes: number of nodes
    :param cores: cores of each node
    :param settings: how power is saved; None to keep all nodes awake
    """

    def __init__(self, nodes: int, cores: int, settings: PowerSettings | None = None) -> None:
        self._nodes = nodes
        self._cores = cores
        self._settings = settings
        self._free = [cores] * nodes
        # Number of cores -> bit mask of the nodes that have at least as many free.
        self._nodes_with = [(1 << nodes) - 1] * (cores + 1)
        self._awake, self._waking, self._asleep = (1 << nodes) - 1, 0, 0
        self._up_since: list[float | None] = [0.0] * nodes
        self._awake_at = [0.0] * nodes
        self._up = [0.0] * nodes
        self._busy = [0.0] * nodes
        self._spare = HotSpare(settings.rules) if settings is not None else None

    def run(self, requests: Iterable[Request], end: float, most_rejected: int | None = None) -> PowerResult | None:
        """Serve requests. Return their outcome, or None as soon as too many are rejected.

        :param requests: in the order of their arrivals
        :param end: end of the measurement in seconds
        :param most_rejected: maximum number of rejected requests; None for no limit
        """
        leaving: list[tuple[float, int, int]] = []
        accepted = rejected = delayed = 0
        epoch = self._settings.epoch if self._settings is not None else inf
        next_epoch = epoch
        for request in requests:
            now = request.arrival
            while (leaving and leaving[0][0] <= now) or next_epoch <= now:
                if leaving and leaving[0][0] <= next_epoch:
                    self._leave(*heappop(leaving)[1:])
                else:
                    self._end_epoch(next_epoch)
                    next_epoch += epoch
            node = self._find(request.cores, now)
            if node is None:
                rejected += 1
                if most_rejected is not None and rejected > most_rejected:
                    return None
                continue
            accepted += 1
            wait = self._wait_for(node, now)
            delayed += wait > 0
            until = now + wait + request.seconds
            self._enter(node, request.cores)
            self._busy[node] += (min(until, end) - now) * request.cores if now < end else 0.0
            heappush(leaving, (until, node, request.cores))
        while next_epoch <= end:
            while leaving and leaving[0][0] <= next_epoch:
                self._leave(*heappop(leaving)[1:])
            self._end_epoch(next_epoch)
            next_epoch += epoch
        for node, since in enumerate(self._up_since):
            self._up[node] += end - since if since is not None else 0.0
        return PowerResult(
            accepted,
            rejected,
            delayed,
            tuple(busy / (self._cores * end) for busy in self._busy),
            tuple(up / end for up in self._up),
        )

    def _find(self, cores: int, now: float) -> int | None:
        if cores > self._cores:
            return None
        fitting = self._nodes_with[cores]
        if self._waking:
            self._note_awake(now)
        found = (fitting & self._awake) or (fitting & self._waking) or (fitting & self._asleep)
        return (found & -found).bit_length() - 1 if found else None

    def _enter(self, node: int, cores: int) -> None:
        free = self._free[node]
        for count in range(free - cores + 1, free + 1):
            self._nodes_with[count] &= ~(1 << node)
        self._free[node] = free - cores
        if self._spare is not None:
            self._spare.started(cores)

    def _leave(self, node: int, cores: int) -> None:
        free = self._free[node]
        for count in range(free + 1, free + cores + 1):
            self._nodes_with[count] |= 1 << node
        self._free[node] = free + cores
        if self._spare is not None:
            self._spare.ended(cores)

    def _wait_for(self, node: int, now: float) -> float:
        if self._asleep >> node & 1:
            self._wake(node, now)
        return self._awake_at[node] - now if self._waking >> node & 1 else 0.0

    def _note_awake(self, now: float) -> None:
        for node in range(self._nodes):
            if self._waking >> node & 1 and self._awake_at[node] <= now:
                self._waking &= ~(1 << node)
                self._awake |= 1 << node

    def _wake(self, node: int, now: float) -> None:
        assert self._settings is not None
        self._asleep &= ~(1 << node)
        self._waking |= 1 << node
        self._awake_at[node] = now + self._settings.wake_seconds
        self._up_since[node] = now

    def _end_epoch(self, now: float) -> None:
        assert self._spare is not None
        self._spare.end_epoch()
        self._note_awake(now)
        spare = self._spare.cores()
        if spare is None:
            return
        hosts = [
            PoweredHost(self._cores, free, not self._asleep >> node & 1, bool(self._waking >> node & 1))
            for node, free in enumerate(self._free)
        ]
        change = power_change(hosts, spare)
        for node in change.wake:
            self._wake(node, now)
        for node in change.sleep:
            self._awake &= ~(1 << node)
            self._asleep |= 1 << node
            self._up[node] += now - (self._up_since[node] or 0.0)
            self._up_since[node] = None
