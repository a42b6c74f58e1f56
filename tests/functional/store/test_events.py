"""What happened to leases, as one sequence."""

from __future__ import annotations

from dataclasses import replace

import pytest
from sqlalchemy import Engine

from lease_scheduler.model.lease import Lease
from lease_scheduler.model.states import LeaseState
from lease_scheduler.records.history import Event, Transition
from lease_scheduler.records.writes import StoreChanges
from lease_scheduler.store.sql import purge
from lease_scheduler.store.sql.reader import SqlReader
from lease_scheduler.store.sql.store import SqlStore
from tests.functional.store import values


@pytest.fixture
def store(database: Engine) -> SqlStore:
    store = SqlStore(database)
    store.take_over("engine", 1)
    store.load()
    values.hosts(store)
    return store


def _lease(store: SqlStore, sequence: int, project_id: str) -> Lease:
    """Write a lease with one transition."""
    lease = values.lease(sequence)
    changes = StoreChanges(20)
    changes.leases = {lease.lease_id: lease}
    changes.documents = {lease.lease_id: values.document(lease, project_id=project_id)}
    changes.transitions = [Transition(lease.lease_id, 20, "new", "ready", "planned")]
    store.commit(changes)
    return lease


def _happened(store: SqlStore, lease: Lease, reason: str) -> None:
    changes = StoreChanges(30)
    changes.transitions = [Transition(lease.lease_id, 30, "ready", "ready", reason)]
    store.commit(changes)


def test_pages_hold_every_event_once_in_order(database: Engine, store: SqlStore) -> None:
    reader = SqlReader(database)
    leases = [_lease(store, number, "red") for number in range(3)]
    for number in range(7):
        _happened(store, leases[number % 3], str(number))
    found: list[Event] = []
    since = 0
    while True:
        page = reader.events(since, 3)
        assert len(page.events) <= 3
        found += page.events
        since = page.next
        if not page.more:
            break
    assert [event.transition.reason for event in found] == ["planned"] * 3 + [str(number) for number in range(7)]
    assert [event.sequence for event in found] == sorted({event.sequence for event in found})
    assert since == found[-1].sequence
    assert reader.events(since, 3).events == ()
    _happened(store, leases[0], "one more")
    assert [event.transition.reason for event in reader.events(since, 3).events] == ["one more"]


def test_a_project_sees_its_own_and_goes_on_after_those_of_others(database: Engine, store: SqlStore) -> None:
    reader = SqlReader(database)
    red, blue = _lease(store, 0, "red"), _lease(store, 1, "blue")
    page = reader.events(0, 10, "red")
    assert [(event.project_id, event.transition.lease_id) for event in page.events] == [("red", red.lease_id)]
    # Those of the other project need not be read again.
    assert page.next > page.events[-1].sequence
    _happened(store, blue, "not for red")
    _happened(store, red, "for red")
    assert [event.transition.reason for event in reader.events(page.next, 10, "red").events] == ["for red"]


def test_without_events_the_page_says_where_to_begin(database: Engine, store: SqlStore) -> None:
    reader = SqlReader(database)
    assert reader.events(0, 0).next == 0
    lease = _lease(store, 0, "red")
    page = reader.events(0, 0)
    assert (page.events, page.more) == ((), False)
    _happened(store, lease, "later")
    assert [event.transition.reason for event in reader.events(page.next, 10).events] == ["later"]


def test_numbers_of_deleted_events_are_not_used_again(database: Engine, store: SqlStore) -> None:
    reader = SqlReader(database)
    lease = _lease(store, 0, "red")
    changes = StoreChanges(40)
    changes.leases = {lease.lease_id: replace(lease, state=LeaseState.DONE, ended=40, holdings=(), saved_on=None)}
    changes.documents = {lease.lease_id: values.document(lease, project_id="red")}
    store.commit(changes)
    known = reader.events(0, 0).next
    assert purge.purge(database, 41) == 1
    _lease(store, 1, "red")
    (event,) = reader.events(known, 10).events
    assert event.sequence > known
