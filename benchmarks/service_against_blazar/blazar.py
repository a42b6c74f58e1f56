"""Blazar 18 in a virtual environment of its own."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from benchmarks.service_against_blazar.cloning import Row, insert_all, keyed, rows_where, tables, with_values
from benchmarks.service_against_blazar.service import Service, new_id
from benchmarks.service_against_blazar.surroundings import THREADS, Surroundings, answers, run, wait_for
from benchmarks.service_against_blazar.workload import Workload
from tests.servers.base import OwnProcess, free_port

VERSION = "18.0.0"

#: Blazar's console script for its API exits at once, so its API runs in the same server as ours.
_PACKAGES = (f"blazar=={VERSION}", "pymysql", "waitress")

_HOST_TABLES = ("computehosts", "computehost_resource_inventory", "computehost_trait")
_LEASE_TABLES = ("leases", "reservations", "events", "computehost_reservations", "computehost_allocations")


def install(folder: Path, log: Path) -> None:
    """Create the virtual environment unless it exists."""
    if (folder / "complete").exists():
        return
    folder.parent.mkdir(parents=True, exist_ok=True)
    run([sys.executable, "-m", "venv", "--clear", str(folder)], log)
    # Python compiles modules on import; compiling all others as well would take as long as everything else together.
    pip = [str(folder / "bin" / "pip"), "install", "--quiet", "--no-compile", "--disable-pip-version-check"]
    run([*pip, *_PACKAGES], log)
    (folder / "complete").touch()


class Blazar(Service):
    """``blazar-manager``, and the API's WSGI application.

    :param environment: folder of its virtual environment
    :param plugins: names of the plug-ins for what can be leased
    """

    name = "Blazar 18"

    def __init__(
        self, around: Surroundings, environment: Path, plugins: Sequence[str] = ("physical.host.plugin",)
    ) -> None:
        port = free_port()
        super().__init__(around, port)
        self._plugins = ",".join(plugins)
        self._port = port
        self._programs = environment / "bin"

    def prepare(self) -> None:
        around = self.around
        cloud_port = around.cloud.rpartition(":")[2]
        (around.folder / "blazar.conf").write_text(
            "[DEFAULT]\n"
            "host = 127.0.0.1\n"
            f"transport_url = {around.broker}\n"
            # Blazar's slowest answers take minutes.
            "rpc_response_timeout = 3600\n"
            f"os_auth_host = 127.0.0.1\nos_auth_port = {cloud_port}\nos_auth_prefix =\n"
            "os_admin_username = user\nos_admin_password = secret\nos_admin_project_name = project\n"
            f"[manager]\nplugins = {self._plugins}\n"
            f"[database]\nconnection = {around.database}\n"
            "[oslo_messaging_notifications]\ndriver = messagingv2\n" + around.token_options
        )
        command = [str(self._programs / "blazar-db-manage"), "--config-file", str(around.folder / "blazar.conf")]
        run([*command, "upgrade", "head"], around.folder / "blazar-db-manage.log")

    def launch(self) -> list[OwnProcess]:
        folder = self.around.folder
        manager_log, api_log = folder / "blazar-manager.log", folder / "blazar-api.log"
        manager = OwnProcess(
            "blazar-manager",
            [str(self._programs / "blazar-manager"), "--config-file", str(folder / "blazar.conf")],
            manager_log,
        )
        wait_for(lambda: self.around.has_queue("blazar.manager"), manager, manager_log)
        command = [str(self._programs / "waitress-serve"), f"--listen=127.0.0.1:{self._port}", f"--threads={THREADS}"]
        environment = {**os.environ, "OS_BLAZAR_CONFIG_DIR": str(folder)}
        api = OwnProcess("blazar-api", [*command, "blazar.wsgi.api:application"], api_log, environment)
        wait_for(lambda: answers(self.url), api, api_log)
        return [api, manager]

    def clone_hosts(self, number: int, known: int) -> None:
        with self.database.begin() as connection:
            of = tables(connection, _HOST_TABLES)
            pattern = rows_where(connection, of["computehosts"], "id", ["1"])[0]
            belonging = {name: rows_where(connection, of[name], "computehost_id", ["1"]) for name in _HOST_TABLES[1:]}
            new = range(known + 1, number + 1)
            names = [keyed({"compute-1": f"compute-{each}"}) for each in new]
            hosts = [{**with_values(pattern, name), "id": str(each)} for each, name in zip(new, names, strict=True)]
            insert_all(connection, of["computehosts"], hosts)
            for table, rows in belonging.items():
                copies = [{**row, "id": new_id(), "computehost_id": str(each)} for each in new for row in rows]
                insert_all(connection, of[table], copies)

    def clone_leases(self, pattern: str, workload: Workload, start: datetime, hours: int) -> list[str]:
        with self.database.begin() as connection:
            of = tables(connection, _LEASE_TABLES)
            found: dict[str, list[Row]] = {
                "leases": rows_where(connection, of["leases"], "id", [pattern]),
                "reservations": rows_where(connection, of["reservations"], "lease_id", [pattern]),
                "events": rows_where(connection, of["events"], "lease_id", [pattern]),
            }
            reservations = [row["id"] for row in found["reservations"]]
            for name in _LEASE_TABLES[3:]:
                found[name] = rows_where(connection, of[name], "reservation_id", reservations)
            copies: dict[str, list[Row]] = {name: [] for name in _LEASE_TABLES}
            ids = []
            hour = timedelta(hours=1)
            for number, booking in enumerate(workload.bookings):
                begins = self.origin + booking.start * hour
                ends = begins + booking.hours * hour
                # For a lease of one hour, Blazar's warning before the end is due at the start.
                end = start + hours * hour
                other: dict[Any, Any] = {
                    start: begins,
                    end: ends,
                    end - hour: ends - hour,
                    "pattern": f"lease-{number}",
                }
                other.update({row["id"]: new_id() for rows in found.values() for row in rows})
                for name, rows in found.items():
                    copies[name] += [with_values(row, keyed(other)) for row in rows]
                count = len(booking.hosts)
                for row, host in zip(copies["computehost_allocations"][-count:], booking.hosts, strict=True):
                    row["compute_host_id"] = str(host + 1)
                ids.append(other[pattern])
            for name in _LEASE_TABLES:
                insert_all(connection, of[name], copies[name])
        return ids
