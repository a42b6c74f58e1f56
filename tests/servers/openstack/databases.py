"""The initial databases of a lab, made once and kept, because making them is most of the time of a first start."""

from __future__ import annotations

import fcntl
import hashlib
import shutil
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

from tests.servers.base import OwnProcess, ServerError, log_end, wait_until
from tests.servers.keystone import Keystone
from tests.servers.mariadb import MariaDB
from tests.servers.openstack import environment

#: Folders of the data of MariaDB and of Keystone within the kept data.
MARIADB, KEYSTONE = "mariadb", "keystone"

#: Databases of OpenStack's services on MariaDB.
DATABASES = ("placement", "glance", "nova", "nova_api", "nova_cell0")

_LIMIT_SECONDS = 300.0
_PROGRAM = environment.PROGRAMS / "make_databases.py"


@contextmanager
def made(cache: Path, python: Path) -> Iterator[Path]:
    """Provide a folder with the initial data of a MariaDB and of a Keystone, to be copied.

    :param cache: folder that is kept from run to run and may be used by several runs at once
    :raises MissingServerError: MariaDB is not installed
    :raises ServerError: they cannot be made; names the part, with the end of its log
    """
    folder = cache / f"databases-{_version()}"
    with (cache / "databases-lock").open("w") as lock:
        # A second process waits here, and then finds the databases made.
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not folder.exists():
            for old in cache.glob("databases-*/"):
                shutil.rmtree(old)
            _make(folder, python)
        fcntl.flock(lock, fcntl.LOCK_SH)
        yield folder


def _version() -> str:
    """Return a fingerprint of everything that the databases are made from."""
    files = (environment.REQUIREMENTS, _PROGRAM, Path(__file__))
    return hashlib.sha256(b"\0".join(path.read_bytes() for path in files)).hexdigest()[:16]


def _make(folder: Path, python: Path) -> None:
    # Paths of sockets have to be short.
    with tempfile.TemporaryDirectory(prefix="lease-scheduler-") as name:
        working = Path(name)
        for part in (MARIADB, KEYSTONE):
            (working / part).mkdir()
        mariadb = MariaDB(working / MARIADB)
        with ThreadPoolExecutor() as pool:
            identity = pool.submit(Keystone(working / KEYSTONE, python).prepare)
            mariadb.start()
            try:
                urls = {database: mariadb.create_database(database) for database in DATABASES}
                projects = [pool.submit(_make_tables, working, python, *each) for each in _configurations(urls)]
                for future in (identity, *projects):
                    future.result()
            finally:
                mariadb.stop()
        unfinished = folder.with_name("unfinished")
        shutil.rmtree(unfinished, ignore_errors=True)
        shutil.copytree(working / MARIADB / "data", unfinished / MARIADB / "data")
        shutil.copytree(working / KEYSTONE, unfinished / KEYSTONE, ignore=shutil.ignore_patterns("*.log", "*.conf"))
        unfinished.rename(folder)


def _configurations(urls: dict[str, str]) -> list[tuple[str, str]]:
    """Return project and configuration of each database, the slowest first."""
    nova = environment.ini(
        {
            "DEFAULT": {"transport_url": "rabbit://guest:guest@127.0.0.1:1/"},
            "database": {"connection": urls["nova"]},
            "api_database": {"connection": urls["nova_api"]},
        }
    )
    glance = environment.ini({"database": {"connection": urls["glance"]}})
    placement = environment.ini({"placement_database": {"connection": urls["placement"]}})
    return [("nova", nova), ("glance", glance), ("placement", placement)]


def _make_tables(folder: Path, python: Path, project: str, configuration: str) -> None:
    path, log = folder / f"{project}.conf", folder / f"{project}.log"
    path.write_text(configuration)
    command = [str(python), str(_PROGRAM), project, str(path)]
    process = OwnProcess(f"{project}'s tables", command, log, environment.variables())
    if not wait_until(lambda: not process.is_running(), _LIMIT_SECONDS):
        process.kill()
    if process.returncode:
        raise ServerError(f"{process.name} cannot be made; the end of the log:\n{log_end(log)}")
