"""Secret addresses of projects in the database."""

from __future__ import annotations

from sqlalchemy import ColumnElement, Connection, delete, insert, select

from lease_scheduler.model.documents import Document
from lease_scheduler.records.feeds import FeedRecord
from lease_scheduler.records.writes import StoreChanges
from lease_scheduler.store.sql.schema import FEEDS

_ORDER = (FEEDS.c.created_at, FEEDS.c.id)


def read(connection: Connection) -> tuple[FeedRecord, ...]:
    """Return all addresses."""
    rows = connection.execute(select(FEEDS).order_by(*_ORDER)).mappings()
    return tuple(
        FeedRecord(
            feed_id=row["id"],
            project_id=row["project_id"],
            user_id=row["user_id"],
            name=row["name"],
            digest=row["digest"],
            created_at=row["created_at"],
        )
        for row in rows
    )


def write(connection: Connection, changes: StoreChanges) -> None:
    """Write the new addresses, and delete those that are withdrawn."""
    for feed_id, record in changes.feeds.items():
        connection.execute(delete(FEEDS).where(FEEDS.c.id == feed_id))
        if record is not None:
            values = {
                "id": feed_id,
                "project_id": record.project_id,
                "user_id": record.user_id,
                "name": record.name,
                "digest": record.digest,
                "created_at": record.created_at,
            }
            connection.execute(insert(FEEDS).values(values))


def views(connection: Connection, condition: ColumnElement[bool] | None = None) -> list[Document]:
    """Return addresses with all columns but the digest, oldest first.

    :param condition: which of them; None for all
    """
    shown = [column for column in FEEDS.columns if column.name != "digest"]
    query = select(*shown).order_by(*_ORDER)
    if condition is not None:
        query = query.where(condition)
    return [dict(row) for row in connection.execute(query).mappings()]


def owner(connection: Connection, digest: str) -> tuple[str, str] | None:
    """Return the project of the address with this digest, and the digest as it is stored, or None."""
    row = connection.execute(select(FEEDS.c.project_id, FEEDS.c.digest).where(FEEDS.c.digest == digest)).one_or_none()
    return None if row is None else (row.project_id, row.digest)
