"""Accounts by time step, on every database, compared with sums over single records (haizea F82-F84)."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from random import Random

import pytest
from sqlalchemy import Engine

from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.states import LeaseState
from lease_scheduler.records.history import RevenueRecord, UsageRecord
from lease_scheduler.records.pool import HostRecord
from lease_scheduler.records.writes import StoreChanges
from lease_scheduler.store.sql import purge
from lease_scheduler.store.sql.reader import SqlReader
from lease_scheduler.store.sql.store import SqlStore

from . import values

DAY = 86_400
#: An instant that is not the beginning of a step.
BEGIN = 20_000 * DAY + 12_345
_MONEY = ("earned", "undercharged", "rejected", "rejected_by_user")


def _usage(random: Random, number: int) -> UsageRecord:
    start = BEGIN + random.randrange(40 * DAY)
    # Many are within a step, some span several, and some start or end exactly at a step.
    length = random.choice([1, random.randrange(1, 7_200), random.randrange(1, 9 * DAY), DAY - start % DAY, DAY])
    start -= random.choice([0, 0, start % 3_600])
    nodes = random.choice([1, 2, 5])
    resources = random.choice([{"VCPU": nodes}, {"VCPU": 2 * nodes, "MEMORY_MB": 512 * nodes}])
    project, kind = random.choice(["red", "blue"]), random.choice(["reservation", "best-effort"])
    phase = random.choice(["run", "run", "suspend"])
    return UsageRecord(str(number), project, kind, phase, start, start + length, nodes, resources, (1,) * nodes)


def _record(random: Random, number: int) -> RevenueRecord:
    outcome = random.choice(["earned", "rejected", "rejected_by_user"])
    price = random.choice([None, 0.25, 1.5]) if outcome != "earned" else random.choice([0.25, 1.5])
    project = random.choice(["red", "blue"])
    return RevenueRecord(
        str(number), project, BEGIN + random.randrange(40 * DAY), outcome, price, random.choice([None, 2.0])
    )


@pytest.fixture
def store(database: Engine) -> SqlStore:
    store = SqlStore(database)
    store.take_over("engine", 1)
    store.load()
    values.hosts(store)
    return store


@pytest.mark.parametrize(
    ("length", "step"), [(30 * DAY, DAY), (2 * DAY, 3_600), (30 * DAY, 100_000), (5, 1), (9, None)]
)
def test_steps_are_what_one_gets_record_by_record(
    database: Engine, store: SqlStore, length: int, step: int | None
) -> None:
    random = Random(length)
    changes = StoreChanges(1)
    changes.usage = [_usage(random, number) for number in range(400)]
    changes.revenue = [_record(random, number) for number in range(200)]
    store.commit(changes)
    start = BEGIN + 3 * DAY
    end = start + length
    width = step or 10 * end
    nodes, resources = Counter[tuple[str, str, str, int]](), Counter[tuple[str, int, str]]()
    for record in changes.usage:
        begin, finish = max(start, record.start), min(end, record.end)
        while begin < finish:
            until = min(finish, begin - begin % width + width)
            at = max(start, begin - begin % width)
            nodes[record.project_id, record.kind, record.phase, at] += record.nodes * (until - begin)
            for name, amount in record.resources.items():
                resources[record.project_id, at, name] += amount * (until - begin)
            begin = until
    reader = SqlReader(database)
    found = reader.usage(None, start, end, end, step)
    assert nodes
    assert {(row["project_id"], row["kind"], row["phase"], row["start"]): row["node_seconds"] for row in found} == nodes
    counted = Counter[tuple[str, int, str]]()
    for row in found:
        for name, amount in row["resource_seconds"].items():
            counted[row["project_id"], row["start"], name] += amount
    assert counted == resources
    of_red = reader.usage("red", start, end, end, step)
    assert sorted(map(str, of_red)) == sorted(str(row) for row in found if row["project_id"] == "red")
    whole = reader.usage(None, start, end, end)
    assert sum(row["node_seconds"] for row in whole) == sum(row["node_seconds"] for row in found)

    money = Counter[tuple[str, int, str]]()
    for entry in changes.revenue:
        if start <= entry.instant < end:
            key = (entry.project_id, max(start, entry.instant - entry.instant % width))
            worth = entry.max_price if entry.max_price is not None else entry.price or 0.0
            if entry.outcome == "earned":
                money[*key, "earned"] += entry.price or 0.0  # type: ignore[assignment]
                money[*key, "undercharged"] += max(0.0, worth - (entry.price or 0.0))  # type: ignore[assignment]
            else:
                money[*key, entry.outcome] += worth  # type: ignore[assignment]
    earned = {
        (row["project_id"], row["start"], name): row[name]
        for row in reader.revenue(None, start, end, step)
        for name in _MONEY
        if row[name]
    }
    assert earned == pytest.approx({key: value for key, value in money.items() if value})


def test_what_runs_counts_in_every_step_up_to_now(database: Engine, store: SqlStore) -> None:
    since = 1_030
    lease = replace(values.lease(0), state=LeaseState.ACTIVE, active_since=since)
    store.commit(replace(values.changes_of(lease, values.document(lease)), usage=[]))
    found = SqlReader(database).usage("project", since - 10, since + 500, since + 250, 100)
    by_step = {row["start"]: row["node_seconds"] // 3 for row in found}
    expected = Counter(second - second % 100 for second in range(since, since + 250))
    assert by_step == {max(since - 10, step): seconds for step, seconds in expected.items()}


def test_how_long_leases_waited(database: Engine, store: SqlStore) -> None:
    """haizea F83: means over leases that were done; slowdowns with run times of at least 10 s."""
    leases = []
    for number, (kind, wait, run) in enumerate(
        [
            (LeaseKind.BEST_EFFORT, 100, 50),
            (LeaseKind.BEST_EFFORT, 21, 4),
            (LeaseKind.RESERVATION, 40, 60),
            (LeaseKind.BEST_EFFORT, 7, 900),
        ]
    ):
        lease = values.lease(number)
        start = 1_000 + wait if kind is LeaseKind.RESERVATION else None
        request = replace(lease.request, kind=kind, submitted=1_000, start=start, deadline=None, duration=1_000)
        started = 1_000 + wait
        over = replace(lease, request=request, state=LeaseState.DONE, started=started, ended=started + run)
        leases.append(replace(over, accumulated=run, active_since=None, holdings=(), saved_on=None))
    changes = StoreChanges(1)
    changes.leases = {lease.lease_id: lease for lease in leases}
    changes.documents = {lease.lease_id: values.document(lease) for lease in leases}
    store.commit(changes)
    found = {row["kind"]: row for row in SqlReader(database).delays("project", 1_000, 1_500)}
    assert (found["best-effort"]["done"], found["best-effort"]["mean_wait"]) == (2, pytest.approx(60.5))
    assert found["best-effort"]["mean_bounded_slowdown"] == pytest.approx((150 / 50 + 25 / 10) / 2)
    assert found["reservation"] == {
        "project_id": "project",
        "kind": "reservation",
        "done": 1,
        "mean_wait": None,
        "mean_bounded_slowdown": None,
    }
    assert SqlReader(database).delays("other", 0, 9_000) == []


def test_capacity_counts_since_a_host_is_in_the_pool(database: Engine, store: SqlStore) -> None:
    """Three hosts of eight cores from second 1 on, and an address."""
    found = SqlReader(database).capacity(0, 30, 20)
    assert [(step["start"], step["end"]) for step in found] == [(0, 20), (20, 30)]
    assert [step["resource_seconds"]["VCPU"] for step in found] == [24 * 19, 24 * 10]
    assert found[1]["resource_seconds"]["FLOATING_IP"] == 10


def test_capacity_follows_hosts_that_change_and_leave(database: Engine, store: SqlStore) -> None:
    """A host counts for as long as it was there, even out of service."""
    hosts = {host.host_id: host for host in store.load().hosts}
    first, second, third = hosts.values()
    _pool(store, 10, {first.host_id: replace(first, capacity={"VCPU": 6})})
    _pool(store, 12, {second.host_id: replace(second, reservable=False)})
    _pool(store, 14, {second.host_id: second, first.host_id: replace(first, capacity={"VCPU": 6}, out_until=99)})
    _pool(store, 20, {third.host_id: None})
    expected = [24, 22, 22, 14, 14, 22, 22, 22, 22, 22, 22, 14]
    reader = SqlReader(database)
    assert [step["resource_seconds"]["VCPU"] for step in reader.capacity(9, 21, 1)] == expected
    (whole,) = reader.capacity(9, 21)
    assert whole["resource_seconds"]["VCPU"] == sum(expected)
    purge.purge(database, 13)
    assert [step["resource_seconds"].get("VCPU", 0) for step in reader.capacity(11, 21, 1)] == [0, *expected[3:]]


def _pool(store: SqlStore, instant: int, hosts: dict[int, HostRecord | None]) -> None:
    changes = StoreChanges(instant)
    changes.hosts = hosts
    store.commit(changes)
