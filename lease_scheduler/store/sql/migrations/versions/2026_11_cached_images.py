"""Disk images in the caches of hosts."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the table; it starts empty, because nothing is known about the caches."""
    op.create_table(
        "cached_images",
        sa.Column("host_id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("image_id", sa.String(255), nullable=False),
        sa.Column("used", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["host_id"], ["hosts.id"], name=op.f("fk_cached_images_host_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("host_id", "image_id", name=op.f("pk_cached_images")),
    )
