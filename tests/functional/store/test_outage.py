"""A database that goes away and comes back."""

from __future__ import annotations

import pytest

from lease_scheduler.model.errors import StoreUnavailableError
from lease_scheduler.store.sql import migrate
from lease_scheduler.store.sql.database import open_database
from lease_scheduler.store.sql.reader import SqlReader
from tests.servers.base import Server


@pytest.mark.parametrize("kind", ["mariadb", "postgresql"])
def test_a_reader_says_that_the_database_is_away_and_goes_on_when_it_is_back(
    request: pytest.FixtureRequest, kind: str
) -> None:
    url, server = request.getfixturevalue(f"{kind}_url"), request.getfixturevalue(f"{kind}_server")
    assert isinstance(server, Server)
    database = open_database(url)
    migrate.upgrade(database)
    reader = SqlReader(database)
    assert reader.leases({}) == []
    server.kill()
    for _ in range(2):
        with pytest.raises(StoreUnavailableError):
            reader.leases({})
    server.ensure_running()
    assert reader.leases({}) == []
    database.dispose()
