from __future__ import annotations

import subprocess
import sys

import pytest
from sqlalchemy import JSON, delete, func, insert, inspect, select, text

from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.store.sql import migrate
from lease_scheduler.store.sql.database import open_database
from lease_scheduler.store.sql.schema import (
    HISTORY,
    LEASES,
    METADATA,
    SERIES,
)

_UPGRADE = """
import sys
from lease_scheduler.store.sql import migrate
from lease_scheduler.store.sql.database import open_database
migrate.upgrade(open_database(sys.argv[1]))
"""


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


def test_programs_that_make_the_tables_at_the_same_time_wait_for_each_other(database_url: str) -> None:
    if database_url.startswith("sqlite"):
        pytest.skip("SQLite has no such lock")
    words = [sys.executable, "-c", _UPGRADE, database_url]
    programs = [subprocess.Popen(words, stderr=subprocess.PIPE, text=True) for _ in range(3)]
    said = [program.communicate(timeout=300)[1] for program in programs]
    assert [program.returncode for program in programs] == [0, 0, 0], said
    engine = open_database(database_url)
    assert migrate.differences(engine) == []
    engine.dispose()


@pytest.mark.parametrize("revision", ["0020", "9999"])
def test_tables_of_an_unknown_revision_are_refused_and_left_alone(database_url: str, revision: str) -> None:
    engine = open_database(database_url)
    migrate.upgrade(engine)
    with engine.begin() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = :revision"), {"revision": revision})
    with pytest.raises(
        InvalidValueError, match=rf"revision {revision}, and this version knows 0021 to {migrate.newest()}"
    ):
        migrate.upgrade(engine)
    assert migrate.current(engine) == revision
    assert migrate.differences(engine) == []
    engine.dispose()


def test_leases_from_before_there_were_approvals_need_none(database_url: str) -> None:
    """From revision 0021, the oldest one; also series, which follow UTC, and the history, which has no actors."""
    engine = open_database(database_url)
    migrate.upgrade(engine, "0021")
    columns = {table: {each["name"] for each in inspect(engine).get_columns(table)} for table in ("leases", "series")}
    assert "approval" not in columns["leases"]
    assert "time_zone" not in columns["series"]
    row = {
        column.name: {} if isinstance(column.type, JSON) else _ANYTHING[column.type.python_type]
        for column in LEASES.columns
        if column.name in columns["leases"] and not column.nullable
    } | {"kind": "best-effort", "state": "queued", "preemption_mode": "none", "nodes": [_NODES], "servers": []}
    history = {"lease_id": "a", "instant": 1, "from_state": "new", "to_state": "queued", "reason": ""}
    series = {"id": "a", "project_id": "a", "user_id": "a", "name": "a", "rule": "FREQ=DAILY", "template": {}}
    with engine.begin() as connection:
        connection.execute(insert(LEASES).values(row))
        connection.execute(insert(HISTORY).values(history))
        connection.execute(insert(SERIES).values({**series, "planned_until": 1, "created_at": 1}))
    migrate.upgrade(engine)
    assert migrate.differences(engine) == []
    with engine.connect() as connection:
        assert connection.execute(select(LEASES.c.approval)).one() == (None,)
        assert connection.execute(select(HISTORY.c.user_id, HISTORY.c.project_id)).one() == (None, None)
        assert connection.execute(select(SERIES.c.time_zone)).one() == (None,)
    engine.dispose()


def test_a_history_keeps_its_numbers_and_goes_on_after_them(database_url: str) -> None:
    """From revision 0024, before which SQLite used numbers of deleted rows again."""
    engine = open_database(database_url)
    migrate.upgrade(engine, "0024")
    present = {each["name"] for each in inspect(engine).get_columns("leases")}
    row = {
        column.name: {} if isinstance(column.type, JSON) else _ANYTHING[column.type.python_type]
        for column in LEASES.columns
        if column.name in present and not column.nullable
    } | {"kind": "best-effort", "state": "queued", "preemption_mode": "none", "nodes": [_NODES], "servers": []}
    history = {"lease_id": "a", "instant": 1, "from_state": "new", "to_state": "queued", "reason": ""}
    with engine.begin() as connection:
        connection.execute(insert(LEASES).values(row))
        for _ in range(3):
            connection.execute(insert(HISTORY).values(history))
        before = connection.scalars(select(HISTORY.c.id).order_by(HISTORY.c.id)).all()
    migrate.upgrade(engine)
    assert migrate.differences(engine) == []
    with engine.begin() as connection:
        assert connection.scalars(select(HISTORY.c.id).order_by(HISTORY.c.id)).all() == before
        connection.execute(delete(HISTORY).where(HISTORY.c.id == before[-1]))
        connection.execute(insert(HISTORY).values(history))
        assert connection.scalars(select(func.max(HISTORY.c.id))).one() > before[-1]
        # They still go with their leases.
        connection.execute(delete(LEASES))
        assert connection.scalars(select(HISTORY.c.id)).all() == []
    engine.dispose()


_NODES = {"count": 1, "resources": {"VCPU": 1}, "traits": [], "hosts": None, "per_host": None}


_ANYTHING: dict[type, object] = {int: 1, bool: False, str: "a"}
