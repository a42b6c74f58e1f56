"""Fixtures: real servers, started when a test first asks for them, and an empty database or the like for each test.

Each worker of a parallel run starts its own servers. A test may kill a server; it runs again for the next test. Tests
whose server is not installed are skipped, or fail if ``LEASE_SCHEDULER_REQUIRE_SERVERS=1`` is set.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import threading
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NoReturn, Protocol, TypeVar

import pytest
from selenium.webdriver import Chrome

from tests.servers.base import MissingServerError
from tests.servers.chromium import start_browser
from tests.servers.keystone import Keystone
from tests.servers.mariadb import MariaDB
from tests.servers.openstack import environment
from tests.servers.openstack.lab import Lab
from tests.servers.openstack.nova import Host
from tests.servers.postgresql import PostgreSQL
from tests.servers.rabbitmq import RabbitMQ
from tests.servers.reservation import ReservationService
from tests.servers.slurm import Slurm

REQUIRE_SERVERS = "LEASE_SCHEDULER_REQUIRE_SERVERS"


#: Hosts of the lab. The last one has a process of its own, so that it can be killed alone.
LAB_HOSTS = (Host("node1"), Host("node2"), Host("node3"), Host("node4", process="2"))

#: Seconds without a report after which a host of the lab is down.
LAB_DOWN_AFTER = 15


class Startable(Protocol):
    """A server or a group of servers."""

    def start(self) -> None: ...

    def kill(self) -> None: ...


ServerType = TypeVar("ServerType", bound=Startable)


@contextmanager
def running(make: Callable[[Path], ServerType]) -> Iterator[ServerType]:
    """Run a server in a temporary folder, which is removed afterwards.

    :param make: its class, or a function that makes one for a folder
    """
    # Paths of sockets have to be short, and pytest's temporary folders are not.
    folder = Path(tempfile.mkdtemp(prefix="lease-scheduler-"))
    server = make(folder)
    try:
        try:
            server.start()
        except MissingServerError as error:
            missing(str(error))
        yield server
    finally:
        # An orderly end would only write data that nothing reads again.
        server.kill()
        shutil.rmtree(folder)


def missing(reason: str) -> NoReturn:
    """Skip the test, or fail it if servers are required."""
    if os.environ.get(REQUIRE_SERVERS) == "1":
        pytest.fail(f"{reason} ({REQUIRE_SERVERS} is 1)", pytrace=False)
    pytest.skip(reason)


def _name() -> str:
    return f"test_{uuid.uuid4().hex}"


@pytest.fixture(scope="session")
def mariadb_server() -> Iterator[MariaDB]:
    with running(MariaDB) as server:
        yield server


@pytest.fixture(scope="session")
def postgresql_server() -> Iterator[PostgreSQL]:
    with running(PostgreSQL) as server:
        yield server


@pytest.fixture(scope="session")
def rabbitmq_server() -> Iterator[RabbitMQ]:
    with running(RabbitMQ) as server:
        yield server


@pytest.fixture
def slurm() -> Iterator[Slurm]:
    """A Slurm cluster whose nodes are all powered down."""
    with running(Slurm) as server:
        yield server


@pytest.fixture(scope="session")
def keystone(request: pytest.FixtureRequest) -> Iterator[Keystone]:
    """An identity service with an administrator. What a test adds to it must have a unique name."""
    try:
        python = environment.install(request.config.cache.mkdir("openstack"))
    except MissingServerError as error:
        missing(str(error))
    with running(lambda folder: Keystone(folder, python)) as server:
        yield server


@pytest.fixture(scope="session")
def lab(request: pytest.FixtureRequest) -> Iterator[Lab]:
    """Keystone, Placement, Glance and Nova with four fake hosts."""
    cache = request.config.cache.mkdir("openstack")
    with running(lambda folder: Lab(folder, cache, LAB_HOSTS, down_after=LAB_DOWN_AFTER)) as started:
        yield started


@pytest.fixture(scope="session")
def driver(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chrome]:
    """One browser for all tests of a worker process."""
    try:
        browser = start_browser(tmp_path_factory.mktemp("profile"))
    except MissingServerError as error:
        missing(str(error))
    yield browser
    browser.quit()


@pytest.fixture
def mariadb_url(mariadb_server: MariaDB) -> Iterator[str]:
    """SQLAlchemy URL of an empty database on MariaDB."""
    mariadb_server.ensure_running()
    name = _name()
    yield mariadb_server.create_database(name)
    mariadb_server.ensure_running()
    mariadb_server.drop_database(name)


@pytest.fixture
def postgresql_url(postgresql_server: PostgreSQL) -> Iterator[str]:
    """SQLAlchemy URL of an empty database on PostgreSQL."""
    postgresql_server.ensure_running()
    name = _name()
    yield postgresql_server.create_database(name)
    postgresql_server.ensure_running()
    postgresql_server.drop_database(name)


@pytest.fixture
def rabbitmq_url(rabbitmq_server: RabbitMQ) -> Iterator[str]:
    """The ``transport_url`` of an empty virtual host on RabbitMQ."""
    rabbitmq_server.ensure_running()
    name = _name()
    yield rabbitmq_server.create_virtual_host(name)
    rabbitmq_server.ensure_running()
    rabbitmq_server.drop_virtual_host(name)
    # These threads would go on trying to reconnect to the virtual host until the process ends.
    left = [thread.name for thread in threading.enumerate() if thread.name.endswith("(poll)")]
    assert not left, f"transports were not closed: {left}"


@pytest.fixture
def reservation_service(tmp_path: Path) -> Iterator[ReservationService]:
    """The service with an empty database and four hosts in its cloud, none of them in the pool yet.

    Some tests have leases in the year 2050, so the limit on how far ahead a lease may lie is lifted, as operators can.
    """
    configuration = "[simulated_cloud]\nhosts = 4\n[enforcement]\nmax_lead_time = -1\n"
    service = ReservationService(tmp_path, configuration=configuration)
    service.start()
    yield service
    service.kill()
