"""Reading the record of what a site did in an interval."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import Any

from sqlalchemy import Connection, Engine, select

from lease_scheduler.engine.run_record import RecordedUse, RunRecord
from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.states import LeaseState
from lease_scheduler.records.site import SiteBuilder
from lease_scheduler.records.units import Units
from lease_scheduler.store.sql import pool_rows, rows
from lease_scheduler.store.sql.schema import FLOATING_IPS, HISTORY, HOLDINGS, HOSTS, LEASES, USAGE

#: Kinds whose hosts are never prepared ahead, so that their starts take as long as a boot.
_UNPREPARED = (LeaseKind.BEST_EFFORT.value, LeaseKind.IMMEDIATE.value)


def read_run(database: Engine, start: int, end: int) -> RunRecord:
    """Return what the site did in ``[start, end)``, as of now. Leases that were purged are missing."""
    with database.connect() as connection:
        hosts = tuple(
            pool_rows.host(row, {}) for row in connection.execute(select(HOSTS).order_by(HOSTS.c.id)).mappings()
        )
        in_order = select(FLOATING_IPS).order_by(FLOATING_IPS.c.created_at, FLOATING_IPS.c.id)
        floating_ips = tuple(pool_rows.floating_ip(row) for row in connection.execute(in_order).mappings())
        units = Units([*(str(host.host_id) for host in hosts), *(ip.floating_ip_id for ip in floating_ips)])
        submitted = LEASES.c.submitted.between(start, end - 1)
        found = connection.execute(select(LEASES).where(submitted).order_by(LEASES.c.sequence)).mappings().all()
        return RunRecord(
            start,
            end,
            SiteBuilder().build(hosts, floating_ips),
            # Where state was saved no longer matters.
            tuple(rows.lease({**row, "saved_on": None}, (), units) for row in found),
            tuple(_uses(connection, start, end, units)),
            tuple(_boots(connection, start, end)),
        )


def _uses(connection: Connection, start: int, end: int, units: Units) -> Iterator[RecordedUse]:
    over = select(USAGE).where(USAGE.c.start < end, USAGE.c.end > start).order_by(USAGE.c.start, USAGE.c.id)
    for row in connection.execute(over).mappings():
        yield RecordedUse(row["lease_id"], row["phase"], row["start"], row["end"], _known(row["hosts"], units))
    # Leases that run have no record yet.
    running = (
        select(LEASES.c.id, LEASES.c.active_since, HOLDINGS.c.hosts)
        .join(HOLDINGS, (HOLDINGS.c.lease_id == LEASES.c.id) & (HOLDINGS.c.position == 0))
        .where(LEASES.c.active_since < end)
    )
    for lease_id, since, hosts in connection.execute(running):
        yield RecordedUse(lease_id, "run", since, end, _known(hosts, units))


def _known(unit_ids: Iterable[str], units: Units) -> tuple[int, ...]:
    """Return the numbers of units; 0 for hosts that have left the pool."""
    found = []
    for unit_id in unit_ids:
        try:
            found.append(units.number(unit_id))
        except KeyError:
            found.append(0)
    return tuple(found)


def _boots(connection: Connection, start: int, end: int) -> Iterator[int]:
    """Yield the seconds from the beginning of each start to its end, if it succeeded."""
    changes = (
        select(HISTORY.c.lease_id, HISTORY.c.instant, HISTORY.c.to_state)
        .join(LEASES, LEASES.c.id == HISTORY.c.lease_id)
        .where(LEASES.c.kind.in_(_UNPREPARED), LEASES.c.submitted.between(start, end - 1))
        .order_by(HISTORY.c.id)
    )
    of_lease: defaultdict[str, list[Any]] = defaultdict(list)
    for lease_id, instant, state in connection.execute(changes):
        of_lease[lease_id].append((instant, state))
    for entries in of_lease.values():
        for (begun, before), (over, after) in pairwise(entries):
            if (before, after) == (LeaseState.READY.value, LeaseState.ACTIVE.value):
                yield over - begun
