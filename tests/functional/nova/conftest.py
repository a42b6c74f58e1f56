"""The environment that has Nova."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.servers.base import MissingServerError
from tests.servers.fixtures import missing
from tests.servers.openstack import environment


@pytest.fixture(scope="session")
def python(request: pytest.FixtureRequest) -> Path:
    """The interpreter of the environment."""
    try:
        return environment.install(request.config.cache.mkdir("openstack"))
    except MissingServerError as error:
        missing(str(error))
