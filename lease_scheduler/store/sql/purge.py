"""Forgetting leases that were over long ago."""

from __future__ import annotations

from sqlalchemy import Engine, delete, func, select

from lease_scheduler.store.sql import capacity
from lease_scheduler.store.sql.schema import BREACHES, LEASES, REVENUE, USAGE

#: Leases that are removed in one transaction, so that nobody waits for long.
_CHUNK = 500


def count(database: Engine, before: int) -> int:
    """How many leases ended before an instant."""
    with database.connect() as connection:
        return int(connection.execute(select(func.count()).where(LEASES.c.ended < before)).scalar_one())


def purge(database: Engine, before: int) -> int:
    """Forget the leases that ended before an instant, with their history, what they used, what was earned and what
    was owed for terms that were not kept.

    :return: how many there were
    """
    total = 0
    with database.begin() as connection:
        connection.execute(delete(REVENUE).where(REVENUE.c.instant < before))
        connection.execute(delete(BREACHES).where(BREACHES.c.instant < before))
        capacity.forget(connection, before)
    while True:
        with database.begin() as connection:
            old = select(LEASES.c.id).where(LEASES.c.ended < before).limit(_CHUNK)
            ids = list(connection.execute(old).scalars())
            if not ids:
                return total
            connection.execute(delete(BREACHES).where(BREACHES.c.lease_id.in_(ids)))
            connection.execute(delete(USAGE).where(USAGE.c.lease_id.in_(ids)))
            # What else belongs to a lease goes with it.
            connection.execute(delete(LEASES).where(LEASES.c.id.in_(ids)))
            total += len(ids)
