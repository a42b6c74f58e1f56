"""Small sites, requests and planners for tests of the plan."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from lease_scheduler.model.host import Site
from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.lease import Lease, LeaseRequest
from lease_scheduler.model.nodes import NodeSet
from lease_scheduler.model.resources import MEMORY_MB, VCPU, Resources
from lease_scheduler.model.states import LeaseState
from lease_scheduler.plan.fitting.present_hosts import PresentHosts
from lease_scheduler.plan.options import PlanningOptions
from lease_scheduler.plan.planner import Planner
from lease_scheduler.policy.base import PolicyOptions
from lease_scheduler.policy.host_selection.greedy import GreedySelection
from lease_scheduler.policy.policy_set import PolicySet
from lease_scheduler.policy.preemption.by_kind import ByKind

#: A host that one node of the size ``VM`` fills.
VM = Resources({VCPU: 1, MEMORY_MB: 1024})

MakePlanner = Callable[..., Planner]
MakeLease = Callable[..., Lease]


def new_planner(hosts: int = 4, capacity: Resources = VM, site: Site | None = None, **options: Any) -> Planner:
    """A planner of equal hosts: ``new_planner(4, suspend_rate=32)``; ``capacity`` and ``site`` choose other hosts."""
    selection = options.pop("selection", None) or GreedySelection(PolicyOptions())
    preemption = options.pop("preemption", None) or ByKind(PolicyOptions())
    deadline_preemption = options.pop("deadline_preemption", True)
    transfers = options.pop("transfers", None)
    defaults: dict[str, Any] = {"suspend_rate": 32, "resume_rate": 32}
    return Planner(
        site or Site.homogeneous(hosts, capacity),
        PlanningOptions(**{**defaults, **options}),
        PolicySet(host_selection=selection, preemption=preemption),
        deadline_preemption=deadline_preemption,
        transfers=transfers,
    )


@pytest.fixture
def make_planner() -> MakePlanner:
    return new_planner


@pytest.fixture
def make_lease() -> MakeLease:
    """Makes pending leases; ids count up, and with them the order of submission."""
    number = 0

    def make(kind: LeaseKind, nodes: int = 1, duration: int = 3600, need: Resources = VM, **terms: Any) -> Lease:
        nonlocal number
        number += 1
        terms.setdefault("preemptible", kind in (LeaseKind.BEST_EFFORT, LeaseKind.DEADLINE))
        node_sets = terms.pop("node_sets", None) or (NodeSet(nodes, need),)
        request = LeaseRequest(str(number), kind, node_sets, terms.pop("submitted", 0), duration=duration, **terms)
        return Lease(request, number, LeaseState.PENDING)

    return make


def running(planner: Planner, lease: Lease, since: int = 0) -> Lease:
    """Place a lease and mark it as running."""
    placed = planner.place(lease, since)
    return planner.plan.put(replace(placed, state=LeaseState.ACTIVE, active_since=since))


def present_hosts(lease: Lease) -> PresentHosts:
    """Return the hosts of a lease as those that its nodes have."""
    return PresentHosts.of(lease.request, lease.holdings[0].assignment)
