"""The tables of what leases have used, cost and taught."""

from __future__ import annotations

from sqlalchemy import JSON, BigInteger, Column, Double, Index, Integer, String, Table

from lease_scheduler.store.sql.schema.base import ID, KEYSTONE_ID, METADATA, SERIAL

#: What leases actually occupied, for accounting. Only finished intervals have a row.
USAGE = Table(
    "usage_records",
    METADATA,
    Column("id", SERIAL, primary_key=True),
    Column("lease_id", ID, nullable=False, index=True),
    Column("project_id", KEYSTONE_ID, nullable=False),
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
    Column("id", SERIAL, primary_key=True),
    Column("lease_id", ID, nullable=False),
    Column("project_id", KEYSTONE_ID, nullable=False),
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
    Column("id", SERIAL, primary_key=True),
    Column("lease_id", ID, nullable=False, index=True),
    Column("project_id", KEYSTONE_ID, nullable=False),
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
