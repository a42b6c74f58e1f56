"""Leases may need approval before they start."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0024"
down_revision = "0023"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the column; no lease needed approval before."""
    op.add_column("leases", sa.Column("approval", sa.String(16), nullable=True))
