"""Numbers of transitions are not used twice, because programs follow a site by them."""

from __future__ import annotations

from alembic import op

revision = "0025"
down_revision = "0024"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Have SQLite remember the largest number; other databases do."""
    if op.get_bind().dialect.name == "sqlite":
        with op.batch_alter_table("lease_history", recreate="always", table_kwargs={"sqlite_autoincrement": True}):
            pass
