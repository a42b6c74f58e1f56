"""Hosts that an operation leaves out, because servers on them cannot be moved away."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the column; operations in progress leave out no host."""
    op.add_column("operations", sa.Column("without", sa.JSON(), nullable=True))
