"""Capacity that the pool offers to leases, and its changes over time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from sqlalchemy import Connection, delete, func, insert, select

from lease_scheduler.model.providers import together
from lease_scheduler.model.resources import FLOATING_IP
from lease_scheduler.store.sql.chunks import chunks
from lease_scheduler.store.sql.schema import CAPACITY_CHANGES, FLOATING_IPS, HOSTS


def offered(connection: Connection, host_ids: Iterable[int], floating_ip_ids: Iterable[str]) -> Counter[str]:
    """Return what some hosts and addresses offer together, by resource class.

    Only reservable ones count, whether they are in service or not.
    """
    found = Counter[str]()
    for chunk in chunks(list(host_ids)):
        wanted = (HOSTS.c.reservable.is_(True), HOSTS.c.id.in_(chunk))
        for capacity, providers in connection.execute(select(HOSTS.c.capacity, HOSTS.c.providers).where(*wanted)):
            found.update(together(capacity, (provider["capacity"] for provider in providers or ())))
    for keys in chunks(list(floating_ip_ids)):
        wanted = (FLOATING_IPS.c.reservable.is_(True), FLOATING_IPS.c.id.in_(keys))
        addresses = connection.execute(select(func.count()).select_from(FLOATING_IPS).where(*wanted)).scalar_one()
        found[FLOATING_IP] += addresses
    return found


def note(connection: Connection, instant: int, before: Counter[str], after: Counter[str]) -> None:
    """Record the change of the offered capacity at an instant, if there is one."""
    rows = [
        {"instant": instant, "resource_class": name, "change": after[name] - before[name]}
        for name in sorted(before | after)
        if after[name] != before[name]
    ]
    if rows:
        connection.execute(insert(CAPACITY_CHANGES), rows)


def at(connection: Connection, instant: int) -> Counter[str]:
    """Return the capacity offered at an instant, by resource class."""
    columns = CAPACITY_CHANGES.c
    sums = select(columns.resource_class, func.sum(columns.change)).where(columns.instant <= instant)
    return Counter({name: int(amount) for name, amount in connection.execute(sums.group_by(columns.resource_class))})


def changes(connection: Connection, start: int, end: int) -> list[tuple[int, str, int]]:
    """Return the changes after ``start`` and before ``end``, in order of time: (instant, resource class, change)."""
    columns = CAPACITY_CHANGES.c
    query = select(columns.instant, columns.resource_class, columns.change)
    query = query.where(columns.instant > start, columns.instant < end).order_by(columns.instant, columns.id)
    return [(row.instant, row.resource_class, row.change) for row in connection.execute(query)]


def forget(connection: Connection, before: int) -> None:
    """Replace the changes before an instant by their sums, one for each resource class."""
    is_old = CAPACITY_CHANGES.c.instant < before
    columns = (CAPACITY_CHANGES.c.resource_class, CAPACITY_CHANGES.c.change)
    there = Counter[str]()
    # Locked, so that another process that does the same does not add the sums a second time.
    for name, change in connection.execute(select(*columns).where(is_old).with_for_update()):
        there[name] += change
    connection.execute(delete(CAPACITY_CHANGES).where(is_old))
    note(connection, before - 1, Counter(), there)
