"""Parts from which tests build the engine of a site."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from lease_scheduler.cloud.facts import Hypervisor
from lease_scheduler.model.host import Site
from lease_scheduler.model.resources import HOST_SHARE, WHOLE_HOST
from lease_scheduler.plan.options import PlanningOptions
from lease_scheduler.plan.planner import Planner
from lease_scheduler.policy.base import PolicyOptions
from lease_scheduler.policy.loader import load_policy
from lease_scheduler.policy.pricing.base import PricingPolicy
from lease_scheduler.service.policies import SitePolicies, no_prices

#: What each host of these sites offers.
CAPACITY = {"VCPU": 8, "MEMORY_MB": 1024, HOST_SHARE: WHOLE_HOST}


def hypervisors(names: Iterable[str], **more: int) -> list[Hypervisor]:
    """Return identical compute hosts.

    :param more: further resources of each
    """
    return [Hypervisor(name, 8, 1024, 0, {**CAPACITY, **more}) for name in names]


def site_policies(
    options: PlanningOptions | None = None,
    make_pricing: Callable[[], PricingPolicy] = no_prices,
    penalty: Any = None,
    **planner: Any,
) -> SitePolicies:
    """Return the default policies.

    :param planner: further arguments of the planner
    """
    none = PolicyOptions({})

    def make_planner(site: Site) -> Planner:
        selection, preemption = (
            load_policy("host_selection", "greedy", none),
            load_policy("preemption", "by-kind", none),
        )
        return Planner(site, options or PlanningOptions(), selection, preemption, **planner)

    return SitePolicies(make_planner, load_policy("admission", "accept-all", none), make_pricing, penalty)
