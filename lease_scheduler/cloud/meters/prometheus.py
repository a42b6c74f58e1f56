"""The meter ``prometheus``: the result of a query to the HTTP API of Prometheus."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import requests

from lease_scheduler.cloud.driver import LeaseOnHosts, LeaseServer, Power
from lease_scheduler.cloud.meters.base import Activity, MeterOptions, activity_of
from lease_scheduler.model.errors import InvalidValueError, LeaseSchedulerError


class NoFiguresError(LeaseSchedulerError):
    """Prometheus gave no usable answer."""


class PrometheusMeter:
    """Asks Prometheus for one value of every server, by a single query for all of them.

    A server is used if its value is above ``prometheus_threshold``. A server without a value, or whose value is no
    number, is unknown; Prometheus leaves out series that it has not got for five minutes.

    :raises InvalidValueError: an option is missing or wrong
    """

    def __init__(self, options: MeterOptions) -> None:
        values = options.values
        self._cloud = options.cloud
        url = str(values["prometheus_url"])
        if urlsplit(url).scheme not in ("http", "https") or not urlsplit(url).hostname:
            raise InvalidValueError("idle.prometheus_url", "is needed, such as http://prometheus.example.org:9090")
        if not values["prometheus_query"]:
            raise InvalidValueError("idle.prometheus_query", "is needed; see the documentation for examples")
        authorities = values["prometheus_cafile"]
        if authorities and not Path(authorities).is_file():
            raise InvalidValueError("idle.prometheus_cafile", f"there is no file {authorities}")
        self._url = f"{url.rstrip('/')}/api/v1/query"
        self._query: str = values["prometheus_query"]
        self._label: str = values["prometheus_label"]
        self._threshold: float = values["prometheus_threshold"]
        self._timeout: float = values["prometheus_timeout"]
        self._verify: str | bool = authorities or True
        user = values["prometheus_user"]
        self._credentials = (user, values["prometheus_password"]) if user else None

    def measure(
        self, leases: Collection[LeaseOnHosts], is_stopping: Callable[[], bool] = lambda: False
    ) -> Mapping[str, Activity]:
        """See ``Meter.measure``.

        :raises NoFiguresError: Prometheus gave no usable answer
        """
        servers = self._cloud.servers_of(leases)
        if not any(servers.values()):
            return {lease.lease_id: Activity.IDLE for lease in leases}
        figures = self._figures()
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

    def _figures(self) -> dict[str, float]:
        """Return server -> the largest of its values; NaN if one of them is no number."""
        try:
            answer = requests.post(
                self._url,
                data={"query": self._query, "timeout": f"{self._timeout:g}s"},
                timeout=self._timeout,
                verify=self._verify,
                auth=self._credentials,
                allow_redirects=False,
            )
            body: Any = answer.json()
        except requests.RequestException as error:
            raise NoFiguresError(f"Prometheus does not answer: {error}") from error
        try:
            if answer.status_code != 200 or body["status"] != "success":
                raise NoFiguresError(f"Prometheus answers {answer.status_code}: {body.get('error', 'no reason given')}")
            if body["data"]["resultType"] != "vector":
                raise NoFiguresError(
                    f"[idle] prometheus_query: must give an instant vector, not a {body['data']['resultType']}"
                )
            found: dict[str, float] = {}
            for each in body["data"]["result"]:
                server_id, value = each["metric"].get(self._label), float(each["value"][1])
                if server_id is not None:
                    known = found.get(server_id, value)
                    found[server_id] = math.nan if math.isnan(known) or math.isnan(value) else max(known, value)
        except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
            raise NoFiguresError(f"Prometheus answers {answer.status_code} with something else than its API") from error
        return found
