"""All metrics of an engine."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from typing import Any

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

from lease_scheduler.model.delays import AcceptableWait
from lease_scheduler.model.errors import EngineUnavailableError, RefusedError
from lease_scheduler.service.core.metrics.events import EventMetrics
from lease_scheduler.service.core.metrics.state import Observation, StateMetrics

_Method = Callable[..., dict[str, Any]]


class EngineMetrics:
    """All metrics of a process. The engine of the process is bound to them while it leads.

    :param registry: registry to which the metrics are added, or None for a new one
    :param per_project: whether there are also gauges for each project
    :param pools: names of the pools; none if the site has only one
    :param acceptable_wait: when a wait of a lease is too long; None for the default of the option
    :ivar events: metrics of what is written
    :ivar state: metrics of the site, while this engine leads it
    """

    def __init__(
        self,
        registry: CollectorRegistry | None = None,
        *,
        per_project: bool = False,
        pools: Sequence[str] = (),
        acceptable_wait: AcceptableWait | None = None,
    ) -> None:
        self.registry = registry or CollectorRegistry()
        self.events = EventMetrics(self.registry, pools, acceptable_wait)
        self.state = StateMetrics(per_project=per_project)
        self.registry.register(self.state)
        self.leading = Gauge(
            "lease_scheduler_engine_leading",
            "Whether this engine leads its site (1) or waits (0)",
            registry=self.registry,
        )
        self.takeovers = Counter(
            "lease_scheduler_engine_takeovers", "How often this engine began to lead", registry=self.registry
        )
        self.hosts_without_shares = Gauge(
            "lease_scheduler_hosts_without_shares",
            "Hosts on which servers of fluid leases may not have their parts of the CPU, because an agent is away",
            registry=self.registry,
        )
        self._requests = Histogram(
            "lease_scheduler_rpc_request_duration_seconds",
            "Requests to the engine by their method and the code that they were answered with",
            ["method", "code"],
            registry=self.registry,
        )

    def bind(self, look: Callable[[], Observation | None], notifications_waiting: int) -> None:
        """Note that an engine begins to lead.

        :param look: returns the present state of its site
        :param notifications_waiting: number of notifications that wait to be sent
        """
        self.takeovers.inc()
        self.events.notifications_waiting.set(notifications_waiting)
        self.state.look = look

    def unbind(self) -> None:
        """Note that the engine stops leading. Only an engine that leads shows the state of the site."""
        self.state.look = lambda: None
        self.events.notifications_waiting.set(0)

    def timed(self, methods: Mapping[str, _Method]) -> dict[str, _Method]:
        """Return the methods by name, wrapped to measure their durations."""
        return {name: self._timed(name, method) for name, method in methods.items()}

    def _timed(self, name: str, method: _Method) -> _Method:
        @wraps(method)
        def call(*arguments: Any, **keywords: Any) -> dict[str, Any]:
            began, code = time.perf_counter(), 500
            try:
                answer = method(*arguments, **keywords)
                code = 200
                return answer
            except RefusedError as error:
                code = error.code
                raise
            except EngineUnavailableError:
                code = 503
                raise
            finally:
                self._requests.labels(name, str(code)).observe(time.perf_counter() - began)

        return call
