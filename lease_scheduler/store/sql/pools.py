"""The pools that hosts, addresses, leases and learnt state belong to."""

from __future__ import annotations

from typing import Any

from sqlalchemy import ColumnElement, Connection, Table, and_, delete, select, update

from lease_scheduler.records.site_state import SITE_STATE
from lease_scheduler.store.sql.schema import FLOATING_IPS, HOSTS, LATENESS, LEASES, POLICY_STATE

#: Tables of what pools have learnt -> columns of their primary keys besides the pool.
_LEARNT = {POLICY_STATE: ("family", "policy", "subject"), LATENESS: ("kind",)}

_IS_LIVE = LEASES.c.ended.is_(None) & LEASES.c.deleted_at.is_(None)


def transfer(connection: Connection, old: str | None, new: str | None, revision: int) -> tuple[int, int]:
    """Give everything that belongs to one pool to another one. Leases that have ended keep their pool.

    :param old: None for what belongs to no pool yet
    :param new: None for no pool
    :param revision: revision of the transaction
    :return: number of hosts and addresses, and number of leases
    """
    units = sum(
        connection.execute(update(table).where(_in_pool(table, old)).values(pool=new)).rowcount
        for table in (HOSTS, FLOATING_IPS)
    )
    changed = update(LEASES).where(_in_pool(LEASES, old) & _IS_LIVE).values(pool=new, revision=revision)
    leases = connection.execute(changed).rowcount
    for table, key in _LEARNT.items():
        _copy_learnt(connection, table, key, old or "", new or "")
    return units, leases


def names(connection: Connection) -> frozenset[str]:
    """Return the pools that hosts, addresses and live leases are in."""
    found: set[str | None] = set()
    for table in (HOSTS, FLOATING_IPS):
        found.update(connection.execute(select(table.c.pool).distinct()).scalars())
    found.update(connection.execute(select(LEASES.c.pool).where(_IS_LIVE).distinct()).scalars())
    return frozenset(name for name in found if name is not None)


def _in_pool(table: Table, pool: str | None) -> ColumnElement[bool]:
    return table.c.pool.is_(None) if pool is None else table.c.pool == pool


def _copy_learnt(connection: Connection, table: Table, key: tuple[str, ...], old: str, new: str) -> None:
    """Give what one pool has learnt to another one, unless that has learnt the same. What is of no pool stays."""
    columns = [table.c[name] for name in key]
    is_of_site = SITE_STATE if table is POLICY_STATE else frozenset()
    known = {tuple(row) for row in connection.execute(select(*columns).where(table.c.pool == new))}
    for row in connection.execute(select(*columns).where(table.c.pool == old)).all():
        if tuple(row[:2]) in is_of_site:
            continue
        values: dict[str, Any] = dict(zip(key, row, strict=True))
        here = and_(table.c.pool == old, *(table.c[name] == value for name, value in values.items()))
        if tuple(row) in known:
            connection.execute(delete(table).where(here))
        else:
            connection.execute(update(table).where(here).values(pool=new))
