"""Waits that queued leases are told to expect."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0020"
down_revision = "0019"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the wait and what it rests on; leases of before were told nothing."""
    op.add_column("leases", sa.Column("expected_wait", sa.BigInteger(), nullable=True))
    op.add_column("leases", sa.Column("expected_wait_from", sa.BigInteger(), nullable=True))
