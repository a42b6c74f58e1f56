"""Descriptions of leases, and the requests of leases whose ids their clients have chosen."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the columns; leases that are there have neither."""
    op.add_column("leases", sa.Column("description", sa.String(255), nullable=True))
    op.add_column("leases", sa.Column("request_digest", sa.String(64), nullable=True))
