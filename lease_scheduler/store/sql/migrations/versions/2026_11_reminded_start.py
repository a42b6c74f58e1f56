"""The start of which the project of a lease was reminded."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the column; nobody was reminded before."""
    op.add_column("leases", sa.Column("reminded_start", sa.BigInteger(), nullable=True))
