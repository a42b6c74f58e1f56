"""Origins of leases: the peers on whose behalf they were requested."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the column; existing leases are local."""
    op.add_column("leases", sa.Column("origin", sa.String(255), nullable=True))
