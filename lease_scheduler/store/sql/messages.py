"""Notifications that wait to be sent, and messages to lease filters."""

from __future__ import annotations

from collections.abc import Iterable

from sqlalchemy import Connection, Engine, bindparam, delete, func, insert, select

from lease_scheduler.records.messages import FOR_FILTERS, Message
from lease_scheduler.records.writes import StoreChanges
from lease_scheduler.store.sql.chunks import chunks
from lease_scheduler.store.sql.schema import OUTBOX

_FOR_FILTERS = OUTBOX.c.event_type.startswith(FOR_FILTERS, autoescape=True)
_INSERT = insert(OUTBOX)
_WAITING = select(OUTBOX).where(OUTBOX.c.id > bindparam("after")).order_by(OUTBOX.c.id).limit(bindparam("most"))
_WAITING_NOTIFICATIONS = _WAITING.where(~_FOR_FILTERS)
_WAITING_FOR_FILTERS = _WAITING.where(_FOR_FILTERS)
_DELETE = delete(OUTBOX).where(OUTBOX.c.id.in_(bindparam("ids", expanding=True)))


def write(connection: Connection, changes: StoreChanges) -> None:
    """Write the messages of a transaction."""
    values = [
        {"event_type": message.event_type, "payload": dict(message.payload), "created_at": changes.instant}
        for message in changes.messages
    ]
    if values:
        connection.execute(_INSERT, values)


class SqlMessages:
    """The messages in a database.

    :param database: from ``open_database``
    """

    def __init__(self, database: Engine) -> None:
        self._database = database

    def waiting_messages(
        self, limit: int = 500, *, for_filters: bool = False, after: int = 0
    ) -> list[tuple[int, Message]]:
        """Return messages that wait to be sent, oldest first, with their ids.

        :param limit: maximum number of messages to return
        :param for_filters: return messages to lease filters instead of notifications
        :param after: id of the message after which to begin
        """
        statement = _WAITING_FOR_FILTERS if for_filters else _WAITING_NOTIFICATIONS
        with self._database.connect() as connection:
            found = connection.execute(statement, {"after": after, "most": limit}).mappings()
            return [(row["id"], Message(row["event_type"], row["payload"])) for row in found]

    def count_messages(self) -> int:
        """Return the number of notifications that wait to be sent."""
        with self._database.connect() as connection:
            query = select(func.count()).select_from(OUTBOX).where(~_FOR_FILTERS)
            return int(connection.execute(query).scalar_one())

    def forget_messages(self, ids: Iterable[int]) -> None:
        """Delete messages that have been sent."""
        with self._database.begin() as connection:
            for chunk in chunks(list(ids)):
                connection.execute(_DELETE, {"ids": chunk})
