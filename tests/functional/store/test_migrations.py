from __future__ import annotations

import subprocess
import sys

import pytest
from sqlalchemy import JSON, Column, MetaData, String, Table, insert, inspect, select

from lease_scheduler.records.documents import LeaseDocument
from lease_scheduler.records.extensions import Extensions
from lease_scheduler.records.feeds import FeedRecord, digest_of
from lease_scheduler.records.messages import Message
from lease_scheduler.records.subscriptions import Delivery, SubscriptionRecord
from lease_scheduler.records.writes import StoreChanges
from lease_scheduler.store.sql import migrate
from lease_scheduler.store.sql.database import open_database
from lease_scheduler.store.sql.reader import SqlReader
from lease_scheduler.store.sql.schema import DELIVERIES, FLOATING_IPS, HOSTS, LEASES, METADATA
from lease_scheduler.store.sql.store import SqlStore

_UPGRADE = """
import sys
from lease_scheduler.store.sql import migrate
from lease_scheduler.store.sql.database import open_database
migrate.upgrade(open_database(sys.argv[1]))
"""


def test_tables_are_made_from_nothing_and_match_the_schema(database_url: str) -> None:
    engine = open_database(database_url)
    assert migrate.current(engine) is None
    migrate.upgrade(engine)
    assert migrate.current(engine) == migrate.newest()
    assert migrate.differences(engine) == []
    assert set(METADATA.tables) <= set(inspect(engine).get_table_names())
    engine.dispose()


def test_a_second_upgrade_changes_nothing(database_url: str) -> None:
    engine = open_database(database_url)
    migrate.upgrade(engine)
    migrate.upgrade(engine)
    assert migrate.differences(engine) == []
    engine.dispose()


def test_programs_that_make_the_tables_at_the_same_time_wait_for_each_other(database_url: str) -> None:
    if database_url.startswith("sqlite"):
        pytest.skip("SQLite has no such lock")
    words = [sys.executable, "-c", _UPGRADE, database_url]
    programs = [subprocess.Popen(words, stderr=subprocess.PIPE, text=True) for _ in range(3)]
    said = [program.communicate(timeout=300)[1] for program in programs]
    assert [program.returncode for program in programs] == [0, 0, 0], said
    engine = open_database(database_url)
    assert migrate.differences(engine) == []
    engine.dispose()


def test_leases_from_before_there_were_prices_have_none(database_url: str) -> None:
    """From revision 0002, with a row whose other columns do not matter here."""
    engine = open_database(database_url)
    migrate.upgrade(engine, "0002")
    known = {column["name"] for column in inspect(engine).get_columns("leases")}
    assert not {"max_price", "offered_until"} & known
    needed = [column for column in LEASES.columns if column.name in known and not column.nullable]
    row = {
        column.name: {} if isinstance(column.type, JSON) else _ANYTHING[column.type.python_type] for column in needed
    }
    with engine.begin() as connection:
        connection.execute(insert(LEASES).values(row))
    migrate.upgrade(engine)
    assert migrate.differences(engine) == []
    with engine.connect() as connection:
        found = connection.execute(select(LEASES.c.price, LEASES.c.max_price, LEASES.c.offered_until)).one()
    assert tuple(found) == (None, None, None)
    engine.dispose()


def test_leases_from_before_there_were_negotiations_have_kept_terms(database_url: str) -> None:
    """From revision 0003: such a lease is read as one without compensation or missing nodes."""
    engine = open_database(database_url)
    migrate.upgrade(engine, "0003")
    known = {column["name"] for column in inspect(engine).get_columns("leases")}
    assert not {"negotiation_id", "retained", "missing_since", "missing_nodes", "penalties"} & known
    needed = [column for column in LEASES.columns if column.name in known and not column.nullable]
    row = {
        column.name: {} if isinstance(column.type, JSON) else _ANYTHING[column.type.python_type] for column in needed
    } | {"kind": "best-effort", "state": "queued", "preemption_mode": "none", "nodes": [_NODES], "servers": []}
    with engine.begin() as connection:
        connection.execute(insert(LEASES).values(row))
    migrate.upgrade(engine)
    store = SqlStore(engine)
    store.take_over("engine", 1)
    (lease,) = store.load().leases
    assert (lease.negotiation, lease.missing_since, lease.missing_nodes, lease.penalties) == (None, None, 0, 0.0)
    assert lease.request.retained == 0.0
    engine.dispose()


def test_capacity_from_before_it_was_noted_is_that_of_what_is_there(database_url: str) -> None:
    """From revision 0005: since it was added to the pool."""
    engine = open_database(database_url)
    migrate.upgrade(engine, "0005")
    needed = {
        column.name: {} if isinstance(column.type, JSON) else _ANYTHING[column.type.python_type]
        for column in HOSTS.columns
        if not column.nullable
    }
    rows = [
        {**needed, "id": number, "name": f"{number}", "reservable": number != 3, "created_at": since, "capacity": has}
        for number, since, has in ((1, 10, {"VCPU": 4, "MEMORY_MB": 9}), (2, 10, {"VCPU": 3}), (3, 10, {"VCPU": 2}))
    ]
    address = {"floating_network_id": "a", "reservable": True, "created_at": 15}
    with engine.begin() as connection:
        connection.execute(insert(HOSTS), rows)
        connection.execute(insert(FLOATING_IPS).values(id="1", floating_ip_address="192.0.2.1", **address))
    migrate.upgrade(engine)
    assert migrate.differences(engine) == []
    (found,) = SqlReader(engine).capacity(0, 20)
    assert found["resource_seconds"] == {"VCPU": 70, "MEMORY_MB": 90, "FLOATING_IP": 5}
    engine.dispose()


def test_what_pricing_has_learnt_becomes_the_state_of_a_policy(database_url: str) -> None:
    """From revision 0007: values keep their types, and the old table is dropped."""
    engine = open_database(database_url)
    migrate.upgrade(engine, "0007")
    bracket = {"accepted": 1 / 7, "refused": None, "settled": True}
    columns = (Column("policy", String), Column("subject", String), Column("learnt", JSON))
    pricing = Table("pricing", MetaData(), *columns)
    rows = [
        {"policy": "adaptive", "subject": "", "learnt": bracket},
        {"policy": "adaptive", "subject": "project", "learnt": bracket},
        {"policy": "random", "subject": "quotes", "learnt": {"drawn": 3}},
    ]
    with engine.begin() as connection:
        connection.execute(insert(pricing), rows)
    migrate.upgrade(engine)
    assert migrate.differences(engine) == []
    assert "pricing" not in inspect(engine).get_table_names()
    store = SqlStore(engine)
    store.take_over("engine", 1)
    assert store.load().policy_state == {
        ("", "pricing", "adaptive"): {"": bracket, "project": bracket},
        ("", "pricing", "random"): {"quotes": {"drawn": 3}},
    }
    engine.dispose()


def test_subscriptions_come_with_their_tables(database_url: str) -> None:
    """From revision 0010: nobody has subscribed before, and a subscription ends with its deliveries."""
    engine = open_database(database_url)
    migrate.upgrade(engine, "0010")
    assert not {"subscriptions", "deliveries"} & set(inspect(engine).get_table_names())
    migrate.upgrade(engine)
    assert migrate.differences(engine) == []
    store = SqlStore(engine)
    store.take_over("engine", 1)
    assert store.load().subscriptions == ()
    changes = StoreChanges(2)
    changes.subscriptions["one"] = SubscriptionRecord("one", "project", "user", "webhook", "https://a/", 2)
    changes.deliveries = [Delivery("first", "one", Message("lease.create", {"lease_id": "a"}), 3)]
    store.commit(changes)
    (shown,) = SqlReader(engine).subscriptions("project")
    assert (shown["waiting"], shown["failures"], shown["next_attempt_at"]) == (1, 0, None)
    assert "secret" not in shown
    store.commit(StoreChanges(4, subscriptions={"one": None}))
    with engine.connect() as connection:
        assert connection.execute(select(DELIVERIES)).all() == []
    engine.dispose()


def _one_lease_of(database_url: str, revision: str, added: str) -> LeaseDocument:
    """Return the document of a lease that was written at a revision, which lacks a column, and then upgraded."""
    engine = open_database(database_url)
    migrate.upgrade(engine, revision)
    known = {column["name"] for column in inspect(engine).get_columns("leases")}
    assert added not in known
    needed = [column for column in LEASES.columns if column.name in known and not column.nullable]
    row = {
        column.name: {} if isinstance(column.type, JSON) else _ANYTHING[column.type.python_type] for column in needed
    } | {"kind": "best-effort", "state": "queued", "preemption_mode": "none", "nodes": [_NODES], "servers": []}
    with engine.begin() as connection:
        connection.execute(insert(LEASES).values(row))
    migrate.upgrade(engine)
    assert migrate.differences(engine) == []
    store = SqlStore(engine)
    store.take_over("engine", 1)
    (document,) = store.load().documents.values()
    engine.dispose()
    return document


def test_no_start_was_told_of_before_there_were_reminders(database_url: str) -> None:
    """From revision 0011."""
    assert _one_lease_of(database_url, "0011", "reminded_start").reminded_start is None


def test_no_extension_was_counted_before(database_url: str) -> None:
    """From revision 0012."""
    assert _one_lease_of(database_url, "0012", "extension_count").extensions == Extensions()


def test_no_lease_was_idle_before_it_was_measured(database_url: str) -> None:
    """From revision 0013; the table goes with its leases."""
    engine = open_database(database_url)
    migrate.upgrade(engine, "0013")
    assert "idleness" not in inspect(engine).get_table_names()
    migrate.upgrade(engine)
    assert migrate.differences(engine) == []
    store = SqlStore(engine)
    store.take_over("engine", 1)
    assert store.load().idleness == {}
    engine.dispose()


_NODES = {"count": 1, "resources": {"VCPU": 1}, "traits": [], "hosts": None, "per_host": None}


_ANYTHING: dict[type, object] = {int: 1, bool: False, str: "a"}


def test_feeds_come_with_their_table(database_url: str) -> None:
    """From revision 0012: no project has a feed before, and a withdrawn one is gone."""
    engine = open_database(database_url)
    migrate.upgrade(engine, "0012")
    assert "feeds" not in inspect(engine).get_table_names()
    migrate.upgrade(engine)
    assert migrate.differences(engine) == []
    store, reader = SqlStore(engine), SqlReader(engine)
    store.take_over("engine", 1)
    assert store.load().feeds == ()
    phone, wall = (FeedRecord(name, "red", "user", name, digest_of(name), 2) for name in ("phone", "wall"))
    store.commit(StoreChanges(2, feeds={"phone": phone, "wall": wall}))
    assert store.load().feeds == (phone, wall)
    assert reader.feed_owner(digest_of("phone")) == ("red", digest_of("phone"))
    assert [each["id"] for each in reader.feeds("red")] == ["phone", "wall"]
    assert reader.feeds("blue") == []
    assert "digest" not in (reader.feed("wall") or {})
    store.commit(StoreChanges(3, feeds={"phone": None}))
    assert (reader.feed("phone"), reader.feed_owner(digest_of("phone"))) == (None, None)
    assert store.load().feeds == (wall,)
    engine.dispose()


def test_what_was_before_there_were_pools_is_in_none(database_url: str) -> None:
    """From revision 0016: hosts and what policies have learnt stay, and belong to the first pool once there are any."""
    engine = open_database(database_url)
    migrate.upgrade(engine, "0016")
    old = {"policy_state": ("family", "policy", "subject", "state"), "operation_lateness": ("kind", "seconds")}
    state, lateness = (
        Table(name, MetaData(), *(Column(each, JSON if each in ("state", "seconds") else String) for each in columns))
        for name, columns in old.items()
    )
    host = {
        column.name: {} if isinstance(column.type, JSON) else _ANYTHING[column.type.python_type]
        for column in HOSTS.columns
        if not column.nullable
    }
    with engine.begin() as connection:
        connection.execute(insert(HOSTS).values(host))
        connection.execute(insert(state).values(family="pricing", policy="adaptive", subject="a", state={"drawn": 3}))
        connection.execute(insert(lateness).values(kind="start", seconds=[7]))
    migrate.upgrade(engine)
    assert migrate.differences(engine) == []
    store = SqlStore(engine)
    store.take_over("engine", 1)
    before = store.load()
    assert [each.pool for each in before.hosts] == [None]
    assert before.policy_state == {("", "pricing", "adaptive"): {"a": {"drawn": 3}}}
    assert before.lateness == {("", "start"): [7]}
    store.join_pool("general")
    after = store.load()
    assert [each.pool for each in after.hosts] == ["general"]
    assert after.policy_state == {("general", "pricing", "adaptive"): {"a": {"drawn": 3}}}
    assert after.lateness == {("general", "start"): [7]}
    engine.dispose()
