"""The tables. Instants and durations are whole seconds (UTC); hosts are referred to by their id as text."""

from __future__ import annotations

from lease_scheduler.store.sql.schema.accounts import (
    BREACHES,
    LATENESS,
    POLICY_STATE,
    REVENUE,
    USAGE,
)
from lease_scheduler.store.sql.schema.base import (
    METADATA,
)
from lease_scheduler.store.sql.schema.federation import (
    FEDERATED_LEASES,
    FOLLOWED_MEMBERS,
    ROUTING_STATE,
)
from lease_scheduler.store.sql.schema.leases import (
    HISTORY,
    HOLDINGS,
    LEASE_RESERVATIONS,
    LEASES,
    OPERATIONS,
    SERIES,
)
from lease_scheduler.store.sql.schema.pool import (
    CACHED_IMAGES,
    CAPACITY_CHANGES,
    FLOATING_IPS,
    HOST_PROPERTIES,
    HOSTS,
    IDLENESS,
    RESOURCE_PROPERTIES,
    SITES,
)
from lease_scheduler.store.sql.schema.telling import (
    DELIVERIES,
    FEEDS,
    OUTBOX,
    SUBSCRIPTIONS,
)

__all__ = [
    "BREACHES",
    "CACHED_IMAGES",
    "CAPACITY_CHANGES",
    "DELIVERIES",
    "FEDERATED_LEASES",
    "FEEDS",
    "FLOATING_IPS",
    "FOLLOWED_MEMBERS",
    "HISTORY",
    "HOLDINGS",
    "HOSTS",
    "HOST_PROPERTIES",
    "IDLENESS",
    "LATENESS",
    "LEASES",
    "LEASE_RESERVATIONS",
    "METADATA",
    "OPERATIONS",
    "OUTBOX",
    "POLICY_STATE",
    "RESOURCE_PROPERTIES",
    "REVENUE",
    "ROUTING_STATE",
    "SERIES",
    "SITES",
    "SUBSCRIPTIONS",
    "USAGE",
]
