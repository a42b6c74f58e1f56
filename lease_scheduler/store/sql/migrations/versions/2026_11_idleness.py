"""Leases whose servers use nothing."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0014"
down_revision = "0013"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make the table; nothing was measured before."""
    op.create_table(
        "idleness",
        sa.Column("lease_id", sa.String(36), nullable=False),
        sa.Column("since", sa.BigInteger(), nullable=False),
        sa.Column("seconds", sa.BigInteger(), nullable=False),
        sa.Column("seen", sa.BigInteger(), nullable=False),
        sa.Column("told_at", sa.BigInteger(), nullable=True),
        sa.Column("told_seconds", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["lease_id"], ["leases.id"], name=op.f("fk_idleness_lease_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("lease_id", name=op.f("pk_idleness")),
    )
