"""The source ``prometheus``: the result of a query to the HTTP API of Prometheus."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from lease_scheduler.cloud.needs.base import NeedsOptions
from lease_scheduler.cloud.prometheus import PrometheusClient


class PrometheusNeeds:
    """Source that asks Prometheus for the CPUs that servers use, over the time that the query gives.

    :raises InvalidValueError: an option is missing or wrong
    """

    is_prompt = False

    def __init__(self, options: NeedsOptions) -> None:
        self._client = PrometheusClient("needs", options.values)

    def cpus(self, servers: Collection[str]) -> Mapping[str, float]:
        """See ``NeedsSource.cpus``.

        :raises NoFiguresError: Prometheus gave no usable answer
        """
        return {server_id: value for server_id, value in self._client.figures().items() if server_id in servers}
