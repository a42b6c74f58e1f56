"""SQL statements with the rights of a database administrator."""

from __future__ import annotations

import sqlalchemy
from sqlalchemy.pool import NullPool


def execute(url: str, statement: str) -> None:
    """Run one statement outside any transaction."""
    engine = sqlalchemy.create_engine(url, poolclass=NullPool, isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.execute(sqlalchemy.text(statement))


def answers(url: str, question: sqlalchemy.TextClause) -> bool:
    """Return whether the server accepts a connection and answers a query."""
    # Another program that has taken the port might never answer.
    limits = {"connect_timeout": 5} | ({"read_timeout": 5} if url.startswith("mysql") else {})
    engine = sqlalchemy.create_engine(url, poolclass=NullPool, connect_args=limits)
    try:
        with engine.connect() as connection:
            connection.execute(question)
    except sqlalchemy.exc.OperationalError:
        return False
    return True
