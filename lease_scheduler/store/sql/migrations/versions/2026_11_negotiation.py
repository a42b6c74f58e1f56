"""Negotiations with several offers, breaches, and the lateness of operations."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None

_SERIAL = sa.BigInteger().with_variant(sa.Integer, "sqlite")


def upgrade() -> None:
    """Add the columns and tables; existing leases have no breaches."""
    op.add_column("leases", sa.Column("negotiation_id", sa.String(36), nullable=True))
    op.add_column("leases", sa.Column("retained", sa.Double(), nullable=True))
    op.add_column("leases", sa.Column("missing_since", sa.BigInteger(), nullable=True))
    op.add_column("leases", sa.Column("missing_nodes", sa.Integer(), nullable=True))
    op.add_column("leases", sa.Column("penalties", sa.Double(), nullable=True))
    op.create_table(
        "breaches",
        sa.Column("id", _SERIAL, nullable=False),
        sa.Column("lease_id", sa.String(36), nullable=False),
        sa.Column("project_id", sa.String(255), nullable=False),
        sa.Column("kind", sa.String(32), nullable=False),
        sa.Column("instant", sa.BigInteger(), nullable=False),
        sa.Column("seconds", sa.BigInteger(), nullable=False),
        sa.Column("node_seconds", sa.BigInteger(), nullable=False),
        sa.Column("penalty", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_breaches")),
    )
    op.create_index(op.f("ix_breaches_lease_id"), "breaches", ["lease_id"])
    op.create_index(op.f("ix_breaches_project_id_instant"), "breaches", ["project_id", "instant"])
    op.create_index(op.f("ix_breaches_instant"), "breaches", ["instant"])
    op.create_table(
        "operation_lateness",
        sa.Column("kind", sa.String(16), nullable=False),
        sa.Column("seconds", sa.JSON(), nullable=False),
        sa.PrimaryKeyConstraint("kind", name=op.f("pk_operation_lateness")),
    )
