"""The policies with which the engine of a site works, as one value."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from lease_scheduler.engine.interfaces import Admission, Penalty
from lease_scheduler.model.host import Site
from lease_scheduler.plan.planner import Planner
from lease_scheduler.policy.base import PolicyOptions
from lease_scheduler.policy.pricing.base import Kept, PricingPolicy
from lease_scheduler.policy.pricing.free import Free

#: Exchanges the policies; told what each pricing policy has learnt, by its name.
ReplacePolicies = Callable[[Mapping[str, Mapping[str, Kept]]], None]


def no_prices() -> PricingPolicy:
    """Return the policy with which leases have no prices."""
    return Free(PolicyOptions())


@dataclass(frozen=True)
class SitePolicies:
    """What decides for an engine.

    :ivar make_planner: makes a planner for a site; host selection, preemption and mapper are the planner's
    :ivar admission: decides which requests are planned at all
    :ivar make_pricing: makes a pricing policy that has learnt nothing yet
    :ivar penalty: says what terms cost that are not kept; None if they cost nothing
    """

    make_planner: Callable[[Site], Planner]
    admission: Admission
    make_pricing: Callable[[], PricingPolicy] = no_prices
    penalty: Penalty | None = None
