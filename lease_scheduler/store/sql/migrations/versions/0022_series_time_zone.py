"""The time zone whose clocks a series follows."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0022"
down_revision = "0021"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the column; the series so far follow UTC."""
    op.add_column("series", sa.Column("time_zone", sa.String(64), nullable=True))
