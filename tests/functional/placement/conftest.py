"""A Placement as operators have it, and one that is set as we advise."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.functional.placement.site import READ_COMMITTED, Site, running_site
from tests.servers.base import MissingServerError
from tests.servers.fixtures import missing
from tests.servers.mariadb import MariaDB
from tests.servers.openstack import environment


@pytest.fixture(scope="session")
def openstack_python(request: pytest.FixtureRequest) -> Path:
    """The interpreter of the environment of OpenStack's services."""
    try:
        return environment.install(request.config.cache.mkdir("openstack"))
    except MissingServerError as error:
        missing(str(error))


@pytest.fixture(scope="module")
def site(mariadb_server: MariaDB, openstack_python: Path) -> Iterator[Site]:
    """Nothing is set; MariaDB's own isolation of transactions is REPEATABLE READ."""
    with running_site(mariadb_server, openstack_python) as found:
        yield found


@pytest.fixture(scope="module")
def read_committed_site(mariadb_server: MariaDB, openstack_python: Path) -> Iterator[Site]:
    """READ COMMITTED for the connections of Placement."""
    with running_site(mariadb_server, openstack_python, READ_COMMITTED) as found:
        yield found


@pytest.fixture(scope="module")
def sound_site(mariadb_server: MariaDB, openstack_python: Path) -> Iterator[Site]:
    """Placement does not try again itself, as we advise."""
    with running_site(mariadb_server, openstack_python, retries=1) as found:
        yield found
