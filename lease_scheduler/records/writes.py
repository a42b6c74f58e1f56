"""Changes that one transaction writes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from lease_scheduler.model.errors import LeaseSchedulerError
from lease_scheduler.model.lease import Lease
from lease_scheduler.plan.transfers.caches import CachedImage
from lease_scheduler.records.documents import LeaseDocument
from lease_scheduler.records.feeds import FeedRecord
from lease_scheduler.records.history import BreachRecord, RevenueRecord, Transition, UsageRecord
from lease_scheduler.records.idleness import Idleness
from lease_scheduler.records.intents import Intent
from lease_scheduler.records.messages import Message
from lease_scheduler.records.pool import FloatingIpRecord, HostRecord
from lease_scheduler.records.series import SeriesRecord
from lease_scheduler.records.subscriptions import Delivery, SubscriptionRecord


class DeposedError(LeaseSchedulerError):
    """Another engine has taken over the site, so this one may not write."""


@dataclass
class StoreChanges:
    """Everything that one transaction writes.

    Leases, intents, usage and cached images name hosts by their number in the plan. A record that is None is deleted.

    :ivar begun: new intents
    :ivar over: ids of the intents that have ended
    :ivar policy_state: what policies have learnt, by (pool, family, name of the policy, subject); the pool is empty if
        the site has only one
    :ivar lateness: seconds by which operations were late, by (pool, kind)
    :ivar hosts: hosts by id
    :ivar floating_ips: floating IPs by id
    :ivar private_properties: whether only administrators see a property, by (resource type, name)
    :ivar deleted: ended leases that are removed from the lists now -> instant of the removal
    :ivar subscriptions: subscriptions by id
    :ivar deliveries: notifications for subscriptions that are in the store or in these changes
    :ivar idleness: idle times of leases, by lease id
    :ivar feeds: secret addresses of projects by id
    :ivar cached_images: images in the caches of hosts, by (host number, image id)
    """

    instant: int
    leases: dict[str, Lease] = field(default_factory=dict)
    documents: dict[str, LeaseDocument] = field(default_factory=dict)
    transitions: list[Transition] = field(default_factory=list)
    begun: list[Intent] = field(default_factory=list)
    over: list[int] = field(default_factory=list)
    usage: list[UsageRecord] = field(default_factory=list)
    revenue: list[RevenueRecord] = field(default_factory=list)
    breaches: list[BreachRecord] = field(default_factory=list)
    policy_state: dict[tuple[str, str, str, str], Mapping[str, Any] | None] = field(default_factory=dict)
    lateness: dict[tuple[str, str], list[int]] = field(default_factory=dict)
    messages: list[Message] = field(default_factory=list)
    hosts: dict[int, HostRecord | None] = field(default_factory=dict)
    floating_ips: dict[str, FloatingIpRecord | None] = field(default_factory=dict)
    private_properties: dict[tuple[str, str], bool] = field(default_factory=dict)
    series: dict[str, SeriesRecord] = field(default_factory=dict)
    subscriptions: dict[str, SubscriptionRecord | None] = field(default_factory=dict)
    deliveries: list[Delivery] = field(default_factory=list)
    feeds: dict[str, FeedRecord | None] = field(default_factory=dict)
    deleted: dict[str, int] = field(default_factory=dict)
    cached_images: dict[tuple[int, str], CachedImage | None] = field(default_factory=dict)
    idleness: dict[str, Idleness | None] = field(default_factory=dict)

    def is_empty(self) -> bool:
        """Return whether there is nothing to write."""
        return not (
            self.leases
            or self.documents
            or self.transitions
            or self.begun
            or self.over
            or self.usage
            or self.revenue
            or self.breaches
            or self.policy_state
            or self.lateness
            or self.messages
            or self.hosts
            or self.floating_ips
            or self.private_properties
            or self.series
            or self.subscriptions
            or self.deliveries
            or self.feeds
            or self.deleted
            or self.cached_images
            or self.idleness
        )
