"""Pools: hosts, addresses and leases name theirs, and policies learn in each by themselves."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0017"
down_revision = "0016"
branch_labels = None
depends_on = None

#: Tables with rows of their own for each pool -> the rest of their primary key.
_BY_POOL = {"policy_state": ["family", "policy", "subject"], "operation_lateness": ["kind"]}


def upgrade() -> None:
    """Add the columns; what exists is in no pool, as a site without pools has only one."""
    for table in ("leases", "hosts", "floating_ips"):
        op.add_column(table, sa.Column("pool", sa.String(64), nullable=True))
    for table, key in _BY_POOL.items():
        with op.batch_alter_table(table) as batch:
            batch.add_column(sa.Column("pool", sa.String(64), nullable=False, server_default=""))
            batch.drop_constraint(op.f(f"pk_{table}"), type_="primary")
            batch.create_primary_key(op.f(f"pk_{table}"), ["pool", *key])
