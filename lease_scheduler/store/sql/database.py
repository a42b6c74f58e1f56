"""Connections to the database."""

from __future__ import annotations

from typing import Any

from oslo_db.sqlalchemy import enginefacade
from sqlalchemy import Engine, QueuePool, event, make_url

from lease_scheduler.records.json_text import from_json

#: Options of oslo.db for the pool of connections -> their names in SQLAlchemy's pool.
_POOL = {"max_pool_size": "pool_size", "max_overflow": "max_overflow", "pool_timeout": "timeout"}


def open_database(url: str, **options: Any) -> Engine:
    """Return SQLAlchemy's engine for SQLite, MariaDB or PostgreSQL; oslo.db handles errors and lost connections.

    :param url: SQLAlchemy URL of the database
    :param options: further options of oslo.db's ``[database]`` group
    """
    address = make_url(url)
    is_file = address.get_backend_name() == "sqlite" and address.database not in (None, "", ":memory:")
    kept = {given: options.pop(name, None) for name, given in _POOL.items()} if is_file else {}
    context = enginefacade.transaction_context()
    # oslo.db would yield to greenlets whenever a connection is returned, and this service has threads.
    context.configure(connection=url, sqlite_fk=True, thread_checkin=False, **options)
    engine: Engine = context.writer.get_engine()
    # oslo.db has an option for this, but passes it on for PostgreSQL only.
    engine.dialect._json_deserializer = from_json
    if is_file:
        event.listen(engine, "connect", _write_ahead)
        # oslo.db opens a connection for each transaction, which takes longer than most transactions.
        engine.pool = QueuePool(
            engine.pool._creator,
            dialect=engine.dialect,
            _dispatch=engine.pool.dispatch,
            **{name: value for name, value in kept.items() if value is not None},
        )
    return engine


def kept_connections(size: int | None, overflow: int | None, threads: int) -> tuple[int | None, int | None]:
    """Return how many connections stay open, and how many more may be opened; their sum is the configured maximum.

    A connection that does not stay open is opened anew for the next request, which takes longer than the request
    itself. So as many stay open as there are threads.

    :param size: ``[database] max_pool_size``; None for the default of oslo.db, 0 for no limit
    :param overflow: ``[database] max_overflow``; None for the default of oslo.db, below 0 for no limit
    :param threads: number of threads that use connections again and again
    """
    if not size or overflow is None or size >= threads:
        return size, overflow
    if overflow < 0:
        return threads, overflow
    kept = min(threads, size + overflow)
    return kept, size + overflow - kept


def _write_ahead(connection: Any, _: Any) -> None:
    """Let readers of an SQLite file proceed during a write, and let writers wait for each other for up to 30 s."""
    cursor = connection.cursor()
    cursor.execute("PRAGMA journal_mode = WAL")
    cursor.execute("PRAGMA busy_timeout = 30000")
    cursor.close()
