"""The tables of the first release. Development versions before it were migrated step by step; their steps are gone."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0021"
down_revision = None
branch_labels = None
depends_on = None

_SERIAL = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Create the tables."""
    op.create_table(
        "breaches",
        sa.Column("id", _SERIAL, nullable=False),
        sa.Column("lease_id", sa.String(36), nullable=False),
        sa.Column("project_id", sa.String(255), nullable=False),
        sa.Column("kind", sa.String(32), nullable=False),
        sa.Column("instant", sa.BigInteger(), nullable=False),
        sa.Column("seconds", sa.BigInteger(), nullable=False),
        sa.Column("node_seconds", sa.BigInteger(), nullable=False),
        sa.Column("penalty", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_breaches")),
    )
    op.create_index(op.f("ix_breaches_instant"), "breaches", ["instant"])
    op.create_index(op.f("ix_breaches_lease_id"), "breaches", ["lease_id"])
    op.create_index(op.f("ix_breaches_project_id_instant"), "breaches", ["project_id", "instant"])
    op.create_table(
        "capacity_changes",
        sa.Column("id", _SERIAL, nullable=False),
        sa.Column("instant", sa.BigInteger(), nullable=False),
        sa.Column("resource_class", sa.String(255), nullable=False),
        sa.Column("change", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_capacity_changes")),
    )
    op.create_index(op.f("ix_capacity_changes_instant"), "capacity_changes", ["instant"])
    op.create_table(
        "feeds",
        sa.Column("id", sa.String(36), nullable=False),
        sa.Column("project_id", sa.String(255), nullable=False),
        sa.Column("user_id", sa.String(255), nullable=False),
        sa.Column("name", sa.String(255), nullable=False),
        sa.Column("digest", sa.String(64), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_feeds")),
        sa.UniqueConstraint("digest", name=op.f("uq_feeds_digest")),
    )
    op.create_index(op.f("ix_feeds_project_id"), "feeds", ["project_id"])
    op.create_table(
        "floating_ips",
        sa.Column("id", sa.String(36), nullable=False),
        sa.Column("floating_network_id", sa.String(255), nullable=False),
        sa.Column("subnet_id", sa.String(255), nullable=True),
        sa.Column("floating_ip_address", sa.String(64), nullable=False),
        sa.Column("reservable", sa.Boolean(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=True),
        sa.Column("pool", sa.String(64), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_floating_ips")),
        sa.UniqueConstraint("floating_ip_address", name=op.f("uq_floating_ips_floating_ip_address")),
    )
    op.create_table(
        "hosts",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(255), nullable=False),
        sa.Column("hypervisor_type", sa.String(255), nullable=False),
        sa.Column("hypervisor_version", sa.Integer(), nullable=False),
        sa.Column("vcpus", sa.Integer(), nullable=False),
        sa.Column("cpu_info", sa.Text(), nullable=False),
        sa.Column("memory_mb", sa.Integer(), nullable=False),
        sa.Column("local_gb", sa.Integer(), nullable=False),
        sa.Column("service_name", sa.String(255), nullable=False),
        sa.Column("availability_zone", sa.String(255), nullable=True),
        sa.Column("capacity", sa.JSON(), nullable=False),
        sa.Column("max_unit", sa.JSON(), nullable=False),
        sa.Column("traits", sa.JSON(), nullable=False),
        sa.Column("providers", sa.JSON(), nullable=True),
        sa.Column("reservable", sa.Boolean(), nullable=False),
        sa.Column("out_until", sa.BigInteger(), nullable=True),
        sa.Column("power", sa.String(16), nullable=True),
        sa.Column("power_since", sa.BigInteger(), nullable=True),
        sa.Column("slept", sa.BigInteger(), nullable=True),
        sa.Column("trust_id", sa.String(255), nullable=True),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=True),
        sa.Column("pool", sa.String(64), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_hosts")),
        sa.UniqueConstraint("name", name=op.f("uq_hosts_name")),
    )
    op.create_table(
        "leases",
        sa.Column("id", sa.String(36), nullable=False),
        sa.Column("sequence", sa.BigInteger(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("revision", sa.BigInteger(), nullable=False),
        sa.Column("name", sa.String(255), nullable=False),
        sa.Column("project_id", sa.String(255), nullable=False),
        sa.Column("user_id", sa.String(255), nullable=False),
        sa.Column("trust_id", sa.String(255), nullable=True),
        sa.Column("maintenance", sa.Boolean(), nullable=False),
        sa.Column("description", sa.String(255), nullable=True),
        sa.Column("request_digest", sa.String(64), nullable=True),
        sa.Column("on_end", sa.String(16), nullable=False),
        sa.Column("series_id", sa.String(36), nullable=True),
        sa.Column("degraded", sa.Boolean(), nullable=False),
        sa.Column("preemptible", sa.Boolean(), nullable=False),
        sa.Column("preemption_mode", sa.String(16), nullable=False),
        sa.Column("price", sa.Double(), nullable=True),
        sa.Column("max_price", sa.Double(), nullable=True),
        sa.Column("extras", sa.JSON(), nullable=False),
        sa.Column("origin", sa.String(255), nullable=True),
        sa.Column("pool", sa.String(64), nullable=True),
        sa.Column("min_lifetime", sa.BigInteger(), nullable=True),
        sa.Column("assurance", sa.Double(), nullable=True),
        sa.Column("await_assurance", sa.Boolean(), server_default=sa.false(), nullable=False),
        sa.Column("assured", sa.String(16), nullable=True),
        sa.Column("assured_from", sa.BigInteger(), nullable=True),
        sa.Column("planned_lifetime", sa.BigInteger(), nullable=True),
        sa.Column("expected_wait", sa.BigInteger(), nullable=True),
        sa.Column("expected_wait_from", sa.BigInteger(), nullable=True),
        sa.Column("min_yield", sa.Double(), nullable=True),
        sa.Column("kind", sa.String(16), nullable=False),
        sa.Column("submitted", sa.BigInteger(), nullable=False),
        sa.Column("requested_start", sa.BigInteger(), nullable=True),
        sa.Column("duration", sa.BigInteger(), nullable=False),
        sa.Column("deadline", sa.BigInteger(), nullable=True),
        sa.Column("before_end", sa.BigInteger(), nullable=True),
        sa.Column("nodes", sa.JSON(), nullable=False),
        sa.Column("servers", sa.JSON(), nullable=False),
        sa.Column("state", sa.String(32), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("before_end_done", sa.Boolean(), nullable=False),
        sa.Column("reminded_start", sa.BigInteger(), nullable=True),
        sa.Column("extension_count", sa.Integer(), nullable=True),
        sa.Column("extended_by", sa.BigInteger(), nullable=True),
        sa.Column("longest_duration", sa.BigInteger(), nullable=True),
        sa.Column("accumulated", sa.BigInteger(), nullable=False),
        sa.Column("started", sa.BigInteger(), nullable=True),
        sa.Column("ended", sa.BigInteger(), nullable=True),
        sa.Column("active_since", sa.BigInteger(), nullable=True),
        sa.Column("saved_on", sa.JSON(), nullable=True),
        sa.Column("offered_until", sa.BigInteger(), nullable=True),
        sa.Column("negotiation_id", sa.String(36), nullable=True),
        sa.Column("retained", sa.Double(), nullable=True),
        sa.Column("missing_since", sa.BigInteger(), nullable=True),
        sa.Column("missing_nodes", sa.Integer(), nullable=True),
        sa.Column("penalties", sa.Double(), nullable=True),
        sa.Column("virtual_time", sa.BigInteger(), nullable=True),
        sa.Column("yield", sa.Integer(), nullable=True),
        sa.Column("yield_since", sa.BigInteger(), nullable=True),
        sa.Column("planned_start", sa.BigInteger(), nullable=True),
        sa.Column("planned_end", sa.BigInteger(), nullable=True),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=True),
        sa.Column("deleted_at", sa.BigInteger(), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_leases")),
        sa.UniqueConstraint("sequence", name=op.f("uq_leases_sequence")),
    )
    op.create_index(op.f("ix_leases_deleted_at_sequence"), "leases", ["deleted_at", "sequence"])
    op.create_index(op.f("ix_leases_ended_planned_end"), "leases", ["ended", "planned_end"])
    op.create_index(
        op.f("ix_leases_project_id_deleted_at_sequence"), "leases", ["project_id", "deleted_at", "sequence"]
    )
    op.create_index(op.f("ix_leases_revision"), "leases", ["revision"])
    op.create_index(op.f("ix_leases_series_id"), "leases", ["series_id"])
    op.create_table(
        "operation_lateness",
        sa.Column("pool", sa.String(64), server_default="", nullable=False),
        sa.Column("kind", sa.String(16), nullable=False),
        sa.Column("seconds", sa.JSON(), nullable=False),
        sa.PrimaryKeyConstraint("pool", "kind", name=op.f("pk_operation_lateness")),
    )
    op.create_table(
        "operations",
        sa.Column("id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("lease_id", sa.String(36), nullable=False),
        sa.Column("kind", sa.String(16), nullable=False),
        sa.Column("hosts", sa.JSON(), nullable=False),
        sa.Column("begun", sa.BigInteger(), nullable=False),
        sa.Column("due", sa.BigInteger(), nullable=False),
        sa.Column("step", sa.Integer(), nullable=False),
        sa.Column("migration", sa.JSON(), nullable=True),
        sa.Column("image", sa.JSON(), nullable=True),
        sa.Column("without", sa.JSON(), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_operations")),
    )
    op.create_index(op.f("ix_operations_lease_id"), "operations", ["lease_id"])
    op.create_table(
        "outbox",
        sa.Column("id", _SERIAL, nullable=False),
        sa.Column("event_type", sa.String(64), nullable=False),
        sa.Column("payload", sa.JSON(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_outbox")),
    )
    op.create_table(
        "policy_state",
        sa.Column("pool", sa.String(64), server_default="", nullable=False),
        sa.Column("family", sa.String(64), nullable=False),
        sa.Column("policy", sa.String(64), nullable=False),
        sa.Column("subject", sa.String(255), nullable=False),
        sa.Column("state", sa.JSON(), nullable=False),
        sa.PrimaryKeyConstraint("pool", "family", "policy", "subject", name=op.f("pk_policy_state")),
    )
    op.create_table(
        "resource_properties",
        sa.Column("resource_type", sa.String(64), nullable=False),
        sa.Column("name", sa.String(64), nullable=False),
        sa.Column("private", sa.Boolean(), nullable=False),
        sa.PrimaryKeyConstraint("resource_type", "name", name=op.f("pk_resource_properties")),
    )
    op.create_table(
        "revenue_records",
        sa.Column("id", _SERIAL, nullable=False),
        sa.Column("lease_id", sa.String(36), nullable=False),
        sa.Column("project_id", sa.String(255), nullable=False),
        sa.Column("instant", sa.BigInteger(), nullable=False),
        sa.Column("outcome", sa.String(32), nullable=False),
        sa.Column("price", sa.Double(), nullable=True),
        sa.Column("max_price", sa.Double(), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_revenue_records")),
    )
    op.create_index(op.f("ix_revenue_records_instant"), "revenue_records", ["instant"])
    op.create_index(op.f("ix_revenue_records_project_id_instant"), "revenue_records", ["project_id", "instant"])
    op.create_table(
        "series",
        sa.Column("id", sa.String(36), nullable=False),
        sa.Column("project_id", sa.String(255), nullable=False),
        sa.Column("user_id", sa.String(255), nullable=False),
        sa.Column("name", sa.String(255), nullable=False),
        sa.Column("rule", sa.Text(), nullable=False),
        sa.Column("template", sa.JSON(), nullable=False),
        sa.Column("planned_until", sa.BigInteger(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("deleted_at", sa.BigInteger(), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_series")),
    )
    op.create_index(op.f("ix_series_project_id"), "series", ["project_id"])
    op.create_table(
        "sites",
        sa.Column("name", sa.String(64), nullable=False),
        sa.Column("epoch", sa.BigInteger(), nullable=False),
        sa.Column("engine", sa.String(255), nullable=False),
        sa.Column("revision", sa.BigInteger(), nullable=False),
        sa.Column("next_sequence", sa.BigInteger(), nullable=False),
        sa.Column("clock", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_sites")),
    )
    op.create_table(
        "subscriptions",
        sa.Column("id", sa.String(36), nullable=False),
        sa.Column("project_id", sa.String(255), nullable=False),
        sa.Column("user_id", sa.String(255), nullable=False),
        sa.Column("driver", sa.String(16), nullable=False),
        sa.Column("target", sa.Text(), nullable=False),
        sa.Column("event_types", sa.JSON(), nullable=False),
        sa.Column("lease_id", sa.String(36), nullable=True),
        sa.Column("secret", sa.String(64), nullable=True),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=True),
        sa.Column("ended_at", sa.BigInteger(), nullable=True),
        sa.Column("failures", sa.Integer(), nullable=False),
        sa.Column("next_attempt_at", sa.BigInteger(), nullable=True),
        sa.Column("delivered_at", sa.BigInteger(), nullable=True),
        sa.Column("last_error", sa.String(255), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_subscriptions")),
    )
    op.create_index(op.f("ix_subscriptions_project_id"), "subscriptions", ["project_id"])
    op.create_table(
        "usage_records",
        sa.Column("id", _SERIAL, nullable=False),
        sa.Column("lease_id", sa.String(36), nullable=False),
        sa.Column("project_id", sa.String(255), nullable=False),
        sa.Column("kind", sa.String(16), nullable=False),
        sa.Column("phase", sa.String(16), nullable=False),
        sa.Column("start", sa.BigInteger(), nullable=False),
        sa.Column("end", sa.BigInteger(), nullable=False),
        sa.Column("nodes", sa.Integer(), nullable=False),
        sa.Column("resources", sa.JSON(), nullable=False),
        sa.Column("hosts", sa.JSON(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_usage_records")),
    )
    op.create_index(op.f("ix_usage_records_end"), "usage_records", ["end"])
    op.create_index(op.f("ix_usage_records_lease_id"), "usage_records", ["lease_id"])
    op.create_index(op.f("ix_usage_records_project_id_end"), "usage_records", ["project_id", "end"])
    op.create_table(
        "cached_images",
        sa.Column("host_id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("image_id", sa.String(255), nullable=False),
        sa.Column("used", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["host_id"], ["hosts.id"], name=op.f("fk_cached_images_host_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("host_id", "image_id", name=op.f("pk_cached_images")),
    )
    op.create_table(
        "deliveries",
        sa.Column("id", _SERIAL, nullable=False),
        sa.Column("delivery_id", sa.String(36), nullable=False),
        sa.Column("subscription_id", sa.String(36), nullable=False),
        sa.Column("event_type", sa.String(64), nullable=False),
        sa.Column("payload", sa.JSON(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["subscription_id"], ["subscriptions.id"], name=op.f("fk_deliveries_subscription_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_deliveries")),
        sa.UniqueConstraint("delivery_id", name=op.f("uq_deliveries_delivery_id")),
    )
    op.create_index(op.f("ix_deliveries_subscription_id_id"), "deliveries", ["subscription_id", "id"])
    op.create_table(
        "holdings",
        sa.Column("lease_id", sa.String(36), nullable=False),
        sa.Column("position", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("start", sa.BigInteger(), nullable=False),
        sa.Column("run_start", sa.BigInteger(), nullable=False),
        sa.Column("run_end", sa.BigInteger(), nullable=False),
        sa.Column("end", sa.BigInteger(), nullable=False),
        sa.Column("closing", sa.String(16), nullable=False),
        sa.Column("hosts", sa.JSON(), nullable=False),
        sa.Column("migrations", sa.JSON(), nullable=False),
        sa.ForeignKeyConstraint(["lease_id"], ["leases.id"], name=op.f("fk_holdings_lease_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("lease_id", "position", name=op.f("pk_holdings")),
    )
    op.create_index(op.f("ix_holdings_end"), "holdings", ["end"])
    op.create_table(
        "host_properties",
        sa.Column("host_id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("name", sa.String(64), nullable=False),
        sa.Column("value", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["host_id"], ["hosts.id"], name=op.f("fk_host_properties_host_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("host_id", "name", name=op.f("pk_host_properties")),
    )
    op.create_table(
        "idleness",
        sa.Column("lease_id", sa.String(36), nullable=False),
        sa.Column("since", sa.BigInteger(), nullable=False),
        sa.Column("seconds", sa.BigInteger(), nullable=False),
        sa.Column("seen", sa.BigInteger(), nullable=False),
        sa.Column("told_at", sa.BigInteger(), nullable=True),
        sa.Column("told_seconds", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["lease_id"], ["leases.id"], name=op.f("fk_idleness_lease_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("lease_id", name=op.f("pk_idleness")),
    )
    op.create_table(
        "lease_history",
        sa.Column("id", _SERIAL, nullable=False),
        sa.Column("lease_id", sa.String(36), nullable=False),
        sa.Column("instant", sa.BigInteger(), nullable=False),
        sa.Column("from_state", sa.String(32), nullable=False),
        sa.Column("to_state", sa.String(32), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["lease_id"], ["leases.id"], name=op.f("fk_lease_history_lease_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_lease_history")),
    )
    op.create_index(op.f("ix_lease_history_lease_id"), "lease_history", ["lease_id"])
    op.create_table(
        "lease_reservations",
        sa.Column("id", sa.String(36), nullable=False),
        sa.Column("lease_id", sa.String(36), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("resource_type", sa.String(64), nullable=False),
        sa.Column("resource_id", sa.String(36), nullable=False),
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
    op.create_index(op.f("ix_lease_reservations_lease_id"), "lease_reservations", ["lease_id"])
