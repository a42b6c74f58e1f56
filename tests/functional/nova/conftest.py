"""The environment that has Nova."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.functional.nova.in_nova import Launcher
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


@pytest.fixture(scope="session")
def launcher(python: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Launcher]:
    """Runs tests on a Nova."""
    launcher = Launcher(python, tmp_path_factory.mktemp("nova"))
    yield launcher
    launcher.kill()
