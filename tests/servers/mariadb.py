"""A real MariaDB server."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import sqlalchemy

from tests.servers.base import OwnProcess, Server, find_program
from tests.servers.databases import answers, execute

#: Each change of a table would wait for the disk several times, and again for a processor on a busy machine.
_NO_SYNC = "--loose-debug-no-sync"


def check_installed() -> None:
    """Check that the required programs are installed.

    :raises MissingServerError: one of them is not
    """
    find_program("mariadb-install-db")
    find_program("mariadbd")


class MariaDB(Server):
    """MariaDB on a loopback port and a socket of its own, without the system's options.

    Its data survive a kill of the process. They need not survive a crash of the machine, which saves most of the time.
    """

    name = "mariadb"

    @property
    def url(self) -> str:
        return self.database_url("mysql")

    def database_url(self, database: str) -> str:
        """Return the SQLAlchemy URL of a database."""
        return f"mysql+pymysql://root@127.0.0.1:{self.port}/{database}?charset=utf8mb4"

    def create_database(self, database: str) -> str:
        """Create an empty database and return its URL."""
        execute(self.url, f"CREATE DATABASE `{database}` CHARACTER SET utf8mb4")
        return self.database_url(database)

    def drop_database(self, database: str) -> None:
        """Remove a database if it exists."""
        execute(self.url, f"DROP DATABASE IF EXISTS `{database}`")

    @property
    def _data(self) -> Path:
        return self.folder / "data"

    @property
    def _user(self) -> list[str]:
        # MariaDB refuses to run as root unless told to.
        return ["--user=root"] if os.geteuid() == 0 else []

    def _prepare(self) -> None:
        if self._data.exists():
            return
        unfinished = self.folder / "unfinished"
        install = find_program("mariadb-install-db")
        find_program("mariadbd")
        self._run(
            [
                str(install),
                "--no-defaults",
                *self._user,
                f"--datadir={unfinished}",
                "--auth-root-authentication-method=normal",
                "--skip-test-db",
                "--skip-name-resolve",
                _NO_SYNC,
            ]
        )
        unfinished.rename(self._data)

    def _launch(self) -> list[OwnProcess]:
        command = [
            str(find_program("mariadbd")),
            "--no-defaults",
            *self._user,
            f"--datadir={self._data}",
            f"--socket={self.folder / 'socket'}",
            f"--pid-file={self.folder / 'pid'}",
            f"--port={self.port}",
            "--bind-address=127.0.0.1",
            "--skip-name-resolve",
            "--skip-log-bin",
            # Each commit is handed to the kernel at once; the kernel decides when it reaches the disk.
            "--innodb-flush-log-at-trx-commit=2",
            "--innodb-flush-method=nosync",
            _NO_SYNC,
            "--innodb-buffer-pool-size=128M",
            "--max-connections=600",
            "--character-set-server=utf8mb4",
            "--performance-schema=0",
        ]
        return [OwnProcess(self.name, command, self.log)]

    def _answers(self) -> bool:
        return answers(self.url, sqlalchemy.text("SELECT 1"))

    def _end(self, process: OwnProcess) -> None:
        process.end(signal.SIGTERM, 60)
