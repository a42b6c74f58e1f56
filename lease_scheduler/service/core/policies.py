"""How the leases of a site, or of each of its pools, are planned."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from lease_scheduler.engine.options import EngineOptions
from lease_scheduler.model.host import Site
from lease_scheduler.plan.interfaces import PlannerPolicies
from lease_scheduler.plan.planner import Planner
from lease_scheduler.policy.policy_set import PolicySet


@dataclass(frozen=True)
class SitePolicies:
    """The policies of an engine.

    :ivar make: makes the policies that are configured now, which have learnt nothing yet. Called for each engine, and
        when options have changed
    :ivar make_planner: makes a planner for a site, which calls these policies
    """

    make: Callable[[], PolicySet]
    make_planner: Callable[[Site, PlannerPolicies], Planner]


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
