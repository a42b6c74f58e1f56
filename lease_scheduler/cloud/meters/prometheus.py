"""The meter ``prometheus``: the result of a query to the HTTP API of Prometheus."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping

from lease_scheduler.cloud.facts import LeaseOnHosts, LeaseServer, Power
from lease_scheduler.cloud.meters.base import Activity, MeterOptions, activity_of
from lease_scheduler.cloud.prometheus import PrometheusClient


class PrometheusMeter:
    """Meter that asks Prometheus for one value of every server, by a single query.

    A server is used if its value is above ``prometheus_threshold``. A server without a value, or with NaN, is unknown.
    Prometheus leaves out series of which it has got no sample for five minutes.

    :raises InvalidValueError: an option is missing or wrong
    """

    def __init__(self, options: MeterOptions) -> None:
        values = options.values
        self._cloud = options.cloud
        self._client = PrometheusClient("idle", values)
        self._threshold: float = values["prometheus_threshold"]

    def measure(
        self, leases: Collection[LeaseOnHosts], is_stopping: Callable[[], bool] = lambda: False
    ) -> Mapping[str, Activity]:
        """See ``Meter.measure``.

        :raises NoFiguresError: Prometheus gave no usable answer
        """
        servers = self._cloud.servers_of(leases)
        if not any(servers.values()):
            return {lease.lease_id: Activity.IDLE for lease in leases}
        figures = self._client.figures()
        return {
            lease.lease_id: activity_of(self._of_server(each, figures) for each in servers.get(lease.lease_id, ()))
            for lease in leases
        }

    def _of_server(self, server: LeaseServer, figures: Mapping[str, float]) -> Activity:
        if server.power is Power.OFF:
            return Activity.IDLE
        figure = figures.get(server.server_id)
        if figure is None or math.isnan(figure) or server.power is Power.UNKNOWN:
            return Activity.UNKNOWN
        return Activity.USED if figure > self._threshold else Activity.IDLE
