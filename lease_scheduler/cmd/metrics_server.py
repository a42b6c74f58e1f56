"""Serves the metrics of a process to Prometheus, on its own port."""

from __future__ import annotations

from prometheus_client import CollectorRegistry, GCCollector, PlatformCollector, ProcessCollector, start_http_server

from lease_scheduler.model.errors import InvalidValueError


def process_registry() -> CollectorRegistry:
    """Return a registry with the metrics of every process: its memory, its processor time, its files."""
    registry = CollectorRegistry()
    for collector in (ProcessCollector, PlatformCollector, GCCollector):
        collector(registry=registry)
    return registry


class MetricsServer:
    """A server of metrics, which answers as soon as it is made, in its own threads.

    :raises InvalidValueError: the address cannot be listened on
    """

    def __init__(self, registry: CollectorRegistry, host: str, port: int, option: str) -> None:
        try:
            self._server, self._thread = start_http_server(port, host, registry)
        except OSError as error:
            problem = f"{host}, port {port} cannot be listened on: {error.strerror}"
            raise InvalidValueError(f"metrics.{option}", problem) from error

    def stop(self) -> None:
        """Stop answering."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
