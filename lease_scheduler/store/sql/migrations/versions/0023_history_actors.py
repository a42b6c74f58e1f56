"""Who asked for what is in the history of leases."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0023"
down_revision = "0022"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the columns; of what happened so far, this is not known."""
    op.add_column("lease_history", sa.Column("user_id", sa.String(255), nullable=True))
    op.add_column("lease_history", sa.Column("project_id", sa.String(255), nullable=True))
