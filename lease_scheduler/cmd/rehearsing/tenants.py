"""Tenants of a rehearsal: each creates leases, and deletes some before their end."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any

import requests

from lease_scheduler.random_streams import random_stream
from lease_scheduler.rehearsal.runtime.rest import URL, session

#: The version of the interface that they use.
_HEADERS = {"OpenStack-API-Version": "reservation latest"}

#: Seconds between two requests of a tenant: mean of an exponential distribution.
_MEAN_PAUSE = 1_800.0

#: Seconds that a tenant waits for an answer.
_PATIENCE = 120.0

#: Share of leases that are deleted before they end.
_DELETED = 0.3

_KINDS = ("immediate", "best-effort", "reservation")


class Rest:
    """The REST interface as a tenant uses it.

    :param project: id of the project
    """

    def __init__(self, project: str) -> None:
        self._session = session()
        self._session.headers.update(_HEADERS | {"X-Project-Id": project, "X-User-Id": project})

    def ask(self, method: str, path: str, body: Mapping[str, Any] | None = None) -> requests.Response:
        """Send a request and return the answer.

        :raises requests.RequestException: there was none
        """
        return self._session.request(method, f"{URL}/v1/{path}", json=body, timeout=_PATIENCE)


class Tenant:
    """A tenant that asks for leases of whole hosts until the world ends.

    :param seed: seed of the world
    :param project: id of their project
    :param vcpus: number of virtual CPUs of a host
    :param on_lease: called with the id of each lease that was created
    """

    def __init__(self, seed: int, project: str, vcpus: int, on_lease: Callable[[str], None]) -> None:
        self._random = random_stream(seed, f"tenant {project}")
        self._project, self._vcpus, self._on_lease = project, vcpus, on_lease
        self._mine: list[str] = []

    def run(self) -> None:
        """Be the main thread of a process."""
        rest = Rest(self._project)
        for number in range(1, 1_000_000_000):
            time.sleep(float(self._random.exponential(_MEAN_PAUSE)))
            try:
                if self._mine and self._random.random() < _DELETED:
                    rest.ask("DELETE", f"leases/{self._mine.pop()}")
                else:
                    self._create(rest, number)
            except requests.RequestException:
                # Tenants see that the service is away sometimes, and come back later.
                continue

    def _create(self, rest: Rest, number: int) -> None:
        answer = rest.ask("POST", "leases", self._request(number))
        if answer.status_code == 201:
            lease_id = str(answer.json()["lease"]["id"])
            self._mine.append(lease_id)
            self._on_lease(lease_id)

    def _request(self, number: int) -> dict[str, Any]:
        kind = _KINDS[int(self._random.integers(len(_KINDS)))]
        duration = int(self._random.integers(300, 14_400))
        nodes = [{"count": int(self._random.integers(1, 4)), "resources": {"VCPU": self._vcpus}}]
        lease: dict[str, Any] = {"name": f"{self._project}-{number}", "kind": kind, "nodes": nodes}
        if kind == "reservation":
            start = int(time.time()) + int(self._random.integers(60, 86_400))
            return lease | {"start_date": _date(start), "end_date": _date(start + duration)}
        return lease | {"duration": duration}


def _date(instant: int) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(instant))


def fill_pool(hosts: int, prefix: str) -> Callable[[], None]:
    """Return what an operator does first: add every host of the simulated cloud to the pool.

    :param prefix: what the names of the hosts begin with
    """

    def run() -> None:
        rest = Rest("admin")
        for number in range(1, hosts + 1):
            while not _is_added(rest, f"{prefix}{number}"):
                time.sleep(1.0)

    return run


def _is_added(rest: Rest, host: str) -> bool:
    """Add a host, and return False if there is no answer or no engine leads yet."""
    try:
        return rest.ask("POST", "os-hosts", {"name": host}).status_code < 500
    except requests.RequestException:
        return False
