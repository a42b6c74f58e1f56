"""The tables of a gateway. Its leases are in the tables of leases as well, where users see them."""

from __future__ import annotations

from sqlalchemy import JSON, BigInteger, Column, ForeignKey, Integer, String, Table

from lease_scheduler.store.sql.schema.base import ID, METADATA

#: Negotiations with members. ``version`` is compared with each write.
FEDERATED_LEASES = Table(
    "federated_leases",
    METADATA,
    Column("id", ID, ForeignKey("leases.id", ondelete="CASCADE"), primary_key=True),
    Column("version", Integer, nullable=False),
    Column("stage", String(16), nullable=False),
    Column("record", JSON, nullable=False),
    Column("due_at", BigInteger, index=True),
    Column("failures", Integer, nullable=False),
    Column("heard", BigInteger, nullable=False),
    Column("driver", String(255)),
    Column("driven_until", BigInteger),
)

#: What the router remembers, in one row.
ROUTING_STATE = Table(
    "routing_state",
    METADATA,
    Column("site", String(64), primary_key=True),
    Column("version", Integer, nullable=False),
    Column("state", JSON, nullable=False),
)

#: How far members were followed.
FOLLOWED_MEMBERS = Table(
    "followed_members",
    METADATA,
    Column("name", String(64), primary_key=True),
    Column("sequence", BigInteger, nullable=False),
    Column("unreachable_since", BigInteger),
)
