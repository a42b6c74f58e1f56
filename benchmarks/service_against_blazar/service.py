"""What is the same for both services: processes, adding hosts by the API, and the lease that all others copy."""

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

#: Longest real time of any request, in seconds: more than the slowest takes.
PATIENCE = 3_600.0

#: The pattern starts this long after the last lease. No other lease has its length in hours.
_GAP = 30 * DAY
_PATTERN_HOURS = 101


class ReservationApi:
    """Requests as a client sends them, over one connection."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._session = requests.Session()
        self._session.headers.update(HEADERS)

    def ask(self, method: str, what: str, body: Any = None) -> Any:
        """Send a request and return its answer.

        :raises ServerError: the request was refused
        """
        answer = self._session.request(method, f"{self._url}/v1/{what}", json=body, timeout=PATIENCE)
        if answer.status_code >= 300:
            raise ServerError(f"{method} {what}: {answer.status_code} {answer.text}")
        return answer.json() if answer.content else None

    def is_willing(self, method: str, what: str, body: Any) -> bool:
        """Return whether a request is granted."""
        try:
            self.ask(method, what, body)
        except (ServerError, requests.RequestException):
            return False
        return True


def lease_body(name: str, start: datetime, hours: int, hosts: int) -> dict[str, Any]:
    """Return the body of a request for whole hosts."""
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

    :param around: the servers that it uses
    """

    name: str

    def __init__(self, around: Surroundings, port: int) -> None:
        self.around = around
        self.url = f"http://127.0.0.1:{port}"
        self.api = ReservationApi(self.url)
        self.database: Engine = create_engine(around.database)
        # Nothing starts while the measurement runs.
        self.origin = datetime.now(UTC).replace(minute=0, second=0, microsecond=0, tzinfo=None) + timedelta(days=2)
        self._processes: list[OwnProcess] = []

    @abc.abstractmethod
    def prepare(self) -> None:
        """Write configuration files and create the tables."""

    @abc.abstractmethod
    def launch(self) -> list[OwnProcess]:
        """Start its processes and return when they answer."""

    @abc.abstractmethod
    def clone_hosts(self, number: int, known: int) -> None:
        """Copy the first host in the database, to hosts numbered ``known + 1`` to ``number``."""

    @abc.abstractmethod
    def clone_leases(self, pattern: str, workload: Workload, start: datetime, hours: int) -> list[str]:
        """Copy the pattern to the leases of the workload in the database, and return their ids.

        :param pattern: id of the lease to copy
        :param start: start of the pattern
        :param hours: length of the pattern
        """

    def start(self) -> None:
        """Start the service."""
        self._processes = self.launch()

    def stop(self) -> None:
        """Stop the service."""
        for process in self._processes:
            process.kill()
        self._processes = []

    def close(self) -> None:
        """Stop the service and close its connections to the database."""
        self.stop()
        self.database.dispose()

    def load(self, workload: Workload) -> list[str]:
        """Put hosts and leases into the database and start the service; return the ids of the leases.

        :raises ServerError: the copies do not look like what the service itself has made
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
        """Add hosts by the API: more than one lease needs, so that a copy can be told from the original."""
        if not wait_until(lambda: self.api.is_willing("POST", "os-hosts", {"name": "compute-1"}), 60):
            self.api.ask("POST", "os-hosts", {"name": "compute-1"})
        for each in range(2, number + 1):
            self.api.ask("POST", "os-hosts", {"name": f"compute-{each}"})
        return number

    def _check(self, pattern: str, leases: list[str], workload: Workload) -> None:
        """Compare what the API shows of copies with what it shows of originals."""
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
    """Return the body of a request to be measured.

    :param start: hours after the beginning
    """
    return lease_body("request", service.origin + timedelta(hours=start), REQUEST_HOURS, REQUEST_HOSTS)


def new_id() -> str:
    """Return a new id in the format that both services use."""
    return str(uuid.uuid4())


def seconds(instant: datetime) -> int:
    """Return the seconds since the epoch of a time without a zone, which is UTC."""
    return int(instant.replace(tzinfo=UTC).timestamp())
