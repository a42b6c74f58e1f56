"""Server of the metrics of a process for Prometheus, on a port of its own."""

from __future__ import annotations

from prometheus_client import CollectorRegistry, GCCollector, PlatformCollector, ProcessCollector, start_http_server

from lease_scheduler.model.errors import InvalidValueError


def process_registry() -> CollectorRegistry:
    """Return a registry with the metrics that every process has, such as memory, processor time and open files."""
    registry = CollectorRegistry()
    for collector in (ProcessCollector, PlatformCollector, GCCollector):
        collector(registry=registry)
    return registry


class MetricsServer:
    """A server of metrics, which answers from its creation on, in threads of its own.

    :param option: name of the option with the port, for the error
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
