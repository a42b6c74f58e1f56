"""First tables."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create every table of the first release."""
    op.create_table(
        "floating_ips",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("floating_network_id", sa.String(length=255), nullable=False),
        sa.Column("subnet_id", sa.String(length=255), nullable=True),
        sa.Column("floating_ip_address", sa.String(length=64), nullable=False),
        sa.Column("reservable", sa.Boolean(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_floating_ips")),
        sa.UniqueConstraint("floating_ip_address", name=op.f("uq_floating_ips_floating_ip_address")),
    )
    op.create_table(
        "hosts",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(length=255), nullable=False),
        sa.Column("hypervisor_type", sa.String(length=255), nullable=False),
        sa.Column("hypervisor_version", sa.Integer(), nullable=False),
        sa.Column("vcpus", sa.Integer(), nullable=False),
        sa.Column("cpu_info", sa.Text(), nullable=False),
        sa.Column("memory_mb", sa.Integer(), nullable=False),
        sa.Column("local_gb", sa.Integer(), nullable=False),
        sa.Column("service_name", sa.String(length=255), nullable=False),
        sa.Column("availability_zone", sa.String(length=255), nullable=True),
        sa.Column("capacity", sa.JSON(), nullable=False),
        sa.Column("max_unit", sa.JSON(), nullable=False),
        sa.Column("traits", sa.JSON(), nullable=False),
        sa.Column("reservable", sa.Boolean(), nullable=False),
        sa.Column("out_until", sa.BigInteger(), nullable=True),
        sa.Column("trust_id", sa.String(length=255), nullable=True),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_hosts")),
        sa.UniqueConstraint("name", name=op.f("uq_hosts_name")),
    )
    op.create_table(
        "leases",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("sequence", sa.BigInteger(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("revision", sa.BigInteger(), nullable=False),
        sa.Column("name", sa.String(length=255), nullable=False),
        sa.Column("project_id", sa.String(length=255), nullable=False),
        sa.Column("user_id", sa.String(length=255), nullable=False),
        sa.Column("trust_id", sa.String(length=255), nullable=True),
        sa.Column("kind", sa.String(length=16), nullable=False),
        sa.Column("maintenance", sa.Boolean(), nullable=False),
        sa.Column("submitted", sa.BigInteger(), nullable=False),
        sa.Column("requested_start", sa.BigInteger(), nullable=True),
        sa.Column("duration", sa.BigInteger(), nullable=False),
        sa.Column("deadline", sa.BigInteger(), nullable=True),
        sa.Column("preemptible", sa.Boolean(), nullable=False),
        sa.Column("preemption_mode", sa.String(length=16), nullable=False),
        sa.Column("price", sa.Float(), nullable=True),
        sa.Column("before_end", sa.BigInteger(), nullable=True),
        sa.Column("nodes", sa.JSON(), nullable=False),
        sa.Column("servers", sa.JSON(), nullable=False),
        sa.Column("on_end", sa.String(length=16), nullable=False),
        sa.Column("extras", sa.JSON(), nullable=False),
        sa.Column("series_id", sa.String(length=36), nullable=True),
        sa.Column("state", sa.String(length=32), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("degraded", sa.Boolean(), nullable=False),
        sa.Column("before_end_done", sa.Boolean(), nullable=False),
        sa.Column("accumulated", sa.BigInteger(), nullable=False),
        sa.Column("started", sa.BigInteger(), nullable=True),
        sa.Column("ended", sa.BigInteger(), nullable=True),
        sa.Column("active_since", sa.BigInteger(), nullable=True),
        sa.Column("saved_on", sa.JSON(), nullable=True),
        sa.Column("planned_start", sa.BigInteger(), nullable=True),
        sa.Column("planned_end", sa.BigInteger(), nullable=True),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=True),
        sa.Column("deleted_at", sa.BigInteger(), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_leases")),
        sa.UniqueConstraint("sequence", name=op.f("uq_leases_sequence")),
    )
    op.create_index(op.f("ix_leases_deleted_at_sequence"), "leases", ["deleted_at", "sequence"], unique=False)
    op.create_index(op.f("ix_leases_ended_planned_end"), "leases", ["ended", "planned_end"], unique=False)
    op.create_index(
        op.f("ix_leases_project_id_deleted_at_sequence"),
        "leases",
        ["project_id", "deleted_at", "sequence"],
        unique=False,
    )
    op.create_index(op.f("ix_leases_revision"), "leases", ["revision"], unique=False)
    op.create_index(op.f("ix_leases_series_id"), "leases", ["series_id"], unique=False)
    op.create_table(
        "operations",
        sa.Column("id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("lease_id", sa.String(length=36), nullable=False),
        sa.Column("kind", sa.String(length=16), nullable=False),
        sa.Column("hosts", sa.JSON(), nullable=False),
        sa.Column("begun", sa.BigInteger(), nullable=False),
        sa.Column("due", sa.BigInteger(), nullable=False),
        sa.Column("step", sa.Integer(), nullable=False),
        sa.Column("migration", sa.JSON(), nullable=True),
        sa.Column("image", sa.JSON(), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_operations")),
    )
    op.create_index(op.f("ix_operations_lease_id"), "operations", ["lease_id"], unique=False)
    op.create_table(
        "outbox",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("event_type", sa.String(length=64), nullable=False),
        sa.Column("payload", sa.JSON(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_outbox")),
    )
    op.create_table(
        "resource_properties",
        sa.Column("resource_type", sa.String(length=64), nullable=False),
        sa.Column("name", sa.String(length=64), nullable=False),
        sa.Column("private", sa.Boolean(), nullable=False),
        sa.PrimaryKeyConstraint("resource_type", "name", name=op.f("pk_resource_properties")),
    )
    op.create_table(
        "series",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("project_id", sa.String(length=255), nullable=False),
        sa.Column("user_id", sa.String(length=255), nullable=False),
        sa.Column("name", sa.String(length=255), nullable=False),
        sa.Column("rule", sa.Text(), nullable=False),
        sa.Column("template", sa.JSON(), nullable=False),
        sa.Column("planned_until", sa.BigInteger(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("deleted_at", sa.BigInteger(), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_series")),
    )
    op.create_index(op.f("ix_series_project_id"), "series", ["project_id"], unique=False)
    op.create_table(
        "sites",
        sa.Column("name", sa.String(length=64), nullable=False),
        sa.Column("epoch", sa.BigInteger(), nullable=False),
        sa.Column("engine", sa.String(length=255), nullable=False),
        sa.Column("revision", sa.BigInteger(), nullable=False),
        sa.Column("next_sequence", sa.BigInteger(), nullable=False),
        sa.Column("clock", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_sites")),
    )
    op.create_table(
        "usage_records",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("lease_id", sa.String(length=36), nullable=False),
        sa.Column("project_id", sa.String(length=255), nullable=False),
        sa.Column("kind", sa.String(length=16), nullable=False),
        sa.Column("phase", sa.String(length=16), nullable=False),
        sa.Column("start", sa.BigInteger(), nullable=False),
        sa.Column("end", sa.BigInteger(), nullable=False),
        sa.Column("nodes", sa.Integer(), nullable=False),
        sa.Column("resources", sa.JSON(), nullable=False),
        sa.Column("hosts", sa.JSON(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_usage_records")),
    )
    op.create_index(op.f("ix_usage_records_end"), "usage_records", ["end"], unique=False)
    op.create_index(op.f("ix_usage_records_lease_id"), "usage_records", ["lease_id"], unique=False)
    op.create_index(op.f("ix_usage_records_project_id_end"), "usage_records", ["project_id", "end"], unique=False)
    op.create_table(
        "holdings",
        sa.Column("lease_id", sa.String(length=36), nullable=False),
        sa.Column("position", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("start", sa.BigInteger(), nullable=False),
        sa.Column("run_start", sa.BigInteger(), nullable=False),
        sa.Column("run_end", sa.BigInteger(), nullable=False),
        sa.Column("end", sa.BigInteger(), nullable=False),
        sa.Column("closing", sa.String(length=16), nullable=False),
        sa.Column("hosts", sa.JSON(), nullable=False),
        sa.Column("migrations", sa.JSON(), nullable=False),
        sa.ForeignKeyConstraint(["lease_id"], ["leases.id"], name=op.f("fk_holdings_lease_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("lease_id", "position", name=op.f("pk_holdings")),
    )
    op.create_index(op.f("ix_holdings_end"), "holdings", ["end"], unique=False)
    op.create_table(
        "host_properties",
        sa.Column("host_id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("name", sa.String(length=64), nullable=False),
        sa.Column("value", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["host_id"], ["hosts.id"], name=op.f("fk_host_properties_host_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("host_id", "name", name=op.f("pk_host_properties")),
    )
    op.create_table(
        "lease_history",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("lease_id", sa.String(length=36), nullable=False),
        sa.Column("instant", sa.BigInteger(), nullable=False),
        sa.Column("from_state", sa.String(length=32), nullable=False),
        sa.Column("to_state", sa.String(length=32), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["lease_id"], ["leases.id"], name=op.f("fk_lease_history_lease_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_lease_history")),
    )
    op.create_index(op.f("ix_lease_history_lease_id"), "lease_history", ["lease_id"], unique=False)
    op.create_table(
        "lease_reservations",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("lease_id", sa.String(length=36), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("resource_type", sa.String(length=64), nullable=False),
        sa.Column("resource_id", sa.String(length=36), nullable=False),
        sa.Column("terms", sa.JSON(), nullable=False),
        sa.Column("node_sets", sa.Integer(), nullable=False),
        sa.Column("first_node", sa.Integer(), nullable=False),
        sa.Column("node_count", sa.Integer(), nullable=False),
        sa.Column("missing_resources", sa.Boolean(), nullable=False),
        sa.Column("resources_changed", sa.Boolean(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=True),
        sa.ForeignKeyConstraint(
            ["lease_id"], ["leases.id"], name=op.f("fk_lease_reservations_lease_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_lease_reservations")),
    )
    op.create_index(op.f("ix_lease_reservations_lease_id"), "lease_reservations", ["lease_id"], unique=False)
