"""The tables. Instants and durations are whole seconds (UTC), hosts are named by their id as text."""

from __future__ import annotations

from typing import Any

from sqlalchemy import (
    JSON,
    BigInteger,
    Boolean,
    Column,
    Double,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    String,
    Table,
    Text,
    UniqueConstraint,
)
from sqlalchemy.types import TypeEngine

from lease_scheduler.model import attributes as kinds
from lease_scheduler.records.attributes import ATTRIBUTES

#: Names of constraints are fixed, so that migrations can name them on every database.
METADATA = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "fk": "fk_%(table_name)s_%(column_0_name)s",
        "pk": "pk_%(table_name)s",
    }
)

#: SQLite counts rows up by itself only where the column is a plain INTEGER.
_SERIAL = BigInteger().with_variant(Integer, "sqlite")
_ID = String(36)
_KEYSTONE_ID = String(255)

#: One row per site. ``epoch`` is the fencing number of the engine that may write; ``revision`` counts its transactions.
SITES = Table(
    "sites",
    METADATA,
    Column("name", String(64), primary_key=True),
    Column("epoch", BigInteger, nullable=False),
    Column("engine", String(255), nullable=False),
    Column("revision", BigInteger, nullable=False),
    Column("next_sequence", BigInteger, nullable=False),
    Column("clock", BigInteger, nullable=False),
)


def _type_of(kind: kinds.Kind) -> TypeEngine[Any]:
    """Return the type of the column of an attribute."""
    match kind:
        case kinds.Text(maximum):
            return String(maximum)
        case kinds.Choice():
            return String(16)
        case kinds.Flag():
            return Boolean()
        case kinds.Amount():
            return Double()
        case kinds.Pairs():
            return JSON()


LEASES = Table(
    "leases",
    METADATA,
    Column("id", _ID, primary_key=True),
    Column("sequence", BigInteger, nullable=False, unique=True),
    Column("version", Integer, nullable=False),
    Column("revision", BigInteger, nullable=False, index=True),
    # What the project says, and what else is an attribute.
    *(Column(each.name, _type_of(each.kind), nullable=each.may_be_missing) for each in ATTRIBUTES),
    Column("kind", String(16), nullable=False),
    Column("submitted", BigInteger, nullable=False),
    Column("requested_start", BigInteger),
    Column("duration", BigInteger, nullable=False),
    Column("deadline", BigInteger),
    Column("before_end", BigInteger),
    Column("nodes", JSON, nullable=False),
    Column("servers", JSON, nullable=False),
    # What has become of it.
    Column("state", String(32), nullable=False),
    Column("reason", Text, nullable=False),
    Column("before_end_done", Boolean, nullable=False),
    Column("accumulated", BigInteger, nullable=False),
    Column("started", BigInteger),
    Column("ended", BigInteger),
    Column("active_since", BigInteger),
    Column("saved_on", JSON),
    # Until when it is held for its consumer, who has not accepted it yet.
    Column("offered_until", BigInteger),
    # The lease that was asked for, of which this is one of several offers.
    Column("negotiation_id", _ID),
    # What of the price was not given back when the lease became smaller.
    Column("retained", Double),
    # Nodes that it does without, and since when.
    Column("missing_since", BigInteger),
    Column("missing_nodes", Integer),
    # What the provider owes for terms that were not kept.
    Column("penalties", Double),
    # From the first instant that is planned for it, or was, until the last.
    Column("planned_start", BigInteger),
    Column("planned_end", BigInteger),
    Column("created_at", BigInteger, nullable=False),
    Column("updated_at", BigInteger),
    Column("deleted_at", BigInteger),
    Index(None, "series_id"),
    Index(None, "deleted_at", "sequence"),
    Index(None, "project_id", "deleted_at", "sequence"),
    Index(None, "ended", "planned_end"),
)

LEASE_RESERVATIONS = Table(
    "lease_reservations",
    METADATA,
    Column("id", _ID, primary_key=True),
    Column("lease_id", _ID, ForeignKey("leases.id", ondelete="CASCADE"), nullable=False, index=True),
    Column("position", Integer, nullable=False),
    Column("resource_type", String(64), nullable=False),
    Column("resource_id", _ID, nullable=False),
    Column("terms", JSON, nullable=False),
    Column("node_sets", Integer, nullable=False),
    # VMs of the lease that are this reservation's: numbers first_node to first_node + node_count.
    Column("first_node", Integer, nullable=False),
    Column("node_count", Integer, nullable=False),
    Column("missing_resources", Boolean, nullable=False),
    Column("resources_changed", Boolean, nullable=False),
    Column("created_at", BigInteger, nullable=False),
    Column("updated_at", BigInteger),
)

#: What a lease holds now and later.
HOLDINGS = Table(
    "holdings",
    METADATA,
    Column("lease_id", _ID, ForeignKey("leases.id", ondelete="CASCADE"), primary_key=True),
    Column("position", Integer, primary_key=True, autoincrement=False),
    Column("start", BigInteger, nullable=False),
    Column("run_start", BigInteger, nullable=False),
    Column("run_end", BigInteger, nullable=False),
    Column("end", BigInteger, nullable=False),
    Column("closing", String(16), nullable=False),
    Column("hosts", JSON, nullable=False),
    Column("migrations", JSON, nullable=False),
    Index(None, "end"),
)

#: Intents: what the cloud has been told to do and has not reported back. ``step`` is the next one to be done.
OPERATIONS = Table(
    "operations",
    METADATA,
    Column("id", BigInteger, primary_key=True, autoincrement=False),
    Column("lease_id", _ID, nullable=False, index=True),
    Column("kind", String(16), nullable=False),
    Column("hosts", JSON, nullable=False),
    Column("begun", BigInteger, nullable=False),
    Column("due", BigInteger, nullable=False),
    Column("step", Integer, nullable=False),
    Column("migration", JSON),
    Column("image", JSON),
    Column("without", JSON),
)

#: Every transition of a lease, with its reason.
HISTORY = Table(
    "lease_history",
    METADATA,
    Column("id", _SERIAL, primary_key=True),
    Column("lease_id", _ID, ForeignKey("leases.id", ondelete="CASCADE"), nullable=False, index=True),
    Column("instant", BigInteger, nullable=False),
    Column("from_state", String(32), nullable=False),
    Column("to_state", String(32), nullable=False),
    Column("reason", Text, nullable=False),
)

#: What leases really occupied, for accounting: whole intervals that are over.
USAGE = Table(
    "usage_records",
    METADATA,
    Column("id", _SERIAL, primary_key=True),
    Column("lease_id", _ID, nullable=False, index=True),
    Column("project_id", _KEYSTONE_ID, nullable=False),
    Column("kind", String(16), nullable=False),
    Column("phase", String(16), nullable=False),
    Column("start", BigInteger, nullable=False),
    Column("end", BigInteger, nullable=False),
    Column("nodes", Integer, nullable=False),
    Column("resources", JSON, nullable=False),
    Column("hosts", JSON, nullable=False),
    Index(None, "project_id", "end"),
    Index(None, "end"),
)

#: What policies have learnt, for example about a project. The family is that of ``policy.loader``.
POLICY_STATE = Table(
    "policy_state",
    METADATA,
    Column("family", String(64), primary_key=True),
    Column("policy", String(64), primary_key=True),
    Column("subject", String(255), primary_key=True),
    Column("state", JSON, nullable=False),
)

#: What was earned and what was not, for accounting; also of requests that never became leases.
REVENUE = Table(
    "revenue_records",
    METADATA,
    Column("id", _SERIAL, primary_key=True),
    Column("lease_id", _ID, nullable=False),
    Column("project_id", _KEYSTONE_ID, nullable=False),
    Column("instant", BigInteger, nullable=False),
    Column("outcome", String(32), nullable=False),
    Column("price", Double),
    Column("max_price", Double),
    Index(None, "project_id", "instant"),
    Index(None, "instant"),
)

#: Terms of leases that were not kept, with what the provider owes for that.
BREACHES = Table(
    "breaches",
    METADATA,
    Column("id", _SERIAL, primary_key=True),
    Column("lease_id", _ID, nullable=False, index=True),
    Column("project_id", _KEYSTONE_ID, nullable=False),
    Column("kind", String(32), nullable=False),
    Column("instant", BigInteger, nullable=False),
    Column("seconds", BigInteger, nullable=False),
    Column("node_seconds", BigInteger, nullable=False),
    Column("penalty", Double, nullable=False),
    Index(None, "project_id", "instant"),
    Index(None, "instant"),
)

#: How many seconds later than planned operations were completed, the last ones of every kind.
LATENESS = Table(
    "operation_lateness",
    METADATA,
    Column("kind", String(16), primary_key=True),
    Column("seconds", JSON, nullable=False),
)

HOSTS = Table(
    "hosts",
    METADATA,
    Column("id", Integer, primary_key=True),
    Column("name", String(255), nullable=False, unique=True),
    Column("hypervisor_type", String(255), nullable=False),
    Column("hypervisor_version", Integer, nullable=False),
    Column("vcpus", Integer, nullable=False),
    Column("cpu_info", Text, nullable=False),
    Column("memory_mb", Integer, nullable=False),
    Column("local_gb", Integer, nullable=False),
    Column("service_name", String(255), nullable=False),
    Column("availability_zone", String(255)),
    Column("capacity", JSON, nullable=False),
    Column("max_unit", JSON, nullable=False),
    Column("traits", JSON, nullable=False),
    Column("reservable", Boolean, nullable=False),
    # Until when a host that is out of service is thought to be so.
    Column("out_until", BigInteger),
    Column("trust_id", _KEYSTONE_ID),
    Column("created_at", BigInteger, nullable=False),
    Column("updated_at", BigInteger),
)

#: By how much what hosts and addresses of the pool offer together has changed, whether they are in service or not.
CAPACITY_CHANGES = Table(
    "capacity_changes",
    METADATA,
    Column("id", _SERIAL, primary_key=True),
    Column("instant", BigInteger, nullable=False, index=True),
    Column("resource_class", String(255), nullable=False),
    Column("change", BigInteger, nullable=False),
)

#: Disk images in the caches of hosts, as far as it is known or thought to be so.
CACHED_IMAGES = Table(
    "cached_images",
    METADATA,
    Column("host_id", Integer, ForeignKey("hosts.id", ondelete="CASCADE"), primary_key=True, autoincrement=False),
    Column("image_id", _KEYSTONE_ID, primary_key=True),
    # When a server used it last, or it was brought there.
    Column("used", BigInteger, nullable=False),
)

HOST_PROPERTIES = Table(
    "host_properties",
    METADATA,
    Column("host_id", Integer, ForeignKey("hosts.id", ondelete="CASCADE"), primary_key=True, autoincrement=False),
    Column("name", String(64), primary_key=True),
    Column("value", Text, nullable=False),
)

RESOURCE_PROPERTIES = Table(
    "resource_properties",
    METADATA,
    Column("resource_type", String(64), primary_key=True),
    Column("name", String(64), primary_key=True),
    Column("private", Boolean, nullable=False),
)

FLOATING_IPS = Table(
    "floating_ips",
    METADATA,
    Column("id", _ID, primary_key=True),
    Column("floating_network_id", String(255), nullable=False),
    Column("subnet_id", String(255)),
    Column("floating_ip_address", String(64), nullable=False),
    Column("reservable", Boolean, nullable=False),
    Column("created_at", BigInteger, nullable=False),
    Column("updated_at", BigInteger),
    UniqueConstraint("floating_ip_address"),
)

#: Leases that repeat by a rule; each occurrence is a lease of its own.
SERIES = Table(
    "series",
    METADATA,
    Column("id", _ID, primary_key=True),
    Column("project_id", _KEYSTONE_ID, nullable=False, index=True),
    Column("user_id", _KEYSTONE_ID, nullable=False),
    Column("name", String(255), nullable=False),
    Column("rule", Text, nullable=False),
    Column("template", JSON, nullable=False),
    # Occurrences up to this instant are leases, or were refused.
    Column("planned_until", BigInteger, nullable=False),
    Column("created_at", BigInteger, nullable=False),
    Column("deleted_at", BigInteger),
)

#: Notifications that wait to be sent; written with the change that they tell of.
OUTBOX = Table(
    "outbox",
    METADATA,
    Column("id", _SERIAL, primary_key=True),
    Column("event_type", String(64), nullable=False),
    Column("payload", JSON, nullable=False),
    Column("created_at", BigInteger, nullable=False),
)
