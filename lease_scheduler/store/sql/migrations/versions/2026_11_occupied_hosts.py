"""Hosts that leases do without because servers are on them that do not give way."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the column; what is going on has all hosts."""
    op.add_column("operations", sa.Column("without", sa.JSON(), nullable=True))
