"""Prices: the most that projects would pay, offers, learnt state of pricing policies, and revenue."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

_SERIAL = sa.BigInteger().with_variant(sa.Integer, "sqlite")


def upgrade() -> None:
    """Add the columns and tables; existing leases have no price and are not offers."""
    if op.get_bind().dialect.name != "sqlite":
        # MariaDB's FLOAT keeps seven digits only. SQLite needs no change (and cannot alter a column).
        op.alter_column("leases", "price", type_=sa.Double(), existing_type=sa.Float(), existing_nullable=True)
    op.add_column("leases", sa.Column("max_price", sa.Double(), nullable=True))
    op.add_column("leases", sa.Column("offered_until", sa.BigInteger(), nullable=True))
    op.create_table(
        "pricing",
        sa.Column("policy", sa.String(64), nullable=False),
        sa.Column("subject", sa.String(255), nullable=False),
        sa.Column("learnt", sa.JSON(), nullable=False),
        sa.PrimaryKeyConstraint("policy", "subject", name=op.f("pk_pricing")),
    )
    op.create_table(
        "revenue_records",
        sa.Column("id", _SERIAL, nullable=False),
        sa.Column("lease_id", sa.String(36), nullable=False),
        sa.Column("project_id", sa.String(255), nullable=False),
        sa.Column("instant", sa.BigInteger(), nullable=False),
        sa.Column("outcome", sa.String(32), nullable=False),
        sa.Column("price", sa.Double(), nullable=True),
        sa.Column("max_price", sa.Double(), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_revenue_records")),
    )
    op.create_index(op.f("ix_revenue_records_project_id_instant"), "revenue_records", ["project_id", "instant"])
    op.create_index(op.f("ix_revenue_records_instant"), "revenue_records", ["instant"])
