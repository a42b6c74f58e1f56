"""Instant queries to the HTTP API of Prometheus that give one value for every server."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import requests

from lease_scheduler.model.errors import InvalidValueError, LeaseSchedulerError


class NoFiguresError(LeaseSchedulerError):
    """Prometheus gave no usable answer."""


class PrometheusClient:
    """Client that asks Prometheus for one value of every server, by a single query.

    :param group: group of the options, for messages
    :param values: the options by name: ``prometheus_url``, ``prometheus_query`` and so on
    :raises InvalidValueError: an option is missing or wrong
    """

    def __init__(self, group: str, values: Mapping[str, Any]) -> None:
        self._group = group
        url = str(values["prometheus_url"])
        if urlsplit(url).scheme not in ("http", "https") or not urlsplit(url).hostname:
            raise InvalidValueError(f"{group}.prometheus_url", "is needed, such as http://prometheus.example.org:9090")
        if not values["prometheus_query"]:
            raise InvalidValueError(f"{group}.prometheus_query", "is needed; see the documentation for examples")
        authorities = values["prometheus_cafile"]
        if authorities and not Path(authorities).is_file():
            raise InvalidValueError(f"{group}.prometheus_cafile", f"there is no file {authorities}")
        self._url = f"{url.rstrip('/')}/api/v1/query"
        self._query: str = values["prometheus_query"]
        self._label: str = values["prometheus_label"]
        self._timeout: float = values["prometheus_timeout"]
        self._verify: str | bool = authorities or True
        user = values["prometheus_user"]
        self._credentials = (user, values["prometheus_password"]) if user else None

    def figures(self) -> dict[str, float]:
        """Return server -> the largest of its values, or NaN if one of them is NaN.

        :raises NoFiguresError: Prometheus gave no usable answer
        """
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
                    f"[{self._group}] prometheus_query: must give an instant vector, not a {body['data']['resultType']}"
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
