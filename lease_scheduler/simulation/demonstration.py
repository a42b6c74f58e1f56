"""A demonstration: the first days of a recorded workload, submitted over REST as tenants would.

The log has only jobs and reservations, so some of its jobs become leases of the other two kinds.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from dataclasses import asdict, dataclass
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

#: Projects that the leases belong to, in turn.
_PROJECTS = ("physics", "biology", "chemistry", "engineering")

#: One job in this many becomes an immediate lease, or a deadline lease.
_IMMEDIATE_EVERY = 15
_DEADLINE_EVERY = 4

#: Time from the submission to the deadline, as a multiple of the duration, and the least spare time in seconds.
_SLACK_FACTOR = 4
_LEAST_SLACK = 7_200

_HEADERS = {"X-Auth-Token": "demonstration", "OpenStack-API-Version": "reservation latest"}

#: Real seconds that an HTTP request may take, and that pass between two attempts.
_TIMEOUT = 30.0
_PAUSE = 1.0


@dataclass(frozen=True)
class _Place:
    """The progress of a demonstration.

    :ivar origin: instant of the clock at which the workload started
    :ivar next_request: number of the next request, from 0 on
    """

    origin: int
    next_request: int


class Demonstration:
    """A thread that submits the requests that are due. A later one with the same state continues where this one stops.

    :param url: URL of the REST service
    :param state: file that holds the progress
    :param clock: clock of the service
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
        """Start submitting."""
        self._thread.start()

    def stop(self) -> None:
        """Stop submitting, and wait for the thread to end."""
        self._stopped.set()
        if self._thread.is_alive():
            self._thread.join()

    def _run(self) -> None:
        workload = inject(load_workload("blue1"), load_workload("t20"))
        leases = [lease for lease in workload.leases if lease.request.submitted < _DAYS * _DAY]
        place = self._place()
        for number, lease in islice(enumerate(leases), place.next_request, None):
            due = place.origin + lease.request.submitted
            while (pause := self._clock.seconds_until(due)) > 0 and not self._stopped.wait(min(pause, 60)):
                pass
            # An earlier process may have been killed after it submitted this request and before it recorded that.
            is_new = number > place.next_request
            if self._stopped.is_set():
                return
            if lease.request.start is not None and place.origin + lease.request.start <= self._clock.now():
                LOG.info("request %d is left out: its start has passed", number + 1)
            elif not self._submit(body_of(lease, place.origin, number, self._clock.now()), number, is_new):
                return
            self._keep(_Place(place.origin, number + 1))
        LOG.info("the demonstration has submitted its %d leases", len(leases))

    def _place(self) -> _Place:
        if self._state.exists():
            return _Place(**json.loads(self._state.read_text()))
        # Filling the pool takes time, so the workload starts only after it.
        self._fill_pool()
        place = _Place(self._clock.now(), 0)
        self._keep(place)
        return place

    def _keep(self, place: _Place) -> None:
        """Record the progress by replacing the file in one step."""
        written = self._state.with_suffix(".new")
        written.write_text(json.dumps(asdict(place)))
        written.replace(self._state)

    def _fill_pool(self) -> None:
        """Add all hosts of the cloud to the pool, except those that are in it already."""
        number = 1
        while self._ask("POST", "os-hosts", json={"name": f"compute-{number}"}) in (201, 409):
            number += 1

    def _submit(self, body: dict[str, Any], number: int, is_new: bool) -> bool:
        """Submit a lease, and return False only if the demonstration was stopped first.

        A refusal counts as submitted, since refusals are part of the demonstration.

        :param is_new: whether the lease has certainly not been submitted before
        """
        headers = {"X-Project-Id": _PROJECTS[number % len(_PROJECTS)]}
        while not self._stopped.is_set():
            if not is_new and self._is_there(body["name"], headers):
                return True
            if self._try("POST", "leases", json=body, headers=headers) is not None:
                return True
            # Without an answer, the lease may or may not have been submitted.
            is_new = False
            self._stopped.wait(_PAUSE)
        return False

    def _is_there(self, name: str, headers: dict[str, str]) -> bool:
        answer = self._try("GET", "leases", params={"name": name, "deleted": "true"}, headers=headers)
        return answer is not None and answer.status_code == 200 and bool(answer.json()["leases"])

    def _ask(self, method: str, what: str, **values: Any) -> int | None:
        """Repeat a request until it is answered, and return the HTTP status; None if the demonstration was stopped."""
        while not self._stopped.is_set():
            answer = self._try(method, what, **values)
            if answer is not None:
                return answer.status_code
            self._stopped.wait(_PAUSE)
        return None

    def _try(self, method: str, what: str, **values: Any) -> requests.Response | None:
        """Return the answer, or None if the service does not answer or is unavailable."""
        try:
            answer = self._session.request(method, f"{self._url}/v1/{what}", timeout=_TIMEOUT, **values)
        except requests.RequestException:
            LOG.warning("the service does not answer; trying again")
            return None
        if answer.status_code == 503:
            return None
        if answer.status_code >= 500 or answer.status_code == 400:
            LOG.error("%s %s: %s", method, what, answer.text)
        return answer


def body_of(lease: WorkloadLease, origin: int, number: int, now: int) -> dict[str, Any]:
    """Return the body of the request for a lease of the workload.

    :param origin: instant at which the workload started
    :param number: number of the lease in the workload, from 0 on
    :param now: instant of the submission
    """
    request = lease.request
    kind = _kind(request.kind, number)
    body: dict[str, Any] = {
        "name": f"{kind.value}-{number + 1}",
        "kind": kind.value,
        "duration": request.duration,
        "preemptible": kind is LeaseKind.BEST_EFFORT,
        "nodes": [
            {"count": count, "resources": {"VCPU": 8, "MEMORY_MB": memory}} for count, memory in _node_sets(lease)
        ],
    }
    if request.start is not None:
        body["start_date"] = _date(origin + request.start)
    if kind is LeaseKind.DEADLINE:
        slack = max(_SLACK_FACTOR * request.duration, request.duration + _LEAST_SLACK)
        body["deadline"] = _date(now + slack)
    if lease.real_duration is not None:
        body["extras"] = {"real_duration": str(lease.real_duration)}
    return body


def _kind(recorded: LeaseKind, number: int) -> LeaseKind:
    """Return the kind of lease that a recorded request becomes."""
    if recorded is not LeaseKind.BEST_EFFORT:
        return recorded
    if number % _IMMEDIATE_EVERY == 0:
        return LeaseKind.IMMEDIATE
    return LeaseKind.DEADLINE if number % _DEADLINE_EVERY == 0 else LeaseKind.BEST_EFFORT


def _node_sets(lease: WorkloadLease) -> Iterator[tuple[int, int]]:
    """Yield (number of nodes, MB of memory per node); a node of the recorded machine is a whole host."""
    for node_set in lease.request.nodes:
        yield node_set.count, node_set.resources.get("MEMORY_MB", 1024)


def _date(instant: int) -> str:
    return datetime.fromtimestamp(instant, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
