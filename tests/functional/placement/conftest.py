"""Placement with its defaults, and with the settings that we recommend."""

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
    """All settings are defaults; MariaDB's own isolation level is REPEATABLE READ."""
    with running_site(mariadb_server, openstack_python) as found:
        yield found


@pytest.fixture(scope="module")
def read_committed_site(mariadb_server: MariaDB, openstack_python: Path) -> Iterator[Site]:
    """Placement's connections use READ COMMITTED."""
    with running_site(mariadb_server, openstack_python, READ_COMMITTED) as found:
        yield found


@pytest.fixture(scope="module")
def sound_site(mariadb_server: MariaDB, openstack_python: Path) -> Iterator[Site]:
    """Placement does not retry by itself, as we recommend."""
    with running_site(mariadb_server, openstack_python, retries=1) as found:
        yield found
