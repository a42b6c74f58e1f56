"""The tables of leases: their terms, where they run, and what has happened to them."""

from __future__ import annotations

from typing import Any

from sqlalchemy import JSON, BigInteger, Boolean, Column, Double, ForeignKey, Index, Integer, String, Table, Text
from sqlalchemy.types import TypeEngine

from lease_scheduler.model import attributes as kinds
from lease_scheduler.records.attributes import ATTRIBUTES
from lease_scheduler.store.sql.schema.base import ID, KEYSTONE_ID, METADATA, SERIAL


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
        case kinds.Texts() | kinds.Keyed():
            return JSON(none_as_null=True)


LEASES = Table(
    "leases",
    METADATA,
    Column("id", ID, primary_key=True),
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
    Column("negotiation_id", ID),
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
    Index(None, "site_lease_id"),
    Index(None, "deleted_at", "sequence"),
    Index(None, "project_id", "deleted_at", "sequence"),
    Index(None, "ended", "planned_end"),
)

LEASE_RESERVATIONS = Table(
    "lease_reservations",
    METADATA,
    Column("id", ID, primary_key=True),
    Column("lease_id", ID, ForeignKey("leases.id", ondelete="CASCADE"), nullable=False, index=True),
    Column("position", Integer, nullable=False),
    Column("resource_type", String(64), nullable=False),
    Column("resource_id", ID, nullable=False),
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
    Column("lease_id", ID, ForeignKey("leases.id", ondelete="CASCADE"), primary_key=True),
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
    Column("lease_id", ID, nullable=False, index=True),
    Column("kind", String(16), nullable=False),
    Column("hosts", JSON, nullable=False),
    Column("begun", BigInteger, nullable=False),
    Column("due", BigInteger, nullable=False),
    Column("step", Integer, nullable=False),
    Column("migration", JSON),
    Column("image", JSON),
    Column("without", JSON),
)

#: Every transition of a lease, with its reason. Programs that follow the site read it by its ids, so none is reused.
HISTORY = Table(
    "lease_history",
    METADATA,
    Column("id", SERIAL, primary_key=True),
    Column("lease_id", ID, ForeignKey("leases.id", ondelete="CASCADE"), nullable=False, index=True),
    Column("instant", BigInteger, nullable=False),
    Column("from_state", String(32), nullable=False),
    Column("to_state", String(32), nullable=False),
    Column("reason", Text, nullable=False),
    # Who asked for it; null if nobody did.
    Column("user_id", KEYSTONE_ID, nullable=True),
    Column("project_id", KEYSTONE_ID, nullable=True),
    sqlite_autoincrement=True,
)

#: Series: rules by which leases repeat. Each occurrence is a lease of its own.
SERIES = Table(
    "series",
    METADATA,
    Column("id", ID, primary_key=True),
    Column("project_id", KEYSTONE_ID, nullable=False, index=True),
    Column("user_id", KEYSTONE_ID, nullable=False),
    Column("name", String(255), nullable=False),
    Column("rule", Text, nullable=False),
    Column("time_zone", String(64)),
    Column("template", JSON, nullable=False),
    # Occurrences up to this instant have been requested; each became a lease or was refused.
    Column("planned_until", BigInteger, nullable=False),
    Column("created_at", BigInteger, nullable=False),
    Column("deleted_at", BigInteger),
)
