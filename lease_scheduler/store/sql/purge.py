"""Purging leases that ended long ago."""

from __future__ import annotations

from sqlalchemy import ColumnElement, Engine, delete, func, select

from lease_scheduler.store.sql import capacity
from lease_scheduler.store.sql.schema import BREACHES, LEASES, OPERATIONS, REVENUE, USAGE

#: Leases removed in one transaction; few enough that other transactions do not wait long.
_CHUNK = 500


def count(database: Engine, before: int) -> int:
    """Return the number of leases that ``purge`` would delete."""
    with database.connect() as connection:
        return int(connection.execute(select(func.count()).where(_is_over(before))).scalar_one())


def purge(database: Engine, before: int) -> int:
    """Delete the leases that ended before an instant, with their history, usage, revenue and breaches.

    A lease stays while something of it is still being removed from the cloud, which needs its document.

    :return: number of deleted leases
    """
    total = 0
    with database.begin() as connection:
        connection.execute(delete(REVENUE).where(REVENUE.c.instant < before))
        connection.execute(delete(BREACHES).where(BREACHES.c.instant < before))
        capacity.forget(connection, before)
    while True:
        with database.begin() as connection:
            old = select(LEASES.c.id).where(_is_over(before)).limit(_CHUNK)
            ids = list(connection.execute(old).scalars())
            if not ids:
                return total
            connection.execute(delete(BREACHES).where(BREACHES.c.lease_id.in_(ids)))
            connection.execute(delete(USAGE).where(USAGE.c.lease_id.in_(ids)))
            # Their reservations, holdings and history go with them (ON DELETE CASCADE).
            connection.execute(delete(LEASES).where(LEASES.c.id.in_(ids)))
            total += len(ids)


def _is_over(before: int) -> ColumnElement[bool]:
    return (LEASES.c.ended < before) & LEASES.c.id.not_in(select(OPERATIONS.c.lease_id))
