"""Writing leases with their holdings and reservations."""

from __future__ import annotations

from collections.abc import Mapping

from sqlalchemy import Connection, bindparam, delete, insert, update

from lease_scheduler.records.units import Units
from lease_scheduler.records.writes import DeposedError, StoreChanges
from lease_scheduler.store.sql import rows
from lease_scheduler.store.sql.chunks import chunks
from lease_scheduler.store.sql.schema import HOLDINGS, LEASE_RESERVATIONS, LEASES

# Building these takes longer than running them for one lease.
_INSERT = insert(LEASES)
_INSERT_HOLDINGS = insert(HOLDINGS)
_INSERT_RESERVATIONS = insert(LEASE_RESERVATIONS)
_UPDATE = (
    update(LEASES)
    .where(LEASES.c.id == bindparam("the_id"), LEASES.c.version == bindparam("the_version"))
    .values({column.name: bindparam(column.name) for column in LEASES.columns})
)
_DELETE_HOLDINGS = delete(HOLDINGS).where(HOLDINGS.c.lease_id.in_(bindparam("ids", expanding=True)))
_DELETE_RESERVATIONS = delete(LEASE_RESERVATIONS).where(
    LEASE_RESERVATIONS.c.lease_id.in_(bindparam("ids", expanding=True))
)


def write(
    connection: Connection, changes: StoreChanges, revision: int, versions: Mapping[str, int], units: Units
) -> dict[str, int]:
    """Insert or update leases with their holdings and reservations.

    :param revision: of the site
    :param versions: versions of the live leases in the database, by id
    :return: the new versions by lease id
    :raises DeposedError: another engine has changed a lease
    """
    new, known, written = [], [], {}
    for lease_id, lease in changes.leases.items():
        values = rows.lease_values(lease, changes.documents[lease_id], units)
        values["revision"] = revision
        version = versions.get(lease_id)
        written[lease_id] = values["version"] = 1 if version is None else version + 1
        if version is None:
            new.append(values)
        else:
            known.append({**values, "the_id": lease_id, "the_version": version})
    if new:
        connection.execute(_INSERT, new)
    if known:
        result = connection.execute(_UPDATE, known)
        if connection.dialect.supports_sane_multi_rowcount and result.rowcount != len(known):
            raise DeposedError("a lease was changed by another engine")
    for chunk in chunks([values["the_id"] for values in known]):
        connection.execute(_DELETE_HOLDINGS, {"ids": chunk})
        connection.execute(_DELETE_RESERVATIONS, {"ids": chunk})
    held = [
        rows.holding_values(lease_id, position, reservation, units)
        for lease_id, lease in changes.leases.items()
        for position, reservation in enumerate(lease.holdings)
    ]
    if held:
        connection.execute(_INSERT_HOLDINGS, held)
    named = [values for key in changes.leases for values in rows.document_reservations(changes.documents[key])]
    if named:
        connection.execute(_INSERT_RESERVATIONS, named)
    for lease_id, instant in changes.deleted.items():
        over = (LEASES.c.id == lease_id) & LEASES.c.deleted_at.is_(None)
        connection.execute(update(LEASES).where(over).values(deleted_at=instant, revision=revision))
    return written
