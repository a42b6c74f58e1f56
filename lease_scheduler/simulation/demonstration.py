"""The first days of a recorded workload, submitted over REST as tenants would.

The recorded machine knew jobs and reservations only, so some of its jobs become leases of the two other kinds.
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

#: Whose leases they are, in turn.
_PROJECTS = ("physics", "biology", "chemistry", "engineering")

#: Every so many requests one is wanted at once, and one until a deadline.
_IMMEDIATE_EVERY = 15
_DEADLINE_EVERY = 4

#: A deadline is this many times the duration away, and leaves at least so many seconds to choose.
_SLACK_FACTOR = 4
_LEAST_SLACK = 7_200

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
            # Whether the first one was submitted before the process was killed, nobody has written down.
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
        # Before the first request, as the clock goes on meanwhile.
        self._fill_pool()
        place = _Place(self._clock.now(), 0)
        self._keep(place)
        return place

    def _keep(self, place: _Place) -> None:
        """Write down how far it is; the file is there whole, or as it was before."""
        written = self._state.with_suffix(".new")
        written.write_text(json.dumps(asdict(place)))
        written.replace(self._state)

    def _fill_pool(self) -> None:
        """Take the hosts of the cloud into the pool; those that are there already stay."""
        number = 1
        while self._ask("POST", "os-hosts", json={"name": f"compute-{number}"}) in (201, 409):
            number += 1

    def _submit(self, body: dict[str, Any], number: int, is_new: bool) -> bool:
        """Whether the lease was submitted; refusals are part of the demonstration.

        :param is_new: whether it has certainly not been submitted before
        """
        headers = {"X-Project-Id": _PROJECTS[number % len(_PROJECTS)]}
        while not self._stopped.is_set():
            if not is_new and self._is_there(body["name"], headers):
                return True
            if self._try("POST", "leases", json=body, headers=headers) is not None:
                return True
            # An answer that did not come says nothing about the lease.
            is_new = False
            self._stopped.wait(_PAUSE)
        return False

    def _is_there(self, name: str, headers: dict[str, str]) -> bool:
        answer = self._try("GET", "leases", params={"name": name, "deleted": "true"}, headers=headers)
        return answer is not None and answer.status_code == 200 and bool(answer.json()["leases"])

    def _ask(self, method: str, what: str, **values: Any) -> int | None:
        """The status of the answer, however long it takes; none if the demonstration is over."""
        while not self._stopped.is_set():
            answer = self._try(method, what, **values)
            if answer is not None:
                return answer.status_code
            self._stopped.wait(_PAUSE)
        return None

    def _try(self, method: str, what: str, **values: Any) -> requests.Response | None:
        """The answer, none if the service does not answer or cannot now."""
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
    """The body of the request for a lease of the workload.

    :param origin: instant at which the workload began
    :param number: of the lease in the workload, from 0 on
    :param now: instant at which it is submitted
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
    """The kind that a recorded request gets."""
    if recorded is not LeaseKind.BEST_EFFORT:
        return recorded
    if number % _IMMEDIATE_EVERY == 0:
        return LeaseKind.IMMEDIATE
    return LeaseKind.DEADLINE if number % _DEADLINE_EVERY == 0 else LeaseKind.BEST_EFFORT


def _node_sets(lease: WorkloadLease) -> Iterator[tuple[int, int]]:
    """Numbers of nodes with their memory in MB; a node of the recorded machine is a host."""
    for node_set in lease.request.nodes:
        yield node_set.count, node_set.resources.get("MEMORY_MB", 1024)


def _date(instant: int) -> str:
    return datetime.fromtimestamp(instant, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
