"""Migrating the tables to a revision (Alembic)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, Engine, text

from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.store.sql.schema import METADATA

_SCRIPTS = Path(__file__).parent / "migrations"

#: Statements that take and release a lock, by dialect. In MySQL and MariaDB, all databases of a server share the names
#: of locks. MariaDB cannot wait for one without a limit, so the wait is limited to a day.
_LOCKS = {
    "mysql": (
        text("SELECT GET_LOCK(CONCAT('lease-scheduler.', MD5(DATABASE())), 86400)"),
        text("SELECT RELEASE_LOCK(CONCAT('lease-scheduler.', MD5(DATABASE())))"),
    ),
    "postgresql": (
        text("SELECT pg_advisory_lock(hashtext('lease-scheduler'))"),
        text("SELECT pg_advisory_unlock(hashtext('lease-scheduler'))"),
    ),
}


def _config(connection: Connection | None = None) -> Config:
    config = Config()
    config.set_main_option("script_location", str(_SCRIPTS))
    config.attributes["connection"] = connection
    return config


def upgrade(engine: Engine, revision: str = "head") -> None:
    """Create the tables or migrate them to a revision; do nothing if they have it already.

    Programs that do so at the same time wait for each other, but not on SQLite.

    :raises InvalidValueError: the tables have a revision that this version of the program does not know
    """
    with _exclusive_lock(engine), engine.connect() as connection:
        _check(MigrationContext.configure(connection).get_current_revision())
        command.upgrade(_config(connection), revision)
        connection.commit()


def _check(revision: str | None) -> None:
    known = {each.revision for each in ScriptDirectory.from_config(_config()).walk_revisions()}
    if revision is not None and revision not in known:
        raise InvalidValueError(
            "[database] connection",
            f"its tables have revision {revision}, and this version knows {min(known)} to {newest()}; use the version "
            "that made them, or one between both",
        )


@contextmanager
def _exclusive_lock(engine: Engine) -> Iterator[None]:
    """Hold a lock of the database server within the block. The server releases it if the connection ends."""
    statements = _LOCKS.get(engine.dialect.name)
    if statements is None:
        yield
        return
    lock, unlock = statements
    with engine.connect() as connection:
        connection.execute(lock)
        try:
            yield
        finally:
            connection.execute(unlock)


def current(engine: Engine) -> str | None:
    """Return the revision of the tables, or None if there are no tables."""
    with engine.connect() as connection:
        return MigrationContext.configure(connection).get_current_revision()


def newest() -> str:
    """Return the revision that this version of the program needs."""
    head = ScriptDirectory.from_config(_config()).get_current_head()
    assert head is not None
    return head


def differences(engine: Engine) -> list[str]:
    """Return the differences between the tables and the schema; an empty list if there are none."""
    with engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": False})
        return [str(difference) for difference in compare_metadata(context, METADATA)]
