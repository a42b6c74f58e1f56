"""Routing policies by name, from any installed package (stevedore)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lease_scheduler.federation.routing.policies import ROUTING_FAMILIES, RoutingPolicies
from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.policy.base import PolicyOptions
from lease_scheduler.policy.loader import load_of_family


def load_routing_policies(names: Mapping[str, str], options: PolicyOptions) -> RoutingPolicies:
    """Return the policies of a router.

    :param names: name of a policy by family; a family that is left out has its default policy
    :param options: what the operator set for policies
    :raises InvalidValueError: there is no such family or policy, or one of its options is wrong
    """
    for unknown in names.keys() - ROUTING_FAMILIES.keys():
        known = ", ".join(ROUTING_FAMILIES)
        raise InvalidValueError("routing", f"there is no family {unknown!r}; the families are: {known}")
    found: dict[str, Any] = {
        each.name: load_of_family(each, names.get(each.name, each.default), options, f"routing.{each.name}")
        for each in ROUTING_FAMILIES.values()
    }
    return RoutingPolicies(**found)
