"""A database of each kind, and an engine of a site on it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import Engine

from lease_scheduler.store.sql import migrate
from lease_scheduler.store.sql.database import open_database


@pytest.fixture(params=["sqlite", "mariadb", "postgresql"])
def database_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """An empty database of each kind."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/test.sqlite"
    url = request.getfixturevalue(f"{request.param}_url")
    assert isinstance(url, str)
    return url


@pytest.fixture
def database(database_url: str) -> Iterator[Engine]:
    """A database with all tables."""
    engine = open_database(database_url)
    migrate.upgrade(engine)
    yield engine
    engine.dispose()
