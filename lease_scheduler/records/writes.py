"""What one transaction writes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from lease_scheduler.model.errors import LeaseSchedulerError
from lease_scheduler.model.lease import Lease
from lease_scheduler.plan.transfers.caches import CachedImage
from lease_scheduler.records.documents import LeaseDocument
from lease_scheduler.records.history import BreachRecord, RevenueRecord, Transition, UsageRecord
from lease_scheduler.records.intents import Intent
from lease_scheduler.records.messages import Message
from lease_scheduler.records.pool import FloatingIpRecord, HostRecord
from lease_scheduler.records.series import SeriesRecord


class DeposedError(LeaseSchedulerError):
    """Another engine has taken over the site; this one may write nothing any more."""


@dataclass
class StoreChanges:
    """Everything that one transaction writes.

    Hosts are named by their number in the plan, as in leases. A record that is none is removed.

    :ivar policy_state: what policies have learnt, by family, name of the policy and subject
    :ivar lateness: seconds by which operations were late, by kind
    :ivar cached_images: what a host has in its cache of images, by host and image
    :ivar deleted: leases that had come to their end before and are now taken from the lists, with the instant
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
    policy_state: dict[tuple[str, str, str], Mapping[str, Any]] = field(default_factory=dict)
    lateness: dict[str, list[int]] = field(default_factory=dict)
    messages: list[Message] = field(default_factory=list)
    hosts: dict[int, HostRecord | None] = field(default_factory=dict)
    floating_ips: dict[str, FloatingIpRecord | None] = field(default_factory=dict)
    private_properties: dict[tuple[str, str], bool] = field(default_factory=dict)
    series: dict[str, SeriesRecord] = field(default_factory=dict)
    deleted: dict[str, int] = field(default_factory=dict)
    cached_images: dict[tuple[int, str], CachedImage | None] = field(default_factory=dict)

    def is_empty(self) -> bool:
        """Whether there is nothing to write."""
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
            or self.deleted
            or self.cached_images
        )
