"""The preemption mode "delete", which replaces the name "cancel": the operation in Nova has that name."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

_LEASES = sa.table("leases", sa.column("preemption_mode", sa.String))
_SERIES = sa.table("series", sa.column("id", sa.String), sa.column("template", sa.JSON))


def upgrade() -> None:
    """Rename the mode in leases and in the templates of series."""
    op.execute(_LEASES.update().where(_LEASES.c.preemption_mode == "cancel").values(preemption_mode="delete"))
    connection = op.get_bind()
    for series in connection.execute(sa.select(_SERIES)).mappings().all():
        if series["template"].get("preemption_mode") == "cancel":
            template = {**series["template"], "preemption_mode": "delete"}
            connection.execute(_SERIES.update().where(_SERIES.c.id == series["id"]).values(template=template))
