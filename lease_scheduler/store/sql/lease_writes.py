"""Writing leases with their holdings and reservations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, bindparam, delete, insert, update

from lease_scheduler.records.documents import ReservationRecord
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


@dataclass(frozen=True)
class WrittenLease:
    """A live lease as it is in the database.

    :ivar version: number of the change that was written last
    :ivar holdings: rows of its holdings; None if another engine has written them
    :ivar reservations: its reservations; None if another engine has written them
    """

    version: int
    holdings: Sequence[rows.Values] | None = None
    reservations: Sequence[ReservationRecord] | None = None


def write(
    connection: Connection, changes: StoreChanges, revision: int, before: Mapping[str, WrittenLease], units: Units
) -> dict[str, WrittenLease]:
    """Insert or update leases, and their holdings and reservations where these have changed.

    :param revision: of the site
    :param before: the live leases in the database, by id
    :return: the leases as they are now, by id
    :raises DeposedError: another engine has changed a lease
    """
    new, known, written = [], [], {}
    for lease_id, lease in changes.leases.items():
        document = changes.documents[lease_id]
        values = rows.lease_values(lease, document, units)
        values["revision"] = revision
        found = before.get(lease_id)
        values["version"] = 1 if found is None else found.version + 1
        held = [rows.holding_values(lease_id, position, each, units) for position, each in enumerate(lease.holdings)]
        written[lease_id] = WrittenLease(values["version"], held, document.reservations)
        if found is None:
            new.append(values)
        else:
            known.append({**values, "the_id": lease_id, "the_version": found.version})
    if new:
        connection.execute(_INSERT, new)
    if known:
        result = connection.execute(_UPDATE, known)
        if connection.dialect.supports_sane_multi_rowcount and result.rowcount != len(known):
            raise DeposedError("a lease was changed by another engine")
    _write_holdings(connection, before, written)
    _write_reservations(connection, changes, before, written)
    for lease_id, instant in changes.deleted.items():
        over = (LEASES.c.id == lease_id) & LEASES.c.deleted_at.is_(None)
        connection.execute(update(LEASES).where(over).values(deleted_at=instant, revision=revision))
    return written


def _write_holdings(
    connection: Connection, before: Mapping[str, WrittenLease], written: Mapping[str, WrittenLease]
) -> None:
    changed = [key for key, now in written.items() if key not in before or now.holdings != before[key].holdings]
    # A lease without holdings has no rows to delete.
    for chunk in chunks([key for key in changed if key in before and before[key].holdings != []]):
        connection.execute(_DELETE_HOLDINGS, {"ids": chunk})
    held = [values for key in changed for values in written[key].holdings or ()]
    if held:
        connection.execute(_INSERT_HOLDINGS, held)


def _write_reservations(
    connection: Connection,
    changes: StoreChanges,
    before: Mapping[str, WrittenLease],
    written: Mapping[str, WrittenLease],
) -> None:
    changed = [key for key, now in written.items() if key not in before or now.reservations != before[key].reservations]
    for chunk in chunks([key for key in changed if key in before]):
        connection.execute(_DELETE_RESERVATIONS, {"ids": chunk})
    named = [values for key in changed for values in rows.document_reservations(changes.documents[key])]
    if named:
        connection.execute(_INSERT_RESERVATIONS, named)
