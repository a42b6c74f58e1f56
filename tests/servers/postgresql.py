"""A real PostgreSQL server."""

from __future__ import annotations

import os
import pwd
import shutil
import signal
from pathlib import Path

import sqlalchemy

from tests.servers.base import MissingServerError, OwnProcess, Server, find_program
from tests.servers.databases import answers, execute


class PostgreSQL(Server):
    """PostgreSQL on a loopback port, run as a user other than root.

    Its data survive a kill of the process. They need not survive a crash of the machine, which saves most of the time.
    """

    name = "postgresql"

    @property
    def url(self) -> str:
        return self.database_url("postgres")

    def database_url(self, database: str) -> str:
        """Return the SQLAlchemy URL of a database."""
        return f"postgresql+psycopg2://postgres@127.0.0.1:{self.port}/{database}"

    def create_database(self, database: str) -> str:
        """Create an empty database and return its URL."""
        execute(self.url, f'CREATE DATABASE "{database}"')
        return self.database_url(database)

    def drop_database(self, database: str) -> None:
        """Remove a database and the connections to it, if it exists."""
        execute(self.url, f'DROP DATABASE IF EXISTS "{database}" WITH (FORCE)')

    @property
    def _data(self) -> Path:
        return self.folder / "data"

    def _prepare(self) -> None:
        if self._data.exists():
            return
        initdb, user = _program("initdb"), _unprivileged_user()
        if user is not None:
            # root's temporary folders are private, and the other user needs access to this one.
            self.folder.chmod(0o711)
            shutil.chown(self.folder, *user)
        unfinished = self.folder / "unfinished"
        command = [str(initdb), f"--pgdata={unfinished}", "--username=postgres", "--auth=trust"]
        self._run([*command, "--encoding=UTF8", "--locale=C", "--no-sync"], user)
        unfinished.rename(self._data)

    def _launch(self) -> list[OwnProcess]:
        settings = {
            "listen_addresses": "127.0.0.1",
            "port": self.port,
            "unix_socket_directories": "",
            "fsync": "off",
            "full_page_writes": "off",
            "max_connections": 300,
        }
        command = [str(_program("postgres")), "-D", str(self._data)]
        for name, value in settings.items():
            command += ["-c", f"{name}={value}"]
        return [OwnProcess(self.name, command, self.log, user=_unprivileged_user())]

    def _answers(self) -> bool:
        return answers(self.url, sqlalchemy.text("SELECT 1"))

    def _end(self, process: OwnProcess) -> None:
        # SIGINT closes the connections; SIGTERM would wait for the clients to do so.
        process.end(signal.SIGINT, 60)


def _program(name: str) -> Path:
    """Return the path of a program of the newest version; Debian keeps each version in a folder outside ``PATH``."""
    folders = Path("/usr/lib/postgresql").glob("*/bin")
    return find_program(name, sorted(folders, key=lambda folder: float(folder.parent.name), reverse=True))


def _unprivileged_user() -> tuple[int, int] | None:
    """Return user and group to run as, since the server refuses to run as root; None for the current ones."""
    if os.geteuid() != 0:
        return None
    for name in ("postgres", "nobody"):
        try:
            entry = pwd.getpwnam(name)
        except KeyError:
            continue
        return entry.pw_uid, entry.pw_gid
    raise MissingServerError("PostgreSQL does not run as root, and there is no user postgres or nobody to run it as")
