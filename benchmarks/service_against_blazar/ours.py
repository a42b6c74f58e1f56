"""Our service: ``lease-scheduler-engine`` and ``lease-scheduler-api``."""

from __future__ import annotations

import sys
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from sqlalchemy import update

from benchmarks.service_against_blazar.cloning import Row, insert_all, keyed, rows_where, tables, with_values
from benchmarks.service_against_blazar.service import Service, new_id, seconds
from benchmarks.service_against_blazar.surroundings import THREADS, Surroundings, answers, run, wait_for
from benchmarks.service_against_blazar.workload import HOUR, Workload
from lease_scheduler.store.sql.schema import METADATA
from tests.servers.base import OwnProcess, free_port

_LEASE_TABLES = ("leases", "lease_reservations", "holdings", "lease_history")


class Ours(Service):
    """Our service as two processes, like Blazar."""

    name = "lease-scheduler"

    def __init__(self, around: Surroundings, hosts: int) -> None:
        port = free_port()
        super().__init__(around, port)
        self._port = port
        self._hosts = hosts
        self._programs = Path(sys.executable).parent

    @property
    def _configuration(self) -> list[str]:
        return ["--config-file", str(self.around.folder / "lease-scheduler.conf")]

    def prepare(self) -> None:
        around = self.around
        (around.folder / "lease-scheduler.conf").write_text(
            "[DEFAULT]\n"
            f"transport_url = {around.broker}\n"
            f"[database]\nconnection = {around.database}\n"
            f"[service]\ncloud = simulated\nstate_path = {around.folder}\nengine_timeout = 600\n"
            f"[api]\nhost = 127.0.0.1\nport = {self._port}\nthreads = {THREADS}\nauth_strategy = keystone\n"
            f"[simulated_cloud]\nhosts = {self._hosts}\n" + around.token_options
        )
        run(
            [str(self._programs / "lease-scheduler-manage"), "db", "sync", *self._configuration],
            around.folder / "lease-scheduler-manage.log",
        )

    def launch(self) -> list[OwnProcess]:
        folder = self.around.folder
        engine_log, api_log = folder / "engine.log", folder / "api.log"
        engine = OwnProcess(
            "lease-scheduler-engine",
            [str(self._programs / "lease-scheduler-engine"), *self._configuration],
            engine_log,
        )
        command = [str(self._programs / "lease-scheduler-api"), *self._configuration]
        api = OwnProcess("lease-scheduler-api", command, api_log)
        wait_for(lambda: answers(f"{self.url}/healthcheck"), api, api_log)
        # A request waits at the broker until the engine leads.
        wait_for(lambda: self.around.has_queue("lease-scheduler.engine.default"), engine, engine_log)
        return [api, engine]

    def clone_hosts(self, number: int, known: int) -> None:
        with self.database.begin() as connection:
            of = tables(connection, ("hosts",), METADATA)["hosts"]
            pattern = rows_where(connection, of, "id", [1])[0]
            insert_all(
                connection,
                of,
                [
                    {**with_values(pattern, keyed({"compute-1": f"compute-{each}"})), "id": each}
                    for each in range(known + 1, number + 1)
                ],
            )

    def clone_leases(self, pattern: str, workload: Workload, start: datetime, hours: int) -> list[str]:
        with self.database.begin() as connection:
            of = tables(connection, (*_LEASE_TABLES, "sites"), METADATA)
            found: dict[str, list[Row]] = {"leases": rows_where(connection, of["leases"], "id", [pattern])}
            for name in _LEASE_TABLES[1:]:
                found[name] = rows_where(connection, of[name], "lease_id", [pattern])
            copies: dict[str, list[Row]] = {name: [] for name in _LEASE_TABLES}
            ids = []
            begun, over = seconds(start), seconds(start) + hours * HOUR
            for number, booking in enumerate(workload.bookings, start=1):
                begins = seconds(self.origin + timedelta(hours=booking.start))
                ends = begins + booking.hours * HOUR
                other: dict[Any, Any] = {
                    begun: begins,
                    over: ends,
                    over - HOUR: ends - HOUR,
                    hours * HOUR: booking.hours * HOUR,
                    "pattern": f"lease-{number}",
                    pattern: new_id(),
                }
                other.update({row["id"]: new_id() for row in found["lease_reservations"]})
                for name, rows in found.items():
                    copies[name] += [with_values(row, keyed(other)) for row in rows]
                copies["leases"][-1]["sequence"] += number
                copies["holdings"][-1]["hosts"] = [str(host + 1) for host in booking.hosts]
                ids.append(other[pattern])
            for row in copies["lease_history"]:
                del row["id"]
            for name in _LEASE_TABLES:
                insert_all(connection, of[name], copies[name])
            site = of["sites"]
            connection.execute(update(site).values(next_sequence=site.c.next_sequence + len(ids)))
        return ids
