"""Bringing the tables up to date (Alembic)."""

from __future__ import annotations

from pathlib import Path

from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, Engine

from lease_scheduler.store.sql.schema import METADATA

_SCRIPTS = Path(__file__).parent / "migrations"


def _config(connection: Connection | None = None) -> Config:
    config = Config()
    config.set_main_option("script_location", str(_SCRIPTS))
    config.attributes["connection"] = connection
    return config


def upgrade(engine: Engine, revision: str = "head") -> None:
    """Create the tables, or bring them to a revision; without effect if they are there already."""
    with engine.connect() as connection:
        command.upgrade(_config(connection), revision)
        connection.commit()


def current(engine: Engine) -> str | None:
    """The revision of the tables, none if there are none."""
    with engine.connect() as connection:
        return MigrationContext.configure(connection).get_current_revision()


def newest() -> str:
    """The revision that this version of the program needs."""
    head = ScriptDirectory.from_config(_config()).get_current_head()
    assert head is not None
    return head


def differences(engine: Engine) -> list[str]:
    """Where the tables differ from what the program expects; none if they are as they should be."""
    with engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": False})
        return [str(difference) for difference in compare_metadata(context, METADATA)]
