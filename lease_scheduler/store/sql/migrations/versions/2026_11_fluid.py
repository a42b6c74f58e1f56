"""Fluid leases: the least part of their VCPU, and their progress."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0021"
down_revision = "0020"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add what fluid leases ask for and how far they have come; there are none yet."""
    op.add_column("leases", sa.Column("min_yield", sa.Double(), nullable=True))
    op.add_column("leases", sa.Column("virtual_time", sa.BigInteger(), nullable=True))
    op.add_column("leases", sa.Column("yield", sa.Integer(), nullable=True))
    op.add_column("leases", sa.Column("yield_since", sa.BigInteger(), nullable=True))
