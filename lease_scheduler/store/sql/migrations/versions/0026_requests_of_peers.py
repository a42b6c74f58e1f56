"""Peers say for whom they request a lease, and who has passed the request on."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0026"
down_revision = "0025"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the columns; nothing is known of leases that exist."""
    for name in ("path", "on_behalf_of"):
        op.add_column("leases", sa.Column(name, sa.JSON(none_as_null=True), nullable=True))
