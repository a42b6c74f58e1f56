"""Descriptions of leases, and digests of requests whose clients chose the id of the lease."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the columns; existing leases have neither."""
    op.add_column("leases", sa.Column("description", sa.String(255), nullable=True))
    op.add_column("leases", sa.Column("request_digest", sa.String(64), nullable=True))
