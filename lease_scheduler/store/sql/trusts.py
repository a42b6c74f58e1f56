"""Which trusts are in use, for reader and store."""

from __future__ import annotations

from collections.abc import Collection

from sqlalchemy import Connection, select

from lease_scheduler.store.sql.chunks import chunks
from lease_scheduler.store.sql.schema import HOSTS, LEASES


def known(connection: Connection, trusts: Collection[str]) -> frozenset[str]:
    """Return those of the given trusts that a host or a lease has. Ended and deleted leases count."""
    found: set[str] = set()
    for chunk in chunks(sorted(trusts)):
        for column in (LEASES.c.trust_id, HOSTS.c.trust_id):
            found.update(connection.execute(select(column).where(column.in_(chunk))).scalars())
    return frozenset(found)
