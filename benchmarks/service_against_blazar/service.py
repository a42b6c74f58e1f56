"""What is the same for both services: processes, hosts by the API, one lease that is the pattern of all others."""

from __future__ import annotations

import abc
import uuid
from datetime import UTC, datetime, timedelta
from typing import Any

import requests
from sqlalchemy import create_engine
from sqlalchemy.engine import Engine

from benchmarks.service_against_blazar.cloning import differences
from benchmarks.service_against_blazar.surroundings import HEADERS, Surroundings
from benchmarks.service_against_blazar.workload import DAY, REQUEST_HOSTS, REQUEST_HOURS, Workload
from tests.servers.base import OwnProcess, ServerError, wait_until

#: Real seconds that any request may take: more than the slowest of all.
PATIENCE = 3_600.0

#: The pattern begins so long after the last lease. Its length in hours is that of no other lease.
_GAP = 30 * DAY
_PATTERN_HOURS = 101


class ReservationApi:
    """Requests as a client sends them, over one connection."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._session = requests.Session()
        self._session.headers.update(HEADERS)

    def ask(self, method: str, what: str, body: Any = None) -> Any:
        """The answer.

        :raises ServerError: a refusal
        """
        answer = self._session.request(method, f"{self._url}/v1/{what}", json=body, timeout=PATIENCE)
        if answer.status_code >= 300:
            raise ServerError(f"{method} {what}: {answer.status_code} {answer.text}")
        return answer.json() if answer.content else None

    def is_willing(self, method: str, what: str, body: Any) -> bool:
        """Whether a request is granted."""
        try:
            self.ask(method, what, body)
        except (ServerError, requests.RequestException):
            return False
        return True


def lease_body(name: str, start: datetime, hours: int, hosts: int) -> dict[str, Any]:
    """The body of a request for whole hosts."""
    return {
        "name": name,
        "start_date": start.strftime("%Y-%m-%d %H:%M"),
        "end_date": (start + timedelta(hours=hours)).strftime("%Y-%m-%d %H:%M"),
        "reservations": [
            {
                "resource_type": "physical:host",
                "min": hosts,
                "max": hosts,
                "hypervisor_properties": "",
                "resource_properties": "",
            }
        ],
        "events": [],
    }


class Service(abc.ABC):
    """A reservation service of its own for a cell.

    :param around: what it stands on
    """

    name: str

    def __init__(self, around: Surroundings, port: int) -> None:
        self.around = around
        self.url = f"http://127.0.0.1:{port}"
        self.api = ReservationApi(self.url)
        self.database: Engine = create_engine(around.database)
        # Nothing begins while the measurement runs.
        self.origin = datetime.now(UTC).replace(minute=0, second=0, microsecond=0, tzinfo=None) + timedelta(days=2)
        self._processes: list[OwnProcess] = []

    @abc.abstractmethod
    def prepare(self) -> None:
        """Write configuration files and make the tables."""

    @abc.abstractmethod
    def launch(self) -> list[OwnProcess]:
        """Start its processes and return when they answer."""

    @abc.abstractmethod
    def clone_hosts(self, number: int, known: int) -> None:
        """Have hosts numbered ``known + 1`` to ``number`` in the database like the first."""

    @abc.abstractmethod
    def clone_leases(self, pattern: str, workload: Workload, start: datetime, hours: int) -> list[str]:
        """Have the leases of the workload in the database like the pattern; their ids.

        :param pattern: id of the lease
        :param start: when it starts
        :param hours: for how long
        """

    def start(self) -> None:
        """Start it."""
        self._processes = self.launch()

    def stop(self) -> None:
        """End it."""
        for process in self._processes:
            process.kill()
        self._processes = []

    def close(self) -> None:
        """End it, and let go of the database."""
        self.stop()
        self.database.dispose()

    def load(self, workload: Workload) -> list[str]:
        """Bring hosts and leases into it and start it; the ids of the leases.

        :raises ServerError: what was copied does not look like what the service has made itself
        """
        self.prepare()
        self.start()
        cell = workload.cell
        first = self._add_first_hosts(cell.hosts_per_lease)
        pattern_start = self.origin + timedelta(hours=workload.cell.hours, seconds=_GAP)
        body = lease_body("pattern", pattern_start, _PATTERN_HOURS, cell.hosts_per_lease)
        pattern = self.api.ask("POST", "leases", body)["lease"]["id"]
        self.stop()
        self.clone_hosts(cell.hosts, first)
        leases = self.clone_leases(pattern, workload, pattern_start, _PATTERN_HOURS)
        self.start()
        wait_until(lambda: self.api.is_willing("GET", f"leases/{pattern}", None), 120)
        self._check(pattern, leases, workload)
        self.api.ask("DELETE", f"leases/{pattern}")
        return leases

    def _add_first_hosts(self, number: int) -> int:
        """Hosts by the API; more than one lease needs, so that a copy can be told from the original."""
        if not wait_until(lambda: self.api.is_willing("POST", "os-hosts", {"name": "compute-1"}), 60):
            self.api.ask("POST", "os-hosts", {"name": "compute-1"})
        for each in range(2, number + 1):
            self.api.ask("POST", "os-hosts", {"name": f"compute-{each}"})
        return number

    def _check(self, pattern: str, leases: list[str], workload: Workload) -> None:
        """Compare what the API tells of copies with what it tells of originals."""
        ask = self.api.ask
        original = ask("GET", f"leases/{pattern}")
        problems = []
        for number in (0, len(leases) // 2, len(leases) - 1):
            problems += differences(original, ask("GET", f"leases/{leases[number]}"), f"lease {number}")
        hosts = ask("GET", "os-hosts")["hosts"]
        problems += differences(hosts[0], hosts[-1], "host")
        if len(hosts) != workload.cell.hosts:
            problems.append(f"{len(hosts)} hosts")
        found = {
            (entry["lease_id"], allocation["resource_id"])
            for allocation in ask("GET", "os-hosts/allocations")["allocations"]
            for entry in allocation["reservations"]
        }
        wanted = {
            (lease, str(host + 1))
            for lease, booking in zip(leases, workload.bookings, strict=True)
            for host in booking.hosts
        }
        missing = wanted - found
        extra = {entry for entry in found - wanted if entry[0] != pattern}
        if missing or extra:
            problems.append(f"{len(missing)} allocations are missing, {len(extra)} are too many")
        if problems:
            raise ServerError(f"{self.name}: copies differ from what the service makes:\n" + "\n".join(problems))


def request_body(service: Service, start: int) -> dict[str, Any]:
    """The body of a request that is measured.

    :param start: hours after the beginning
    """
    return lease_body("request", service.origin + timedelta(hours=start), REQUEST_HOURS, REQUEST_HOSTS)


def new_id() -> str:
    """An id as both services give them."""
    return str(uuid.uuid4())


def seconds(instant: datetime) -> int:
    """Seconds since the epoch of an instant without a zone, which is UTC."""
    return int(instant.replace(tzinfo=UTC).timestamp())
