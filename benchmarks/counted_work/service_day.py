"""A day of a small site in the service: REST, engine, SQLite and the simulated cloud, on a clock set by hand."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Lock
from typing import Any
from unittest.mock import patch

from werkzeug.test import Client

from benchmarks.counted_work.statements import counted_statements
from lease_scheduler.cloud.orders import AnyOrder
from lease_scheduler.cloud.simulated import SimulatedCloud
from lease_scheduler.cmd import configuration, rest, wiring
from lease_scheduler.store.sql import migrate
from lease_scheduler.store.sql.reader import SqlReader

_BEGIN = 1_893_456_000  # 1 January 2030, 0:00 UTC
_HOUR = 3_600
_HOSTS = 24
_LEASES = 12

#: Real seconds that one step of the day may take, and the interval at which its completion is checked.
_PATIENCE = 60.0
_PAUSE = 0.01


class _ClockSetByHand:
    """A clock that stands still until it is set."""

    def __init__(self) -> None:
        self.instant = _BEGIN

    def now(self) -> int:
        return self.instant

    def seconds_until(self, instant: int) -> float:
        return 0.0 if instant <= self.instant else _PAUSE


def count() -> dict[str, int]:
    """Count the statements, rows and commands of the day."""
    found: Counter[str] = Counter()
    with TemporaryDirectory() as folder, counted_statements(found):
        day = _Day(Path(folder), found)
        try:
            day.run()
        finally:
            day.close()
    return dict(found)


class _Day:
    """The service in this process, without an HTTP server: requests go straight to its WSGI application."""

    def __init__(self, folder: Path, found: Counter[str]) -> None:
        self._found = found
        self._clock = _ClockSetByHand()
        self._commands: set[tuple[int, str]] = set()
        self._lock = Lock()
        defaults: dict[tuple[str, str], Any] = {
            ("api", "auth_strategy"): "noauth",
            ("service", "cloud"): "simulated",
            ("service", "state_path"): str(folder),
            ("database", "connection"): f"sqlite:///{folder}/service.sqlite",
            ("engine", "workers"): 1,
            ("simulated_cloud", "hosts"): _HOSTS,
        }
        conf = configuration.load([], defaults, find_files=False)
        wiring.default_transport(conf, "fake://")
        self._database = wiring.database(conf)
        migrate.upgrade(self._database)
        found.clear()
        with patch.object(wiring, "clock", lambda conf, found: self._clock):
            self._service = wiring.engine_service(conf, "engine")
        self._counting = patch.object(SimulatedCloud, "perform", self._counted(SimulatedCloud.perform))
        self._counting.start()
        reader = SqlReader(self._database, conf.service.site)
        self._client = Client(rest.application(conf, wiring.engine_client(conf), reader, self._clock))

    def _counted(self, perform: Any) -> Any:
        """Count a step of an order once, however often the service asks whether it is done."""

        def counted(cloud: SimulatedCloud, order: AnyOrder, step: str) -> int | None:
            with self._lock:
                if (order.intent_id, step) not in self._commands:
                    self._commands.add((order.intent_id, step))
                    self._found[f"commands, {step}"] += 1
            again: int | None = perform(cloud, order, step)
            return again

        return counted

    def close(self) -> None:
        self._service.stop()
        self._counting.stop()
        self._database.dispose()

    def run(self) -> None:
        self._service.start()
        self._wait_until(self._service.leadership.is_leading.is_set)
        for number in range(1, _HOSTS + 1):
            self._ask("POST", "/v1/os-hosts", {"name": f"compute-{number}"})
        self._quiet()
        for number in range(_LEASES):
            self._reserve(number)
            self._quiet()
        leases = self._ask("GET", "/v1/leases")["leases"]
        for lease in leases:
            self._ask("GET", f"/v1/leases/{lease['id']}")
        self._ask("PUT", f"/v1/leases/{leases[0]['id']}", {"name": "renamed"})
        self._ask("DELETE", f"/v1/leases/{leases[-1]['id']}")
        self._quiet()
        while (due := self._due()) is not None and due < _BEGIN + 48 * _HOUR:
            self._clock.instant = max(self._clock.instant, due)
            self._quiet()
        self._ask("GET", "/v1/leases")

    def _reserve(self, number: int) -> None:
        """Request a reservation with the given start and end."""
        start = _BEGIN + _HOUR + number * 600
        self._ask(
            "POST",
            "/v1/leases",
            {
                "name": f"lease {number}",
                "start_date": _date(start),
                "end_date": _date(start + 6 * _HOUR),
                "reservations": [
                    {
                        "resource_type": "virtual:instance",
                        "vcpus": 8,
                        "memory_mb": 1_024,
                        "disk_gb": 10,
                        "amount": 2,
                        "affinity": None,
                        "resource_properties": "",
                    }
                ],
            },
        )

    def _ask(self, method: str, path: str, body: dict[str, Any] | None = None) -> Any:
        answer = self._client.open(path, method=method, json=body)
        assert answer.status_code < 300, f"{method} {path}: {answer.status} {answer.text}"
        return answer.get_json(silent=True)

    def _quiet(self) -> None:
        """Wait until the service has done all that is due, so that the next step always starts from the same state."""
        self._wait_until(self._is_quiet)

    def _due(self) -> int | None:
        site = self._service.plan
        assert site is not None
        with site.lock:
            return site.next_due()

    def _is_quiet(self) -> bool:
        """Return whether nothing is due and no command is being carried out."""
        due = self._due()
        if due is not None and due <= self._clock.instant:
            return False
        site = self._service.plan
        assert site is not None
        with site.lock:
            return not site.work.intents.has_reports and not site.work.intents.open_intents()

    def _wait_until(self, condition: Callable[[], bool]) -> None:
        end = time.monotonic() + _PATIENCE
        while not condition():
            if time.monotonic() > end:
                raise TimeoutError(f"the service is not done after {_PATIENCE:.0f} s")
            time.sleep(_PAUSE)


def _date(instant: int) -> str:
    return time.strftime("%Y-%m-%d %H:%M", time.gmtime(instant))
