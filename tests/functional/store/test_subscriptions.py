"""Deliveries in the database: which are due, and what becomes of them and of their subscriptions."""

from __future__ import annotations

import pytest
from sqlalchemy import Engine

from lease_scheduler.records.messages import Message
from lease_scheduler.records.subscriptions import Delivery, DueSubscription, SubscriptionRecord
from lease_scheduler.records.writes import StoreChanges
from lease_scheduler.store.sql.reader import SqlReader
from lease_scheduler.store.sql.store import SqlStore
from lease_scheduler.store.sql.subscriptions import SqlDeliveries

_RED = SubscriptionRecord("red", "red project", "user", "webhook", "https://a/", 1, secret="secret")
_BLUE = SubscriptionRecord("blue", "blue project", "user", "mail", "user@a", 1, lease_id="lease")


@pytest.fixture
def store(database: Engine) -> SqlStore:
    """Two subscriptions; something waits for the blue one first, then twice for the red one."""
    made = SqlStore(database)
    made.take_over("engine", 1)
    changes = StoreChanges(2, subscriptions={"red": _RED, "blue": _BLUE})
    pairs = (("a", "blue"), ("b", "red"), ("c", "red"))
    changes.deliveries = [Delivery(name, key, Message("lease.update", {"n": name}), 5) for name, key in pairs]
    made.commit(changes)
    return made


def _first(deliveries: SqlDeliveries, subscription_id: str) -> Delivery:
    found = deliveries.first(subscription_id)
    assert found is not None
    return found[1]


def test_what_is_due_in_the_order_of_waiting(store: SqlStore, database: Engine) -> None:
    deliveries = SqlDeliveries(database)
    red, blue = DueSubscription("red", "red project", 0), DueSubscription("blue", "blue project", 0)
    assert deliveries.due(["webhook", "mail"], 10) == [blue, red]
    assert deliveries.due(["webhook"], 10) == [red]
    assert deliveries.first("red") == (_RED, Delivery("b", "red", Message("lease.update", {"n": "b"}), 5), 0)
    assert deliveries.first("none") is None


def test_a_failure_puts_off_the_whole_subscription(store: SqlStore, database: Engine) -> None:
    deliveries = SqlDeliveries(database)
    deliveries.failed(_first(deliveries, "red"), 3, 20, "closed")
    assert [each.subscription_id for each in deliveries.due(["webhook", "mail"], 19)] == ["blue"]
    assert deliveries.due(["webhook"], 20) == [DueSubscription("red", "red project", 3)]
    (shown,) = SqlReader(database).subscriptions("red project")
    assert (shown["waiting"], shown["failures"], shown["next_attempt_at"], shown["last_error"]) == (2, 3, 20, "closed")
    deliveries.delivered(_first(deliveries, "red"), 21)
    (shown,) = SqlReader(database).subscriptions("red project")
    assert (shown["waiting"], shown["failures"], shown["next_attempt_at"], shown["last_error"]) == (1, 0, None, None)
    assert shown["delivered_at"] == 21
    assert _first(deliveries, "red").delivery_id == "c"


def test_what_is_given_up_leaves_the_failures_as_they_are(store: SqlStore, database: Engine) -> None:
    deliveries = SqlDeliveries(database)
    deliveries.failed(_first(deliveries, "red"), 3, 20, "closed")
    deliveries.give_up(_first(deliveries, "red"), "given up")
    (shown,) = SqlReader(database).subscriptions("red project")
    assert (shown["waiting"], shown["failures"], shown["last_error"]) == (1, 3, "given up")


def test_a_change_starts_afresh(store: SqlStore, database: Engine) -> None:
    deliveries = SqlDeliveries(database)
    deliveries.failed(_first(deliveries, "red"), 3, 20, "closed")
    store.commit(StoreChanges(7, subscriptions={"red": _RED}))
    assert deliveries.due(["webhook"], 10) == [DueSubscription("red", "red project", 0)]


def test_a_subscription_whose_lease_has_ended_goes_with_its_last_delivery(store: SqlStore, database: Engine) -> None:
    deliveries, reader = SqlDeliveries(database), SqlReader(database)
    ended = SubscriptionRecord("blue", "blue project", "user", "mail", "user@a", 1, lease_id="lease", ended_at=8)
    last = Delivery("d", "blue", Message("lease.delete", {}), 8)
    store.commit(StoreChanges(8, subscriptions={"blue": ended}, deliveries=[last]))
    assert store.load().subscriptions == (_RED,)
    deliveries.delivered(_first(deliveries, "blue"), 9)
    assert reader.subscription("blue") is not None
    deliveries.give_up(_first(deliveries, "blue"), "given up")
    assert reader.subscription("blue") is None
    silent = SubscriptionRecord("silent", "blue project", "user", "mail", "user@a", 1, lease_id="lease", ended_at=8)
    store.commit(StoreChanges(9, subscriptions={"silent": silent}))
    assert reader.subscription("silent") is None
