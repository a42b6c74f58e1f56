"""Learnt state of policies of all families, in place of that of pricing policies only."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the table and move the state of pricing policies into it."""
    op.create_table(
        "policy_state",
        sa.Column("family", sa.String(64), nullable=False),
        sa.Column("policy", sa.String(64), nullable=False),
        sa.Column("subject", sa.String(255), nullable=False),
        sa.Column("state", sa.JSON(), nullable=False),
        sa.PrimaryKeyConstraint("family", "policy", "subject", name=op.f("pk_policy_state")),
    )
    op.execute(
        "INSERT INTO policy_state (family, policy, subject, state)"
        " SELECT 'pricing', policy, subject, learnt FROM pricing"
    )
    op.drop_table("pricing")
