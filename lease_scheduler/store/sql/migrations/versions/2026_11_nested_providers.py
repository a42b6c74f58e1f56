"""The nested resource providers of hosts."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0016"
down_revision = "0015"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the column; the engine reads the providers from the cloud when it starts."""
    op.add_column("hosts", sa.Column("providers", sa.JSON(), nullable=True))
