"""Subscriptions and their deliveries in the database."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from sqlalchemy import ColumnElement, Connection, Engine, delete, exists, func, insert, or_, select, update

from lease_scheduler.model.documents import Document
from lease_scheduler.records.messages import Message
from lease_scheduler.records.subscriptions import Delivery, DueSubscription, SubscriptionRecord
from lease_scheduler.records.writes import StoreChanges
from lease_scheduler.store.sql.chunks import chunks
from lease_scheduler.store.sql.rows import Row, Values
from lease_scheduler.store.sql.schema import DELIVERIES, SUBSCRIPTIONS

_COLUMNS = (
    "project_id",
    "user_id",
    "driver",
    "target",
    "lease_id",
    "secret",
    "created_at",
    "updated_at",
    "ended_at",
)

#: Values about deliveries of a subscription to which nothing was sent yet.
_FRESH: Values = {"failures": 0, "next_attempt_at": None, "last_error": None}

_HAS_DELIVERY = exists().where(DELIVERIES.c.subscription_id == SUBSCRIPTIONS.c.id)


def read(connection: Connection) -> tuple[SubscriptionRecord, ...]:
    """Return all subscriptions whose lease has not ended."""
    query = select(SUBSCRIPTIONS).where(SUBSCRIPTIONS.c.ended_at.is_(None))
    query = query.order_by(SUBSCRIPTIONS.c.created_at, SUBSCRIPTIONS.c.id)
    return tuple(_record(row) for row in connection.execute(query).mappings())


def write(connection: Connection, changes: StoreChanges) -> None:
    """Write the changed subscriptions, and the deliveries to them."""
    for subscription_id, record in changes.subscriptions.items():
        known = SUBSCRIPTIONS.c.id == subscription_id
        if record is None:
            connection.execute(delete(SUBSCRIPTIONS).where(known))
            continue
        # A new target deserves an attempt at once.
        values = _values(record) | (_FRESH if record.ended_at is None else {})
        if connection.execute(update(SUBSCRIPTIONS).where(known).values(values)).rowcount == 0:
            connection.execute(insert(SUBSCRIPTIONS).values({**_FRESH, **values}))
    if changes.deliveries:
        rows = [
            {
                "delivery_id": each.delivery_id,
                "subscription_id": each.subscription_id,
                "event_type": each.message.event_type,
                "payload": dict(each.message.payload),
                "created_at": each.created_at,
            }
            for each in changes.deliveries
        ]
        connection.execute(insert(DELIVERIES), rows)
    ended = [key for key, record in changes.subscriptions.items() if record is not None and record.ended_at is not None]
    for chunk in chunks(ended):
        _remove_ended(connection, SUBSCRIPTIONS.c.id.in_(chunk))


def views(connection: Connection, condition: ColumnElement[bool] | None = None) -> list[Document]:
    """Return subscriptions with all columns but the secret, and the number of deliveries that wait (``waiting``).

    :param condition: which of them; None for all
    """
    waiting = (
        select(func.count())
        .where(DELIVERIES.c.subscription_id == SUBSCRIPTIONS.c.id)
        .scalar_subquery()
        .label("waiting")
    )
    shown = [column for column in SUBSCRIPTIONS.columns if column.name != "secret"]
    query = select(*shown, waiting).order_by(SUBSCRIPTIONS.c.created_at, SUBSCRIPTIONS.c.id)
    if condition is not None:
        query = query.where(condition)
    return [dict(row) for row in connection.execute(query).mappings()]


class SqlDeliveries:
    """The deliveries that wait, for the threads that send them. Instants are real seconds since the epoch.

    :param database: from ``open_database``
    """

    def __init__(self, database: Engine) -> None:
        self._database = database

    def due(self, drivers: Collection[str], now: int) -> list[DueSubscription]:
        """Return the subscriptions of some drivers with a delivery that is due, longest wait first."""
        columns = (SUBSCRIPTIONS.c.id, SUBSCRIPTIONS.c.project_id, SUBSCRIPTIONS.c.failures)
        first = (
            select(func.min(DELIVERIES.c.id))
            .where(DELIVERIES.c.subscription_id == SUBSCRIPTIONS.c.id)
            .scalar_subquery()
        )
        is_due = or_(SUBSCRIPTIONS.c.next_attempt_at.is_(None), SUBSCRIPTIONS.c.next_attempt_at <= now)
        query = select(*columns).where(_HAS_DELIVERY, SUBSCRIPTIONS.c.driver.in_(list(drivers)), is_due).order_by(first)
        with self._database.connect() as connection:
            return [DueSubscription(row.id, row.project_id, row.failures) for row in connection.execute(query)]

    def first(self, subscription_id: str) -> tuple[SubscriptionRecord, Delivery, int] | None:
        """Return a subscription, its oldest delivery and its failures, or None if nothing waits for it."""
        of_it = DELIVERIES.c.subscription_id == subscription_id
        with self._database.connect() as connection:
            query = select(DELIVERIES).where(of_it).order_by(DELIVERIES.c.id).limit(1)
            waiting = connection.execute(query).mappings().one_or_none()
            query = select(SUBSCRIPTIONS).where(SUBSCRIPTIONS.c.id == subscription_id)
            found = connection.execute(query).mappings().one_or_none()
        if waiting is None or found is None:
            return None
        message = Message(waiting["event_type"], waiting["payload"])
        delivery = Delivery(waiting["delivery_id"], subscription_id, message, waiting["created_at"])
        return _record(found), delivery, found["failures"]

    def delivered(self, delivery: Delivery, now: int) -> None:
        """Delete a delivery, and note that its subscription works."""
        self._finish(delivery, {**_FRESH, "delivered_at": now})

    def failed(self, delivery: Delivery, failures: int, next_attempt: int, error: str) -> None:
        """Note a failed attempt at a delivery, and when the next one is due."""
        values = {"failures": failures, "next_attempt_at": next_attempt, "last_error": error}
        with self._database.begin() as connection:
            self._update(connection, delivery, values)

    def give_up(self, delivery: Delivery, error: str) -> None:
        """Delete a delivery that was not confirmed."""
        self._finish(delivery, {"last_error": error})

    def _finish(self, delivery: Delivery, values: Values) -> None:
        known = SUBSCRIPTIONS.c.id == delivery.subscription_id
        with self._database.begin() as connection:
            # The engine locks a subscription before its deliveries; in another order, both could wait for each other.
            self._update(connection, delivery, values)
            connection.execute(delete(DELIVERIES).where(DELIVERIES.c.delivery_id == delivery.delivery_id))
            if connection.execute(select(SUBSCRIPTIONS.c.ended_at).where(known)).scalar() is not None:
                _remove_ended(connection, known)

    def _update(self, connection: Connection, delivery: Delivery, values: Values) -> None:
        known = SUBSCRIPTIONS.c.id == delivery.subscription_id
        connection.execute(update(SUBSCRIPTIONS).where(known).values(values))


def _remove_ended(connection: Connection, condition: ColumnElement[bool]) -> None:
    """Delete subscriptions whose lease has ended and that have no deliveries left.

    :param condition: which subscriptions to consider
    """
    over = SUBSCRIPTIONS.c.ended_at.is_not(None) & ~_HAS_DELIVERY
    connection.execute(delete(SUBSCRIPTIONS).where(condition, over))


def _values(record: SubscriptionRecord) -> Values:
    columns: dict[str, Any] = {name: getattr(record, name) for name in _COLUMNS}
    return {"id": record.subscription_id, "event_types": list(record.event_types), **columns}


def _record(row: Row) -> SubscriptionRecord:
    columns: dict[str, Any] = {name: row[name] for name in _COLUMNS}
    return SubscriptionRecord(subscription_id=row["id"], event_types=tuple(row["event_types"]), **columns)
