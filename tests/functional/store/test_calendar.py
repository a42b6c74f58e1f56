"""The calendar on a database of each kind, read by several processes."""

from __future__ import annotations

from dataclasses import replace

from sqlalchemy import Engine

from lease_scheduler.api.calendar.cache import CalendarCache
from lease_scheduler.records.writes import StoreChanges
from lease_scheduler.store.sql.reader import SqlReader
from lease_scheduler.store.sql.store import SqlStore
from tests.functional.store import values


def test_every_process_sees_a_change_at_once(database: Engine) -> None:
    """Two caches, as in two processes of the API; another engine takes over meanwhile."""
    store = SqlStore(database)
    store.take_over("engine", 10)
    values.hosts(store)
    lease = values.lease(0)
    document = values.document(lease)
    readers = [(SqlReader(database), CalendarCache()) for _ in range(2)]

    def put(**changes: object) -> None:
        nonlocal lease
        lease = replace(lease, **changes)  # type: ignore[arg-type]
        store.commit(StoreChanges(20, leases={lease.lease_id: lease}, documents={lease.lease_id: document}))

    def reasons() -> list[list[str]]:
        found = []
        for reader, cache in readers:
            listed = cache.everything(reader, reader.site_version(), 0, 1_000)
            found.append([part.names for part, _ in listed.leases])
        return found

    assert reasons() == [[], []]
    for number in range(3):
        put(reason=f"reason {number}")
        first, second = reasons()
        assert first == second
        assert [f"reason {number}" in names for names in first] == [True]
        if number == 1:
            store = SqlStore(database)
            store.take_over("another", 20)
            store.load()
