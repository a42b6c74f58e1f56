"""The policies with which the engine of a site works, as one value."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from lease_scheduler.engine.state import EngineOptions
from lease_scheduler.model.host import Site
from lease_scheduler.plan.planner import Planner
from lease_scheduler.policy.admission.base import AdmissionPolicy
from lease_scheduler.policy.assurance.base import AssurancePolicy
from lease_scheduler.policy.base import Learnt, Policy, PolicyOptions
from lease_scheduler.policy.fractional.base import FractionalPolicy
from lease_scheduler.policy.penalty.base import PenaltyPolicy
from lease_scheduler.policy.power.base import PowerPolicy
from lease_scheduler.policy.pricing.base import PricingPolicy
from lease_scheduler.policy.pricing.free import Free
from lease_scheduler.policy.relocation.base import RelocationPolicy

#: Replaces the policies. Called with what policies have learnt, by (pool, family, name), then by subject.
ReplacePolicies = Callable[[Mapping[tuple[str, str, str], Mapping[str, Learnt]]], None]


def no_prices() -> PricingPolicy:
    """Return the policy with which leases have no prices."""
    return Free(PolicyOptions())


@dataclass(frozen=True)
class SitePolicies:
    """The policies of an engine.

    :ivar make_planner: makes a planner for a site, with the policies that are the planner's (``Planner.policies``)
    :ivar admission: decides which requests are planned at all
    :ivar make_pricing: makes a pricing policy that has learnt nothing yet
    :ivar penalty: computes the penalty for a breach; None if there are no penalties
    :ivar power: decides how many hosts sleep; None if none does by itself
    :ivar assurance: decides for how long leases are promised to run; None if nothing is promised
    :ivar relocation: decides which running leases move to other hosts; None if none does without need
    :ivar fractional: decides how fluid leases share CPU; None if there are none
    """

    make_planner: Callable[[Site], Planner]
    admission: AdmissionPolicy
    make_pricing: Callable[[], PricingPolicy] = no_prices
    penalty: PenaltyPolicy | None = None
    power: PowerPolicy | None = None
    assurance: AssurancePolicy | None = None
    relocation: RelocationPolicy | None = None
    fractional: FractionalPolicy | None = None


@dataclass(frozen=True)
class PoolPlanning:
    """How the leases of one pool are planned.

    :ivar policies: its policies
    :ivar engine: options of its engine
    :ivar hosts: patterns, as in a shell, of the names of hosts that join this pool unless the operator names another
    """

    policies: SitePolicies
    engine: EngineOptions
    hosts: tuple[str, ...] = ()


def learning_policies(policies: SitePolicies, planner: Planner, pricing: PricingPolicy) -> dict[str, Policy]:
    """Return the policies of an engine that can learn, by family."""
    found: dict[str, Any] = {
        "admission": policies.admission,
        **planner.policies,
        "pricing": pricing,
        "penalty": policies.penalty,
        "power": policies.power,
        "assurance": policies.assurance,
        "relocation": policies.relocation,
        "fractional": policies.fractional,
    }
    # The planner's own defaults are no policies.
    return {family: policy for family, policy in found.items() if hasattr(policy, "take_changes")}
