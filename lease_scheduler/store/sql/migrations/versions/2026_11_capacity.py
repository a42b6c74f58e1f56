"""Changes of the capacity that the pool offers."""

from __future__ import annotations

from collections import Counter
from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None

_SERIAL = sa.BigInteger().with_variant(sa.Integer, "sqlite")


def _columns() -> tuple[sa.ColumnClause[Any], ...]:
    return sa.column("created_at", sa.BigInteger()), sa.column("reservable", sa.Boolean())


def upgrade() -> None:
    """Add the table and fill it from the present hosts and floating IPs, as if each had been constant since it came."""
    changes = op.create_table(
        "capacity_changes",
        sa.Column("id", _SERIAL, nullable=False),
        sa.Column("instant", sa.BigInteger(), nullable=False),
        sa.Column("resource_class", sa.String(255), nullable=False),
        sa.Column("change", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_capacity_changes")),
    )
    op.create_index(op.f("ix_capacity_changes_instant"), "capacity_changes", ["instant"])
    hosts = sa.table("hosts", *_columns(), sa.column("capacity", sa.JSON()))
    addresses = sa.table("floating_ips", *_columns())
    connection, found = op.get_bind(), Counter[tuple[int, str]]()
    for row in connection.execute(sa.select(hosts).where(hosts.c.reservable.is_(True))):
        for name, amount in row.capacity.items():
            found[row.created_at, name] += amount
    for row in connection.execute(sa.select(addresses).where(addresses.c.reservable.is_(True))):
        found[row.created_at, "FLOATING_IP"] += 1
    rows = [
        {"instant": instant, "resource_class": name, "change": change}
        for (instant, name), change in sorted(found.items())
    ]
    if rows:
        op.bulk_insert(changes, rows)
