"""Parts from which tests build the engine of a site."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from lease_scheduler.cloud.facts import Hypervisor
from lease_scheduler.model.host import Site
from lease_scheduler.model.resources import HOST_SHARE, WHOLE_HOST
from lease_scheduler.plan.interfaces import PlannerPolicies
from lease_scheduler.plan.options import PlanningOptions
from lease_scheduler.plan.planner import Planner
from lease_scheduler.policy.policy_set import PolicySet
from lease_scheduler.service.core.policies import SitePolicies

#: What each host of these sites offers.
CAPACITY = {"VCPU": 8, "MEMORY_MB": 1024, HOST_SHARE: WHOLE_HOST}


def hypervisors(names: Iterable[str], **more: int) -> list[Hypervisor]:
    """Return identical compute hosts.

    :param more: further resources of each
    """
    return [Hypervisor(name, 8, 1024, 0, {**CAPACITY, **more}) for name in names]


def site_policies(
    options: PlanningOptions | None = None, make: Callable[[], PolicySet] = PolicySet, **planner: Any
) -> SitePolicies:
    """Return policies, by default those of a site whose operator has selected none.

    :param make: makes them
    :param planner: further arguments of the planner
    """

    def make_planner(site: Site, policies: PlannerPolicies) -> Planner:
        return Planner(site, options or PlanningOptions(), policies, **planner)

    return SitePolicies(make, make_planner)
