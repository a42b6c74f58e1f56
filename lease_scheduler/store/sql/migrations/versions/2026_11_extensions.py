"""How often and by how much a lease was extended."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0012"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the columns; extensions were not counted before."""
    op.add_column("leases", sa.Column("extension_count", sa.Integer(), nullable=True))
    op.add_column("leases", sa.Column("extended_by", sa.BigInteger(), nullable=True))
    op.add_column("leases", sa.Column("longest_duration", sa.BigInteger(), nullable=True))
