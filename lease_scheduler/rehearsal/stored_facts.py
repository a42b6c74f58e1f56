"""What the database of a world says, as invariants read it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from lease_scheduler.model.resources import HOST_SHARE, WHOLE_HOST
from lease_scheduler.rehearsal.invariants.facts import (
    BreachFact,
    HoldingFact,
    HostFact,
    LeaseFact,
    OperationFact,
    StayFact,
    TransitionFact,
)
from lease_scheduler.rehearsal.runtime.database import DatabaseServer


def leases(database: DatabaseServer) -> Mapping[str, LeaseFact]:
    """Return all leases by id."""
    holdings: dict[str, list[HoldingFact]] = {}
    query = 'SELECT lease_id, start, run_start, run_end, "end", hosts FROM holdings ORDER BY lease_id, position'
    for lease_id, start, run_start, run_end, end, hosts in database.raw.execute(query):
        holdings.setdefault(lease_id, []).append(HoldingFact(start, run_start, run_end, end, json.loads(hosts)))
    found = {}
    query = (
        "SELECT id, project_id, name, kind, state, ended, maintenance, nodes, offered_until, requested_start, "
        "submitted, started, duration, trust_id FROM leases ORDER BY sequence"
    )
    for row in database.raw.execute(query):
        lease_id, project, name, kind, state, ended, is_maintenance, nodes, offered_until, *times = row
        sets = json.loads(nodes)
        found[lease_id] = LeaseFact(
            lease_id,
            project,
            name,
            kind,
            state,
            ended,
            bool(is_maintenance),
            any(each["resources"].get(HOST_SHARE) == WHOLE_HOST for each in sets),
            [each["resources"] for each in sets for _ in range(each["count"])],
            holdings.get(lease_id, ()),
            offered_until,
            *times,
        )
    return found


def history(database: DatabaseServer) -> Sequence[TransitionFact]:
    """Return all transitions and remarks, in their order."""
    query = "SELECT lease_id, instant, from_state, to_state, reason FROM lease_history ORDER BY id"
    return [TransitionFact(*row) for row in database.raw.execute(query)]


def stays(database: DatabaseServer) -> Sequence[StayFact]:
    """Return all phases of leases on hosts that are over."""
    query = 'SELECT lease_id, start, "end", hosts FROM usage_records ORDER BY id'
    return [
        StayFact(lease_id, start, end, json.loads(said)) for lease_id, start, end, said in database.raw.execute(query)
    ]


def hosts(database: DatabaseServer) -> Mapping[str, HostFact]:
    """Return the hosts of the pool by id."""
    return {
        str(row[0]): HostFact(str(row[0]), row[1], {**json.loads(row[2]), HOST_SHARE: WHOLE_HOST})
        for row in database.raw.execute("SELECT id, name, capacity FROM hosts")
    }


def operations(database: DatabaseServer) -> Sequence[OperationFact]:
    """Return the operations that are not completed."""
    return [OperationFact(*row) for row in database.raw.execute("SELECT lease_id, kind, due FROM operations")]


def breaches(database: DatabaseServer) -> Sequence[BreachFact]:
    """Return the breaches of terms that are recorded."""
    return [BreachFact(*row) for row in database.raw.execute("SELECT lease_id, kind, instant FROM breaches")]


def waiting(database: DatabaseServer) -> Sequence[int]:
    """Return the instants at which the notifications were written that wait to be sent."""
    return [row[0] for row in database.raw.execute("SELECT created_at FROM outbox")]
