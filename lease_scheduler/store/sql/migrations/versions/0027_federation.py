"""Gateways keep negotiations with members; leases name the site that they are at."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0027"
down_revision = "0026"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the tables and columns; leases of before are not at other sites."""
    op.add_column("leases", sa.Column("site", sa.String(64), nullable=True))
    op.add_column("leases", sa.Column("site_lease_id", sa.String(36), nullable=True))
    op.add_column("leases", sa.Column("unreachable", sa.Boolean(), nullable=False, server_default=sa.false()))
    op.create_index("ix_leases_site_lease_id", "leases", ["site_lease_id"])
    op.create_table(
        "federated_leases",
        sa.Column("id", sa.String(36), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("stage", sa.String(16), nullable=False),
        sa.Column("record", sa.JSON(), nullable=False),
        sa.Column("due_at", sa.BigInteger(), nullable=True),
        sa.Column("failures", sa.Integer(), nullable=False),
        sa.Column("heard", sa.BigInteger(), nullable=False),
        sa.Column("driver", sa.String(255), nullable=True),
        sa.Column("driven_until", sa.BigInteger(), nullable=True),
        sa.ForeignKeyConstraint(["id"], ["leases.id"], name="fk_federated_leases_id", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name="pk_federated_leases"),
    )
    op.create_index("ix_federated_leases_due_at", "federated_leases", ["due_at"])
    op.create_table(
        "routing_state",
        sa.Column("site", sa.String(64), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("state", sa.JSON(), nullable=False),
        sa.PrimaryKeyConstraint("site", name="pk_routing_state"),
    )
    op.create_table(
        "followed_members",
        sa.Column("name", sa.String(64), nullable=False),
        sa.Column("sequence", sa.BigInteger(), nullable=False),
        sa.Column("unreachable_since", sa.BigInteger(), nullable=True),
        sa.PrimaryKeyConstraint("name", name="pk_followed_members"),
    )
