"""Leases of gateways name their project at the site that they are at."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0028"
down_revision = "0027"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the column; leases that exist are in the projects of their gateways."""
    op.add_column("leases", sa.Column("site_project_id", sa.String(255), nullable=True))
