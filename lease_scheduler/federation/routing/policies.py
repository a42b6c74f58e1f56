"""The policies of a router: one of each family. The families are declared here, and nowhere else."""

# ruff: noqa: RUF009 - ``family`` returns a field

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from lease_scheduler.federation.routing.allocation.base import AllocationPolicy
from lease_scheduler.federation.routing.allocation.home_first import HomeFirst
from lease_scheduler.federation.routing.dispatch.base import DispatchPolicy
from lease_scheduler.federation.routing.dispatch.billiard import Billiard
from lease_scheduler.policy.families import Family, families_of, family


@dataclass(frozen=True)
class RoutingPolicies:
    """One policy of each family. A family that is left out has its default policy, without options."""

    allocation: AllocationPolicy = family("home-first", HomeFirst, "how many of the requests each member gets")
    dispatch: DispatchPolicy = family(
        "billiard",
        Billiard,
        "which member gets the next request, so that each gets its share",
        "Only with an allocation policy that gives shares; the others put members in order.",
    )


#: The families by name, in the order in which they are declared.
ROUTING_FAMILIES: Mapping[str, Family] = families_of(RoutingPolicies, "lease_scheduler.routing")
