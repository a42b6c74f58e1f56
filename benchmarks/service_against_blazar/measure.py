"""Requests timed one after the other, as a single client experiences them."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from statistics import median
from typing import Any

import numpy as np

from benchmarks.service_against_blazar.service import Service, request_body
from benchmarks.service_against_blazar.surroundings import Surroundings
from benchmarks.service_against_blazar.workload import Cell, Workload
from tests.servers.base import ServerError

OPERATIONS = ("create", "show", "list", "delete")

#: Least and greatest number of rounds of a cell.
LEAST_ROUNDS = 3
MOST_ROUNDS = 30


@dataclass(frozen=True)
class Measured:
    """One kind of request on one cell.

    :ivar service: name of the service that was measured
    :ivar times: number of timed requests
    :ivar median_ms: median, in milliseconds
    :ivar p95_ms: 95th percentile in milliseconds; the longest time if there are fewer than 20
    :ivar cloud_calls: calls to the stand-in of the cloud, per request
    :ivar cloud_ms: milliseconds that the stand-in worked, per request
    """

    service: str
    hosts: int
    leases: int
    operation: str
    times: int
    median_ms: float
    p95_ms: float
    cloud_calls: float
    cloud_ms: float


class _Stopwatch:
    """Times requests, and counts what they ask of the cloud."""

    def __init__(self, around: Surroundings) -> None:
        self._around = around
        self.taken: dict[str, list[float]] = {operation: [] for operation in OPERATIONS}
        self.asked: dict[str, list[tuple[int, float]]] = {operation: [] for operation in OPERATIONS}

    def time(self, operation: str, request: Callable[[], Any]) -> Any:
        """Send a request and return the answer."""
        calls, busy = self._around.calls()
        begun = time.perf_counter()
        answer = request()
        passed = time.perf_counter() - begun
        calls_after, busy_after = self._around.calls()
        self.taken[operation].append(passed)
        self.asked[operation].append((calls_after - calls, busy_after - busy))
        return answer


def measure(service: Service, leases: list[str], workload: Workload, budget: float) -> list[Measured]:
    """Create, show, list and delete in turn, so that every request meets the same number of leases.

    :param leases: ids of the leases that exist already
    :param budget: seconds after which no further round begins, once there are enough
    """
    random = Random(5)
    watch = _Stopwatch(service.around)
    # The first round fills caches and opens connections; it is not counted.
    _round(service, leases, workload.free_starts[0], random, _Stopwatch(service.around))
    begun = time.monotonic()
    for number, start in enumerate(workload.free_starts[1 : MOST_ROUNDS + 1]):
        if number >= LEAST_ROUNDS and time.monotonic() - begun > budget:
            break
        _round(service, leases, start, random, watch)
    return [_summary(service.name, workload.cell, name, watch.taken[name], watch.asked[name]) for name in OPERATIONS]


def _round(service: Service, leases: list[str], start: int, random: Random, watch: _Stopwatch) -> None:
    ask = service.api.ask
    body = request_body(service, start)
    made = watch.time("create", lambda: ask("POST", "leases", body))["lease"]["id"]
    shown = random.choice(leases)
    watch.time("show", lambda: ask("GET", f"leases/{shown}"))
    listed = watch.time("list", lambda: ask("GET", "leases"))["leases"]
    if len(listed) != len(leases) + 1:
        raise ServerError(f"{service.name} lists {len(listed)} leases, not {len(leases) + 1}")
    watch.time("delete", lambda: ask("DELETE", f"leases/{made}"))


def _summary(service: str, cell: Cell, operation: str, taken: list[float], asked: list[tuple[int, float]]) -> Measured:
    worst = max(taken) if len(taken) < 20 else float(np.percentile(taken, 95))
    return Measured(
        service=service,
        hosts=cell.hosts,
        leases=cell.leases,
        operation=operation,
        times=len(taken),
        median_ms=1_000 * median(taken),
        p95_ms=1_000 * worst,
        cloud_calls=median(calls for calls, _ in asked),
        cloud_ms=1_000 * median(busy for _, busy in asked),
    )
