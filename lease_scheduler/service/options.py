"""The options of the service, as plain values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from lease_scheduler.engine.options import EngineOptions
from lease_scheduler.model.power import Watts
from lease_scheduler.service.requests.approval_rules import ApprovalRules
from lease_scheduler.service.requests.enforcement.bounds import Bounds
from lease_scheduler.service.telling.subscriptions.options import SubscriptionOptions
from lease_scheduler.service.upkeep.idle.deciding import IdleOptions


@dataclass(frozen=True)
class ServiceOptions:
    """Options of the service.

    :ivar engine: options of the engine itself
    :ivar workers: number of steps that the cloud carries out at the same time
    :ivar reconcile_interval: real seconds between two comparisons with the cloud
    :ivar minutes_before_end: minutes before the end of a lease at which its project is reminded, unless the lease says
        otherwise; 0 for no reminder
    :ivar minutes_before_start: minutes before the start of a lease at which its project is reminded; 0 for no reminder
    :ivar before_end: what ``default`` means as the action before the end of a reservation of hosts
    :ivar preemption_warning: seconds before the preemption of a running lease at which its project is warned; 0 for no
        warning
    :ivar announce_horizon: seconds ahead for which the cloud is told when leases start; 0 to tell nothing
    :ivar guest_assurances: probabilities for which the cloud is told how long servers without a lease are promised to
        run, the default first
    :ivar quote_lifetime: seconds for which an offer is held until the project accepts it
    :ivar counter_offers: maximum number of counter-offers in place of a lease that cannot be granted
    :ivar replacement_offers: whether replacements are offered for leases whose terms cannot be kept
    :ivar fallback_image_mb: size in MB to assume for a disk image of unknown size
    :ivar subscriptions: what projects may subscribe to
    :ivar idle: when projects are told of idle leases, and when these are ended
    :ivar needs_interval: real seconds between two measurements of what fluid leases use
    :ivar maximum_feeds: maximum number of secret addresses of a project; 0 for none
    :ivar flow_weights: configured weights of flows, by name
    :ivar flow_donor_property: property of hosts that names the project that donated them; empty for none
    :ivar watts: power that hosts take, unless their properties say something else
    :ivar approval: which leases need approval
    :ivar bounds: bounds on the duration and lead time of leases, and on offers
    """

    engine: EngineOptions = field(default_factory=EngineOptions)
    workers: int = 32
    reconcile_interval: float = 300.0
    minutes_before_end: int = 60
    minutes_before_start: int = 0
    before_end: str = ""
    preemption_warning: int = 120
    announce_horizon: int = 3600
    guest_assurances: tuple[float, ...] = ()
    quote_lifetime: int = 300
    counter_offers: int = 3
    replacement_offers: bool = False
    fallback_image_mb: int = 4_096
    bounds: Bounds = field(default_factory=Bounds)
    approval: ApprovalRules = field(default_factory=ApprovalRules)
    idle: IdleOptions = field(default_factory=IdleOptions)
    subscriptions: SubscriptionOptions = field(default_factory=SubscriptionOptions)
    needs_interval: int = 60
    maximum_feeds: int = 10
    flow_weights: Mapping[str, float] = field(default_factory=dict)
    flow_donor_property: str = ""
    watts: Watts = field(default_factory=Watts)
