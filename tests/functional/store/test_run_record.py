"""What a site has done is read back as it was, on every database (prediction A4)."""

from __future__ import annotations

from dataclasses import replace

from sqlalchemy import Engine

from lease_scheduler.engine.run_record import RecordedUse
from lease_scheduler.model.lease import Lease
from lease_scheduler.model.states import LeaseState
from lease_scheduler.records.history import Transition, UsageRecord
from lease_scheduler.records.writes import StoreChanges
from lease_scheduler.store.sql.run_record import read_run
from lease_scheduler.store.sql.store import SqlStore

from . import values

_STATES = ("queued", "scheduled", "ready", "active")


def _lease(sequence: int, submitted: int, **terms: object) -> Lease:
    made = values.lease(sequence, **terms)
    return replace(made, request=replace(made.request, submitted=submitted))


def _use(lease: Lease, phase: str, start: int, end: int, *hosts: int) -> UsageRecord:
    return UsageRecord(lease.lease_id, "project", "best-effort", phase, start, end, len(hosts), {"VCPU": 4}, hosts)


def test_a_run_is_read_back(database: Engine) -> None:
    """With what leases from before held, without what was held before or afterwards, and with what still runs."""
    store = SqlStore(database)
    store.take_over("engine", 1)
    store.load()
    values.hosts(store)
    before, over = (
        _lease(number, at, holdings=(), state=LeaseState.DONE, ended=180) for number, at in ((1, 90), (2, 100))
    )
    running, later = _lease(3, 199, state=LeaseState.ACTIVE, active_since=190), _lease(4, 200)
    changes = StoreChanges(200)
    for each in (before, over, running, later):
        changes.leases[each.lease_id], changes.documents[each.lease_id] = each, values.document(each)
    changes.usage = [
        _use(before, "run", 20, 100, 3, 3, 3),
        _use(before, "run", 95, 101, 3, 3, 3),
        _use(over, "run", 120, 170, 1, 2, 1),
        _use(over, "shutdown", 170, 180, 1, 2, 1),
        _use(over, "run", 200, 210, 1, 2, 1),
    ]
    changes.transitions = [
        Transition(of.lease_id, instant, was, to, "")
        for of, instants in ((over, (100, 101, 105, 120)), (running, (199, 199)), (later, (200, 200, 201, 230)))
        for instant, was, to in zip(instants, ("new", *_STATES), _STATES, strict=False)
    ]
    store.commit(changes)

    found = read_run(database, 100, 200)

    assert [each.name for each in found.site.hosts[1:4]] == ["compute-1", "compute-2", "compute-3"]
    assert len(found.site.hosts) == 1 + 3 + 1, "the first is none, the last is a floating IP"
    assert [each.request for each in found.leases] == [over.request, running.request]
    assert (found.leases[0].state, found.leases[0].ended) == (LeaseState.DONE, 180)
    assert found.uses == (
        RecordedUse(before.lease_id, "run", 95, 101, (3, 3, 3)),
        RecordedUse(over.lease_id, "run", 120, 170, (1, 2, 1)),
        RecordedUse(over.lease_id, "shutdown", 170, 180, (1, 2, 1)),
        RecordedUse(running.lease_id, "run", 190, 200, (1, 2, 1)),
    )
    assert found.boots == (15,)
