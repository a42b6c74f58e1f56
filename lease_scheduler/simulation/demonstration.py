"""A demonstration: a recorded month of requests, submitted over REST as tenants would, week after week without end.

The log has only jobs and reservations, so some of its jobs become leases of the other two kinds. From one month to the
next, the same request gets another project and another kind.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from threading import Event, Thread
from typing import Any

import requests

from lease_scheduler.engine.interfaces import WaitingClock
from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.simulation.injection import inject
from lease_scheduler.simulation.shipped import load_workload
from lease_scheduler.simulation.workload import WorkloadLease

LOG = logging.getLogger(__name__)

_WEEK = 7 * 86_400

#: Whole weeks of the recorded month, and the seconds for which leases are kept after they have ended.
_WEEKS = 4
_KEPT = 4 * _WEEK

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
class _Progress:
    """The progress of a demonstration.

    :ivar origin: instant of the clock at which the present week began
    :ivar next_request: number of the next request of the week, from 0 on
    :ivar week: number of the week, from 0 on
    """

    origin: int
    next_request: int
    week: int = 0


class Demonstration:
    """A thread that submits the requests that are due. A later one with the same state continues where this one stops.

    :param url: URL of the REST service
    :param state: file that holds the progress
    :param clock: clock of the service
    :param forget: removes what ended before an instant from the service's database, which would grow without end
    """

    def __init__(self, url: str, state: Path, clock: WaitingClock, forget: Callable[[int], object]) -> None:
        self._forget = forget
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
        weeks = recorded_weeks()
        progress = self._read_progress()
        while not self._stopped.is_set():
            leases = weeks[progress.week % _WEEKS]
            # Numbers go on from week to week, so that every lease has a name of its own.
            first = progress.week // _WEEKS * sum(map(len, weeks)) + sum(map(len, weeks[: progress.week % _WEEKS]))
            if not self._play(leases, first, progress):
                return
            LOG.info("week %d of the demonstration is over", progress.week + 1)
            now = self._clock.now()
            self._forget(now - _KEPT)
            progress = _Progress(max(now, progress.origin + _WEEK), 0, progress.week + 1)
            self._write_progress(progress)

    def _play(self, leases: list[WorkloadLease], first: int, progress: _Progress) -> bool:
        """Submit the remaining requests of a week. Return False if the demonstration was stopped.

        :param leases: all requests of the week
        :param first: number of the first one, counted from the beginning of the demonstration
        :param progress: what has been submitted
        """
        for number, lease in islice(enumerate(leases), progress.next_request, None):
            due = progress.origin + lease.request.submitted
            while (pause := self._clock.seconds_until(due)) > 0 and not self._stopped.wait(min(pause, 60)):
                pass
            # An earlier process may have been killed after it submitted this request and before it recorded that.
            is_new = number > progress.next_request
            if self._stopped.is_set():
                return False
            if lease.request.start is not None and progress.origin + lease.request.start <= self._clock.now():
                LOG.info("request %d is left out: its start has passed", first + number + 1)
            else:
                # In another month, the same request has another project and another kind.
                turn = first + number + progress.week // _WEEKS
                body = body_of(lease, progress.origin, first + number, turn, self._clock.now())
                if not self._submit(body, turn, is_new):
                    return False
            self._write_progress(replace(progress, next_request=number + 1))
        return True

    def _read_progress(self) -> _Progress:
        if self._state.exists():
            return _Progress(**json.loads(self._state.read_text()))
        # Filling the pool takes time, so the workload starts only after it.
        self._fill_pool()
        progress = _Progress(self._clock.now(), 0)
        self._write_progress(progress)
        return progress

    def _write_progress(self, progress: _Progress) -> None:
        """Record the progress by replacing the file in one step."""
        written = self._state.with_suffix(".new")
        written.write_text(json.dumps(asdict(progress)))
        written.replace(self._state)

    def _fill_pool(self) -> None:
        """Add all hosts of the cloud to the pool, except those that are in it already."""
        number = 1
        while self._ask("POST", "os-hosts", json={"name": f"compute-{number}"}) in (201, 409):
            number += 1

    def _submit(self, body: dict[str, Any], turn: int, is_new: bool) -> bool:
        """Submit a lease, and return False only if the demonstration was stopped first.

        A refusal counts as submitted, since refusals are part of the demonstration.

        :param turn: number from which the project follows
        :param is_new: whether the lease has certainly not been submitted before
        """
        headers = {"X-Project-Id": _PROJECTS[turn % len(_PROJECTS)]}
        while not self._stopped.is_set():
            if not is_new and self._has_lease(body["name"], headers):
                return True
            if self._try("POST", "leases", json=body, headers=headers) is not None:
                return True
            # Without an answer, the lease may or may not have been submitted.
            is_new = False
            self._stopped.wait(_PAUSE)
        return False

    def _has_lease(self, name: str, headers: dict[str, str]) -> bool:
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


def recorded_weeks() -> list[list[WorkloadLease]]:
    """Return the requests of each week of the recorded month, with instants that count from the start of the week."""
    workload = inject(load_workload("blue1"), load_workload("t20"))
    weeks: list[list[WorkloadLease]] = [[] for _ in range(_WEEKS)]
    for lease in workload.leases:
        week, submitted = divmod(lease.request.submitted, _WEEK)
        if week < _WEEKS:
            start = None if lease.request.start is None else lease.request.start - week * _WEEK
            weeks[week].append(replace(lease, request=replace(lease.request, submitted=submitted, start=start)))
    return weeks


def body_of(lease: WorkloadLease, origin: int, number: int, turn: int, now: int) -> dict[str, Any]:
    """Return the body of the request for a lease of the workload.

    :param origin: instant at which its week began
    :param number: number of the lease in the demonstration, from 0 on, for its name
    :param turn: number from which its kind follows
    :param now: instant of the submission
    """
    request = lease.request
    kind = _kind(request.kind, turn)
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


def _kind(recorded: LeaseKind, turn: int) -> LeaseKind:
    """Return the kind of lease that a recorded request becomes."""
    if recorded is not LeaseKind.BEST_EFFORT:
        return recorded
    if turn % _IMMEDIATE_EVERY == 0:
        return LeaseKind.IMMEDIATE
    return LeaseKind.DEADLINE if turn % _DEADLINE_EVERY == 0 else LeaseKind.BEST_EFFORT


def _node_sets(lease: WorkloadLease) -> Iterator[tuple[int, int]]:
    """Yield (number of nodes, MB of memory per node); a node of the recorded machine is a whole host."""
    for node_set in lease.request.nodes:
        yield node_set.count, node_set.resources.get("MEMORY_MB", 1024)


def _date(instant: int) -> str:
    return datetime.fromtimestamp(instant, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
