"""Prometheus metrics of requests to the REST service."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from typing import Any

from prometheus_client import CollectorRegistry, Histogram

#: Key in the WSGI environment of a request under which the application names the route.
ROUTE = "lease_scheduler.route"

_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})

_Application = Callable[..., Iterable[bytes]]


class RequestMetrics:
    """Metrics taken in front of the token check, so that requests which never reach the application count too.

    Labels take few values, whatever is requested: the route is the path as declared, or ``none``.
    """

    def __init__(self, registry: CollectorRegistry) -> None:
        self._requests = Histogram(
            "lease_scheduler_http_request_duration_seconds",
            "REST requests by method, route and status code",
            ["method", "route", "code"],
            registry=registry,
        )

    def measured(self, app: _Application) -> _Application:
        """Return a WSGI application that measures the requests to the given one."""

        def serve(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
            began, code = time.perf_counter(), "500"

            def start(status: str, *arguments: Any) -> Any:
                nonlocal code
                code = status.partition(" ")[0]
                return start_response(status, *arguments)

            try:
                return app(environ, start)
            finally:
                method = environ["REQUEST_METHOD"]
                labels = (method if method in _METHODS else "other", environ.get(ROUTE, "none"), code)
                self._requests.labels(*labels).observe(time.perf_counter() - began)

        return serve
