"""Hosts that sleep."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0018"
down_revision = "0017"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add what is known of the power of hosts; none has been told to sleep yet."""
    op.add_column("hosts", sa.Column("power", sa.String(16), nullable=True))
    op.add_column("hosts", sa.Column("power_since", sa.BigInteger(), nullable=True))
    op.add_column("hosts", sa.Column("slept", sa.BigInteger(), nullable=True))
