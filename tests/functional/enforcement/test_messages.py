from __future__ import annotations

from sqlalchemy import Engine

from lease_scheduler.records.messages import Message
from lease_scheduler.records.writes import StoreChanges
from lease_scheduler.store.sql.store import SqlStore


def test_messages_for_filters_and_notifications_do_not_get_into_each_other_s_way(database: Engine) -> None:
    store = SqlStore(database)
    store.take_over("engine", 1)
    store.load()
    changes = StoreChanges(1)
    names = ["lease.create", "enforcement.ended", "enforcement_of.something", "enforcement.asked", "lease.update"]
    changes.messages = [Message(name, {"lease_id": name}) for name in names]
    store.commit(changes)
    assert [message.event_type for _, message in store.waiting_messages()] == [names[0], names[2], names[4]]
    ours = store.waiting_messages(for_filters=True)
    assert [message.event_type for _, message in ours] == [names[1], names[3]]
    assert store.waiting_messages(for_filters=True, after=ours[0][0]) == ours[1:]
    assert store.waiting_messages(1, for_filters=True) == ours[:1]
    store.forget_messages([ours[0][0]])
    assert store.waiting_messages(for_filters=True) == ours[1:]
    assert not store.has_lease("a")
