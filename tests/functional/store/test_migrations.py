from __future__ import annotations

from sqlalchemy import inspect

from lease_scheduler.store.sql import migrate
from lease_scheduler.store.sql.database import open_database
from lease_scheduler.store.sql.schema import METADATA


def test_tables_are_made_from_nothing_and_match_the_schema(database_url: str) -> None:
    engine = open_database(database_url)
    assert migrate.current(engine) is None
    migrate.upgrade(engine)
    assert migrate.current(engine) == migrate.newest()
    assert migrate.differences(engine) == []
    assert set(METADATA.tables) <= set(inspect(engine).get_table_names())
    engine.dispose()


def test_a_second_upgrade_changes_nothing(database_url: str) -> None:
    engine = open_database(database_url)
    migrate.upgrade(engine)
    migrate.upgrade(engine)
    assert migrate.differences(engine) == []
    engine.dispose()
