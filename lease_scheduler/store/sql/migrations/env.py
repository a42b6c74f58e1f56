"""Alembic's environment script: migrates the database to which ``migrate.upgrade`` has connected."""

from __future__ import annotations

from alembic import context

from lease_scheduler.store.sql.schema import METADATA

connection = context.config.attributes["connection"]
context.configure(connection=connection, target_metadata=METADATA, render_as_batch=True, transaction_per_migration=True)
with context.begin_transaction():
    context.run_migrations()
