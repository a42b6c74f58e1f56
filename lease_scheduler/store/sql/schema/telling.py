"""The tables of what is told to others: feeds, notifications, and deliveries to subscribers."""

from __future__ import annotations

from sqlalchemy import JSON, BigInteger, Column, ForeignKey, Index, Integer, String, Table, Text

from lease_scheduler.store.sql.schema.base import ID, KEYSTONE_ID, METADATA, SERIAL

#: Secret addresses at which calendar programs read the leases of a project. Only digests of the secrets are kept.
FEEDS = Table(
    "feeds",
    METADATA,
    Column("id", ID, primary_key=True),
    Column("project_id", KEYSTONE_ID, nullable=False, index=True),
    Column("user_id", KEYSTONE_ID, nullable=False),
    Column("name", String(255), nullable=False),
    Column("digest", String(64), nullable=False, unique=True),
    Column("created_at", BigInteger, nullable=False),
)

#: Notifications to be sent; written in the same transaction as the change that they report.
OUTBOX = Table(
    "outbox",
    METADATA,
    Column("id", SERIAL, primary_key=True),
    Column("event_type", String(64), nullable=False),
    Column("payload", JSON, nullable=False),
    Column("created_at", BigInteger, nullable=False),
)

SUBSCRIPTIONS = Table(
    "subscriptions",
    METADATA,
    Column("id", ID, primary_key=True),
    Column("project_id", KEYSTONE_ID, nullable=False, index=True),
    Column("user_id", KEYSTONE_ID, nullable=False),
    Column("driver", String(16), nullable=False),
    Column("target", Text, nullable=False),
    Column("event_types", JSON, nullable=False),
    Column("lease_id", ID),
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
    Column("id", SERIAL, primary_key=True),
    Column("delivery_id", ID, nullable=False, unique=True),
    Column("subscription_id", ID, ForeignKey("subscriptions.id", ondelete="CASCADE"), nullable=False),
    Column("event_type", String(64), nullable=False),
    Column("payload", JSON, nullable=False),
    # In real time.
    Column("created_at", BigInteger, nullable=False),
    Index(None, "subscription_id", "id"),
)
