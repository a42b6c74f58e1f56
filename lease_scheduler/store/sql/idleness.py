"""Since when leases are idle, in the database."""

from __future__ import annotations

from dataclasses import asdict

from sqlalchemy import Connection, delete, insert, select

from lease_scheduler.records.idleness import Idleness
from lease_scheduler.records.writes import StoreChanges
from lease_scheduler.store.sql.chunks import chunks
from lease_scheduler.store.sql.schema import IDLENESS


def read(connection: Connection) -> dict[str, Idleness]:
    """Return lease -> since when it is idle."""
    rows = connection.execute(select(IDLENESS)).mappings()
    names = Idleness.__dataclass_fields__
    return {row["lease_id"]: Idleness(**{name: row[name] for name in names}) for row in rows}


def write(connection: Connection, changes: StoreChanges) -> None:
    """Write the changes of since when leases are idle."""
    for chunk in chunks(list(changes.idleness)):
        connection.execute(delete(IDLENESS).where(IDLENESS.c.lease_id.in_(chunk)))
    values = [{"lease_id": key, **asdict(each)} for key, each in changes.idleness.items() if each is not None]
    if values:
        connection.execute(insert(IDLENESS), values)
