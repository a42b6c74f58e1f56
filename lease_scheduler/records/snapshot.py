"""Snapshot that an engine reads when it takes over a site."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from lease_scheduler.model.lease import Lease
from lease_scheduler.plan.transfers.caches import CachedImage
from lease_scheduler.records.documents import LeaseDocument
from lease_scheduler.records.feeds import FeedRecord
from lease_scheduler.records.idleness import Idleness
from lease_scheduler.records.intents import Intent
from lease_scheduler.records.pool import FloatingIpRecord, HostRecord
from lease_scheduler.records.series import SeriesRecord
from lease_scheduler.records.subscriptions import SubscriptionRecord


@dataclass(frozen=True)
class Snapshot:
    """Everything that an engine needs to continue where another one stopped.

    :ivar leases: live leases; their holdings have host numbers, which the ``units`` of the store translate
    :ivar documents: documents by lease id, of live leases and of leases that are still being removed from the cloud
    :ivar policy_state: what policies have learnt, by (pool, family, name of the policy), then by subject; the pool is
        empty if the site has only one
    :ivar lateness: seconds by which operations were late, by (pool, kind)
    :ivar cached_images: images that are assumed to be in the caches of hosts
    :ivar idleness: idle times of leases, by lease id
    :ivar subscriptions: subscriptions whose lease has not ended
    :ivar feeds: secret addresses of projects
    :ivar next_sequence: sequence number of the next lease
    :ivar next_intent: number of the next intent
    :ivar clock: instant of the last transaction
    """

    leases: tuple[Lease, ...]
    documents: Mapping[str, LeaseDocument]
    intents: tuple[Intent, ...]
    hosts: tuple[HostRecord, ...]
    floating_ips: tuple[FloatingIpRecord, ...]
    private_properties: Mapping[tuple[str, str], bool]
    series: tuple[SeriesRecord, ...]
    next_sequence: int
    next_intent: int
    clock: int
    policy_state: Mapping[tuple[str, str, str], Mapping[str, Any]] = field(default_factory=dict)
    lateness: Mapping[tuple[str, str], list[int]] = field(default_factory=dict)
    cached_images: tuple[CachedImage, ...] = ()
    subscriptions: tuple[SubscriptionRecord, ...] = ()
    idleness: Mapping[str, Idleness] = field(default_factory=dict)
    feeds: tuple[FeedRecord, ...] = ()
