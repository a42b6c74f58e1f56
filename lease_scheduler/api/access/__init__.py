"""Access rules for oslo.policy, one module per resource.

The target of a rule is the project of the object concerned. Operators override rules in policy.yaml.
"""

from __future__ import annotations

from itertools import chain

from oslo_policy import policy

from lease_scheduler.api.access import (
    allocations,
    availability,
    base,
    budget,
    calendar,
    capacity,
    events,
    feed,
    feeds,
    floatingips,
    flows,
    forecasts,
    hosts,
    leases,
    maintenances,
    member,
    peers,
    pools,
    projects,
    properties,
    quotes,
    series,
    sites,
    subscriptions,
    usage,
)

_MODULES = (
    base,
    leases,
    hosts,
    allocations,
    properties,
    floatingips,
    availability,
    pools,
    quotes,
    maintenances,
    series,
    subscriptions,
    usage,
    feed,
    feeds,
    flows,
    capacity,
    projects,
    forecasts,
    budget,
    calendar,
    events,
    peers,
    member,
    sites,
)


def list_rules() -> list[policy.RuleDefault]:
    """Return all rules. This is the entry point for oslo.policy's generators."""
    return list(chain.from_iterable(module.RULES for module in _MODULES))


def register(enforcer: policy.Enforcer) -> None:
    """Register the rules that the enforcer does not know yet."""
    for rule in list_rules():
        if rule.name not in enforcer.registered_rules:
            enforcer.register_default(rule)
