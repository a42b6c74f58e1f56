"""The source ``gnocchi``: CPU times that Ceilometer has stored in Gnocchi."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from keystoneauth1.exceptions import ClientException, NotFound

from lease_scheduler.cloud.needs.base import NeedsOptions
from lease_scheduler.model.errors import InvalidValueError, LeaseSchedulerError

#: Ceilometer's metric of the CPU time of a server in ns, and the aggregation of archive policies such as
#: ceilometer-low-rate that gives its growth from one point to the next.
_METRIC, _AGGREGATION = "cpu", "rate:mean"

_SERVICE_TYPE = "metric"

#: Age in granularities up to which the last point of a server counts. If it is older, the server is unknown.
_FRESH = 3


class NoMeasuresError(LeaseSchedulerError):
    """Gnocchi gave no usable answer."""


class GnocchiNeeds:
    """Source that asks Gnocchi for the last points of all servers, by one request (POST /v1/aggregates).

    :raises InvalidValueError: the cloud has no catalogue of services
    """

    is_prompt = False

    def __init__(self, options: NeedsOptions) -> None:
        self._gnocchi = options.adapter(_SERVICE_TYPE)
        if self._gnocchi is None:
            raise InvalidValueError("needs.source", "gnocchi needs an OpenStack: set [service] cloud = nova")
        self._granularity: int = options.values["gnocchi_granularity"]
        self._timeout: float = options.values["gnocchi_timeout"]

    def cpus(self, servers: Collection[str]) -> Mapping[str, float]:
        """See ``NeedsSource.cpus``.

        :raises NoMeasuresError: Gnocchi gave no usable answer
        """
        if not servers:
            return {}
        start = datetime.now(UTC) - timedelta(seconds=_FRESH * self._granularity)
        query = f"granularity={self._granularity}&start={start:%Y-%m-%dT%H:%M:%S}"
        body = {
            "operations": f"(metric {_METRIC} {_AGGREGATION})",
            "resource_type": "instance",
            "search": {"in": {"id": sorted(servers)}},
        }
        try:
            answer = self._gnocchi.post(f"/v1/aggregates?{query}", json=body, timeout=self._timeout)
        except NotFound as error:
            raise NoMeasuresError(
                f"Gnocchi has no {_METRIC} with the aggregation {_AGGREGATION} of any server: {error}"
            ) from error
        except ClientException as error:
            raise NoMeasuresError(f"Gnocchi does not answer: {error}") from error
        try:
            return self._cpus(answer.json()["measures"], servers)
        except (AttributeError, KeyError, TypeError, ValueError, ZeroDivisionError) as error:
            raise NoMeasuresError("Gnocchi answers with something else than its API") from error

    def _cpus(self, measures: Mapping[str, Any], servers: Collection[str]) -> dict[str, float]:
        """Return the CPUs of each server, from points (time, granularity, ns since the previous point)."""
        found = {}
        for server_id, metrics in measures.items():
            points = metrics[_METRIC][_AGGREGATION]
            if server_id in servers and points:
                _, seconds, grown = points[-1]
                cpus = float(grown) / (1e9 * float(seconds))
                # The growth is negative when a counter has started again.
                if cpus >= 0:
                    found[server_id] = cpus
        return found
