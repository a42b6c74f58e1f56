"""Assured lifetimes of preemptible leases."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0019"
down_revision = "0018"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add what leases ask for and were promised; no lease has been promised anything yet."""
    op.add_column("leases", sa.Column("min_lifetime", sa.BigInteger(), nullable=True))
    op.add_column("leases", sa.Column("assurance", sa.Double(), nullable=True))
    op.add_column("leases", sa.Column("await_assurance", sa.Boolean(), nullable=False, server_default=sa.false()))
    op.add_column("leases", sa.Column("assured", sa.String(16), nullable=True))
    op.add_column("leases", sa.Column("assured_from", sa.BigInteger(), nullable=True))
    op.add_column("leases", sa.Column("planned_lifetime", sa.BigInteger(), nullable=True))
