"""The first days of a recorded workload, submitted over REST as tenants would."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from threading import Event, Thread
from typing import Any

import requests

from lease_scheduler.cloud.driver import WaitingClock
from lease_scheduler.model.lease import LeaseKind
from lease_scheduler.simulation.injection import inject
from lease_scheduler.simulation.shipped import load_workload
from lease_scheduler.simulation.workload import WorkloadLease

LOG = logging.getLogger(__name__)

_DAYS = 7
_DAY = 86_400

_HEADERS = {"X-Auth-Token": "demonstration", "OpenStack-API-Version": "reservation latest"}

#: Real seconds that a request may take, and between two attempts.
_TIMEOUT = 30.0
_PAUSE = 1.0


@dataclass(frozen=True)
class _Place:
    """How far a demonstration is.

    :ivar origin: instant of the clock at which the workload began
    :ivar next_request: number of the next request
    """

    origin: int
    next_request: int


class Demonstration:
    """A thread that submits what is due; a second one on the same state goes on where the first one stopped.

    :param url: of the REST service
    :param state: file that tells how far it is
    """

    def __init__(self, url: str, state: Path, clock: WaitingClock) -> None:
        self._url = url
        self._state = state
        self._clock = clock
        self._stopped = Event()
        self._session = requests.Session()
        self._session.headers.update(_HEADERS)
        self._thread = Thread(target=self._run, name="demonstration", daemon=True)

    def start(self) -> None:
        """Begin to submit."""
        self._thread.start()

    def stop(self) -> None:
        """Submit nothing more."""
        self._stopped.set()
        self._thread.join()

    def _run(self) -> None:
        workload = inject(load_workload("blue1"), load_workload("t20"))
        leases = [lease for lease in workload.leases if lease.request.submitted < _DAYS * _DAY]
        place = self._place()
        if place.next_request == 0:
            self._fill_pool()
        for number, lease in islice(enumerate(leases), place.next_request, None):
            due = place.origin + lease.request.submitted
            while (pause := self._clock.seconds_until(due)) > 0 and not self._stopped.wait(min(pause, 60)):
                pass
            if self._stopped.is_set() or not self._submit(lease, place.origin, number):
                return
            place = _Place(place.origin, number + 1)
            self._state.write_text(json.dumps({"origin": place.origin, "next_request": place.next_request}))
        LOG.info("the demonstration has submitted its %d leases", len(leases))

    def _place(self) -> _Place:
        if self._state.exists():
            return _Place(**json.loads(self._state.read_text()))
        return _Place(self._clock.now(), 0)

    def _fill_pool(self) -> None:
        """Take the hosts of the cloud into the pool; those that are there already stay."""
        number = 1
        while self._post("os-hosts", {"name": f"compute-{number}"}) in (201, 409):
            number += 1

    def _submit(self, lease: WorkloadLease, origin: int, number: int) -> bool:
        """Whether the lease was submitted; refusals are part of the demonstration."""
        status = self._post("leases", body_of(lease, origin, number))
        return status is not None

    def _post(self, what: str, body: dict[str, Any]) -> int | None:
        """The status of the answer, none if the demonstration is over."""
        while not self._stopped.is_set():
            try:
                answer = self._session.post(f"{self._url}/v1/{what}", json=body, timeout=_TIMEOUT)
            except requests.RequestException:
                LOG.warning("the service does not answer; trying again")
            else:
                if answer.status_code != 503:
                    if answer.status_code >= 500 or answer.status_code == 400:
                        LOG.error("%s: %s", what, answer.text)
                    return answer.status_code
            self._stopped.wait(_PAUSE)
        return None


def body_of(lease: WorkloadLease, origin: int, number: int) -> dict[str, Any]:
    """The body of the request for a lease of the workload."""
    request = lease.request
    body: dict[str, Any] = {
        "name": f"{request.kind.value}-{number + 1}",
        "kind": request.kind.value,
        "duration": request.duration,
        "preemptible": request.kind is LeaseKind.BEST_EFFORT,
        "nodes": [
            {"count": count, "resources": {"VCPU": 8, "MEMORY_MB": memory}} for count, memory in _node_sets(lease)
        ],
    }
    if request.start is not None:
        body["start_date"] = _date(origin + request.start)
    if request.deadline is not None:
        body["deadline"] = _date(origin + request.deadline)
    if lease.real_duration is not None:
        body["extras"] = {"real_duration": str(lease.real_duration)}
    return body


def _node_sets(lease: WorkloadLease) -> Iterator[tuple[int, int]]:
    """Numbers of nodes with their memory in MB; a node of the recorded machine is a host."""
    for node_set in lease.request.nodes:
        yield node_set.count, node_set.resources.get("MEMORY_MB", 1024)


def _date(instant: int) -> str:
    return datetime.fromtimestamp(instant, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
