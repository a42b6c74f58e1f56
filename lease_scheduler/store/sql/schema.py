"""The tables. Instants and durations are whole seconds (UTC); hosts are referred to by their id as text."""

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

#: SQLite numbers rows by itself only in a column of type INTEGER.
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
        case kinds.Amount() | kinds.Probability() | kinds.Part():
            return Double()
        case kinds.Span() | kinds.Whole():
            return BigInteger()
        case kinds.Pairs():
            return JSON()


LEASES = Table(
    "leases",
    METADATA,
    Column("id", _ID, primary_key=True),
    Column("sequence", BigInteger, nullable=False, unique=True),
    Column("version", Integer, nullable=False),
    Column("revision", BigInteger, nullable=False, index=True),
    # Attributes: terms and remarks of the project.
    *(Column(each.name, _type_of(each.kind), nullable=each.may_be_missing) for each in ATTRIBUTES),
    Column("kind", String(16), nullable=False),
    Column("submitted", BigInteger, nullable=False),
    Column("requested_start", BigInteger),
    Column("duration", BigInteger, nullable=False),
    Column("deadline", BigInteger),
    Column("before_end", BigInteger),
    Column("nodes", JSON, nullable=False),
    Column("servers", JSON, nullable=False),
    # Progress of the lease.
    Column("state", String(32), nullable=False),
    Column("reason", Text, nullable=False),
    Column("before_end_done", Boolean, nullable=False),
    # Start of which the project was reminded.
    Column("reminded_start", BigInteger),
    # Extensions: how many, their seconds together, and the longest duration that the lease has had.
    Column("extension_count", Integer),
    Column("extended_by", BigInteger),
    Column("longest_duration", BigInteger),
    Column("accumulated", BigInteger, nullable=False),
    Column("started", BigInteger),
    Column("ended", BigInteger),
    Column("active_since", BigInteger),
    Column("saved_on", JSON),
    # End of an offer that the project has not accepted yet.
    Column("offered_until", BigInteger),
    # The lease that was requested, if this is one of several offers made for it.
    Column("negotiation_id", _ID),
    # What has become of the approval that the lease needs; null if it needs none.
    Column("approval", String(16)),
    # Part of the price that was not refunded when the lease was reduced.
    Column("retained", Double),
    # Number of nodes that the lease lacks, and since when.
    Column("missing_since", BigInteger),
    Column("missing_nodes", Integer),
    # Money that the provider owes for breaches.
    Column("penalties", Double),
    # Progress of a fluid lease: virtual time in ms until an instant, and the yield since then in thousandths.
    Column("virtual_time", BigInteger),
    Column("yield", Integer),
    Column("yield_since", BigInteger),
    # Start and end as they are planned, or as they were.
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
    # The nodes of the lease from first_node up to, but excluding, first_node + node_count belong to this reservation.
    Column("first_node", Integer, nullable=False),
    Column("node_count", Integer, nullable=False),
    Column("missing_resources", Boolean, nullable=False),
    Column("resources_changed", Boolean, nullable=False),
    Column("created_at", BigInteger, nullable=False),
    Column("updated_at", BigInteger),
)

#: Present and planned holdings of a lease.
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

#: Intents that are not completed. ``step`` is the number of the next step.
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
    # Who asked for it; null if nobody did.
    Column("user_id", _KEYSTONE_ID, nullable=True),
    Column("project_id", _KEYSTONE_ID, nullable=True),
)

#: What leases actually occupied, for accounting. Only finished intervals have a row.
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

#: State that policies have learnt, for example about a project. ``policy.loader`` defines the families. The pool is
#: empty if the site has only one.
POLICY_STATE = Table(
    "policy_state",
    METADATA,
    Column("pool", String(64), primary_key=True, server_default=""),
    Column("family", String(64), primary_key=True),
    Column("policy", String(64), primary_key=True),
    Column("subject", String(255), primary_key=True),
    Column("state", JSON, nullable=False),
)

#: Earned and missed revenue, for accounting. Requests that did not become leases have rows too.
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

#: Terms that the provider did not keep, with the penalties.
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

#: Seconds by which operations were completed later than planned: the most recent values of each kind.
LATENESS = Table(
    "operation_lateness",
    METADATA,
    Column("pool", String(64), primary_key=True, server_default=""),
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
    # Nested resource providers; none where the host was last written before there were any.
    Column("providers", JSON),
    Column("reservable", Boolean, nullable=False),
    # Expected end of an outage of the host.
    Column("out_until", BigInteger),
    # Whether it is awake (model.power.PowerState), since when, and for how many seconds it has slept before.
    Column("power", String(16)),
    Column("power_since", BigInteger),
    Column("slept", BigInteger),
    Column("trust_id", _KEYSTONE_ID),
    Column("created_at", BigInteger, nullable=False),
    Column("updated_at", BigInteger),
    Column("pool", String(64)),
)

#: Changes of the capacity that the reservable hosts and addresses offer together, in service or not.
CAPACITY_CHANGES = Table(
    "capacity_changes",
    METADATA,
    Column("id", _SERIAL, primary_key=True),
    Column("instant", BigInteger, nullable=False, index=True),
    Column("resource_class", String(255), nullable=False),
    Column("change", BigInteger, nullable=False),
)

#: Disk images that are known or assumed to be in the caches of hosts.
CACHED_IMAGES = Table(
    "cached_images",
    METADATA,
    Column("host_id", Integer, ForeignKey("hosts.id", ondelete="CASCADE"), primary_key=True, autoincrement=False),
    Column("image_id", _KEYSTONE_ID, primary_key=True),
    # Instant at which a server last used the image, or at which it was transferred to the host.
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
    Column("pool", String(64)),
    UniqueConstraint("floating_ip_address"),
)

#: Series: rules by which leases repeat. Each occurrence is a lease of its own.
SERIES = Table(
    "series",
    METADATA,
    Column("id", _ID, primary_key=True),
    Column("project_id", _KEYSTONE_ID, nullable=False, index=True),
    Column("user_id", _KEYSTONE_ID, nullable=False),
    Column("name", String(255), nullable=False),
    Column("rule", Text, nullable=False),
    Column("time_zone", String(64)),
    Column("template", JSON, nullable=False),
    # Occurrences up to this instant have been requested; each became a lease or was refused.
    Column("planned_until", BigInteger, nullable=False),
    Column("created_at", BigInteger, nullable=False),
    Column("deleted_at", BigInteger),
)

#: Secret addresses at which calendar programs read the leases of a project. Only digests of the secrets are kept.
FEEDS = Table(
    "feeds",
    METADATA,
    Column("id", _ID, primary_key=True),
    Column("project_id", _KEYSTONE_ID, nullable=False, index=True),
    Column("user_id", _KEYSTONE_ID, nullable=False),
    Column("name", String(255), nullable=False),
    Column("digest", String(64), nullable=False, unique=True),
    Column("created_at", BigInteger, nullable=False),
)

#: Notifications to be sent; written in the same transaction as the change that they report.
OUTBOX = Table(
    "outbox",
    METADATA,
    Column("id", _SERIAL, primary_key=True),
    Column("event_type", String(64), nullable=False),
    Column("payload", JSON, nullable=False),
    Column("created_at", BigInteger, nullable=False),
)

#: Where projects want notifications sent. The columns from ``failures`` on are written by the threads that send.
# Leases whose servers use nothing; not columns of the lease, because they change often and are no new version of it.
IDLENESS = Table(
    "idleness",
    METADATA,
    Column("lease_id", _ID, ForeignKey("leases.id", ondelete="CASCADE"), primary_key=True),
    Column("since", BigInteger, nullable=False),
    # Seconds for which it was seen, and when it was last seen.
    Column("seconds", BigInteger, nullable=False),
    Column("seen", BigInteger, nullable=False),
    # Instant at which its project was told, and the seconds then.
    Column("told_at", BigInteger),
    Column("told_seconds", BigInteger, nullable=False),
)

SUBSCRIPTIONS = Table(
    "subscriptions",
    METADATA,
    Column("id", _ID, primary_key=True),
    Column("project_id", _KEYSTONE_ID, nullable=False, index=True),
    Column("user_id", _KEYSTONE_ID, nullable=False),
    Column("driver", String(16), nullable=False),
    Column("target", Text, nullable=False),
    Column("event_types", JSON, nullable=False),
    Column("lease_id", _ID),
    # Key of the signatures; it signs, so it cannot be stored as a hash.
    Column("secret", String(64)),
    Column("created_at", BigInteger, nullable=False),
    Column("updated_at", BigInteger),
    # Instant at which its lease ended.
    Column("ended_at", BigInteger),
    # Failed attempts since something was delivered. The instants that follow are in real time.
    Column("failures", Integer, nullable=False),
    Column("next_attempt_at", BigInteger),
    Column("delivered_at", BigInteger),
    Column("last_error", String(255)),
)

#: Notifications to be sent to a subscription; written in the same transaction as the change that they report.
DELIVERIES = Table(
    "deliveries",
    METADATA,
    Column("id", _SERIAL, primary_key=True),
    Column("delivery_id", _ID, nullable=False, unique=True),
    Column("subscription_id", _ID, ForeignKey("subscriptions.id", ondelete="CASCADE"), nullable=False),
    Column("event_type", String(64), nullable=False),
    Column("payload", JSON, nullable=False),
    # In real time.
    Column("created_at", BigInteger, nullable=False),
    Index(None, "subscription_id", "id"),
)
