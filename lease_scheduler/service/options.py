"""What an operator sets about the service, as plain values."""

from __future__ import annotations

from dataclasses import dataclass, field

from lease_scheduler.engine.state import EngineOptions
from lease_scheduler.service.enforcement.bounds import Bounds


@dataclass(frozen=True)
class ServiceOptions:
    """Options of the service.

    :ivar engine: those of the engine itself
    :ivar workers: steps that the cloud carries out at the same time
    :ivar reconcile_interval: real seconds between two comparisons with the cloud
    :ivar minutes_before_end: how long before the end of a lease its consumer is told, unless the lease says otherwise
    :ivar before_end: what ``default`` means as the action before the end of a reservation of hosts
    :ivar announce_horizon: seconds ahead for which the cloud is told when leases begin; 0 to tell nothing
    :ivar quote_lifetime: seconds for which a lease is held for its consumer until he accepts it
    :ivar counter_offers: how many offers of other terms are made at most in place of one that cannot be had
    :ivar replacement_offers: whether others are offered in place of leases whose terms cannot be kept
    :ivar fallback_image_mb: what a disk image is thought to have of which nobody knows the size
    :ivar bounds: how long and how far ahead leases may be, and how much may be held
    :ivar preemption_warning: seconds before its servers are put away at which the consumer of a preempted lease is told
    """

    engine: EngineOptions = field(default_factory=EngineOptions)
    workers: int = 32
    reconcile_interval: float = 300.0
    minutes_before_end: int = 60
    before_end: str = ""
    preemption_warning: int = 120
    announce_horizon: int = 3600
    quote_lifetime: int = 300
    counter_offers: int = 3
    replacement_offers: bool = False
    fallback_image_mb: int = 4_096
    bounds: Bounds = field(default_factory=Bounds)
