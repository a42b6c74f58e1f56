"""Policies that choose victims by overhead and number (contention F17-F21)."""

from __future__ import annotations

from dataclasses import replace

import pytest

from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.model.holding import Holding
from lease_scheduler.model.host import Site
from lease_scheduler.model.kinds import LeaseKind, PreemptionMode
from lease_scheduler.model.lease import Lease, LeaseRequest
from lease_scheduler.model.nodes import NodeSet
from lease_scheduler.model.resources import MEMORY_MB, VCPU, Resources
from lease_scheduler.model.states import LeaseState
from lease_scheduler.plan.fitting.shortage import Shortage
from lease_scheduler.plan.interfaces import Victim
from lease_scheduler.plan.plan import Plan
from lease_scheduler.policy.base import PolicyOptions
from lease_scheduler.policy.loader import load_policy
from lease_scheduler.policy.preemption.base import NEVER

_NAMES = ["mov", "mlip", "moml", "mov-ordered", "mlip-ordered"]
_RATES = {
    "overhead_suspend_rate": "40",
    "overhead_resume_rate": "40",
    "overhead_pause_time": "0",
    "overhead_reschedule_time": "0",
}
#: Nodes and memory of leases 1 to 6 of table 7.1.
_TABLE = [(3, 256), (1, 128), (2, 128), (1, 256), (2, 64), (3, 128)]


def _full_plan(
    table: list[tuple[int, int]], modes: dict[int, PreemptionMode] | None = None
) -> tuple[Plan, list[Victim]]:
    """Return a plan without a free host, and its leases as candidates."""
    plan = Plan(Site.homogeneous(sum(nodes for nodes, _ in table), Resources({VCPU: 1, MEMORY_MB: 1024})))
    victims, first = [], 0
    for number, (nodes, memory) in enumerate(table, 1):
        request = LeaseRequest(
            str(number),
            LeaseKind.BEST_EFFORT,
            (NodeSet(nodes, Resources({VCPU: 1, MEMORY_MB: memory})),),
            0,
            5000,
            preemptible=True,
            preemption_mode=(modes or {}).get(number, PreemptionMode.SUSPEND),
            origin="peer",
        )
        held = Holding(tuple(range(first, first + nodes)), 0, 0, 5000, 5000)
        lease = plan.put(Lease(request, number, LeaseState.ACTIVE, active_since=0, holdings=(held,)))
        victims.append(Victim(lease, 4000, 10))
        first += nodes
    return plan, victims


def _request(nodes: int) -> LeaseRequest:
    node_set = NodeSet(nodes, Resources({VCPU: 1, MEMORY_MB: 128}))
    return LeaseRequest("r", LeaseKind.RESERVATION, (node_set,), 720, 3600, start=720)


def _chosen(name: str, plan: Plan, victims: list[Victim], nodes: int, **options: str) -> list[str]:
    policy = load_policy("preemption", name, PolicyOptions({**_RATES, **options}))
    request = _request(nodes)
    chosen = policy.choose(request, victims, Shortage(plan, request, 720, 4320, lambda request, leases: True))
    assert sorted(victim.lease.lease_id for victim in chosen) == sorted(victim.lease.lease_id for victim in victims)
    return [victim.lease.lease_id for victim in chosen]


@pytest.mark.parametrize(
    ("name", "first"),
    [
        ("mov", ["5", "6"]),
        ("mlip", ["1", "6"]),
        ("moml", ["5", "6"]),
        ("mov-ordered", ["5", "2", "3"]),
        ("mlip-ordered", ["1", "6"]),
    ],
)
@pytest.mark.parametrize("limit", ["16", "0"])
def test_the_victims_are_those_of_table_7_2(name: str, first: list[str], limit: str) -> None:
    """contention 9.1; with limit 0 the sets are those of greedy searches."""
    plan, victims = _full_plan(_TABLE)
    assert _chosen(name, plan, victims, 5, preemption_set_limit=limit)[: len(first)] == first


@pytest.mark.parametrize("name", _NAMES)
def test_sets_are_found_among_none_one_and_thousands_of_candidates(name: str) -> None:
    plan, victims = _full_plan([(1, 64)])
    assert _chosen(name, plan, [], 1) == []
    assert _chosen(name, plan, victims, 1) == ["1"]
    assert _chosen(name, plan, victims, 2) == ["1"], "not enough: the planner refuses the request"
    plan, victims = _full_plan([(1 + number % 3, 64 * (1 + number % 5)) for number in range(2_000)])
    chosen = _chosen(name, plan, victims, 50)
    nodes = [1 + (int(each) - 1) % 3 for each in chosen]
    needed = next(count for count in range(len(nodes)) if sum(nodes[:count]) >= 50)
    assert needed <= 50


@pytest.mark.parametrize("name", ["mov", "moml", "mov-ordered"])
def test_victims_that_cost_nothing_go_first(name: str) -> None:
    """contention F11: a cancelled lease costs nothing, and neither does one that has not started."""
    table = [(2, 64), (2, 1024), (2, 1024)]
    plan, victims = _full_plan(table, {2: PreemptionMode.DELETE})
    assert _chosen(name, plan, victims, 2)[0] == "2"
    waiting = replace(victims[2].lease, state=LeaseState.SCHEDULED, active_since=None)
    plan, victims = _full_plan(table)
    plan.put(waiting)
    assert _chosen(name, plan, [*victims[:2], Victim(waiting, 4000, 0)], 2)[0] == "3"


def test_a_migration_costs_more_than_a_suspension() -> None:
    """contention 4.1: the memory is also copied."""
    plan, victims = _full_plan([(2, 64), (2, 64)], {1: PreemptionMode.MIGRATE})
    assert _chosen("mov", plan, victims, 2)[0] == "2"


def test_leases_without_a_deadline_come_before_those_with_one() -> None:
    """The planner moves leases with a deadline one after the other, and only after the others."""
    plan, victims = _full_plan([(2, 64), (2, 64)])
    terms = replace(victims[0].lease.request, kind=LeaseKind.DEADLINE, start=0, deadline=90_000)
    victims[0] = replace(victims[0], lease=replace(victims[0].lease, request=terms))
    assert _chosen("mov", plan, victims, 4) == ["2", "1"]


@pytest.mark.parametrize("name", _NAMES)
def test_with_external_only_leases_of_peers_are_preempted_for_local_requests(name: str) -> None:
    """contention F1, F7: local leases are never preempted, and external requests never preempt."""
    _, victims = _full_plan([(1, 64)])
    local = replace(victims[0], lease=replace(victims[0].lease, request=replace(victims[0].lease.request, origin=None)))
    free = load_policy("preemption", name, PolicyOptions())
    strict = load_policy("preemption", name, PolicyOptions({"preemption_among": "external"}))
    request = _request(1)
    peer = replace(request, origin="another peer")
    assert free.score(request, local, 720) >= 0 and free.score(peer, victims[0], 720) >= 0
    assert strict.score(request, victims[0], 720) >= 0
    assert strict.score(request, local, 720) == NEVER
    assert strict.score(peer, victims[0], 720) == NEVER


@pytest.mark.parametrize("name", _NAMES)
@pytest.mark.parametrize(
    ("option", "value", "problem"),
    [
        ("overhead_suspend_rate", "0", "must be more than 0"),
        ("overhead_copy_rate", "-3", "must be a number of at least 0"),
        ("overhead_pause_time", "nan", "must be a number of at least 0"),
        ("preemption_among", "peers", "must be all or external"),
    ],
)
def test_options_out_of_range_are_refused(name: str, option: str, value: str, problem: str) -> None:
    with pytest.raises(InvalidValueError, match=f"policy option {option}: {problem}"):
        load_policy("preemption", name, PolicyOptions({option: value}))
