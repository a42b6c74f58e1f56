"""Routing policies in simulated worlds."""

from __future__ import annotations

from collections import Counter

import pytest

from lease_scheduler.federation.members import Arrivals, PublishedLoad
from lease_scheduler.federation.routing.loader import load_routing_policies
from lease_scheduler.model.host import Site
from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.lease import LeaseRequest
from lease_scheduler.model.nodes import NodeSet
from lease_scheduler.model.request_types import RequestType
from lease_scheduler.model.resources import MEMORY_MB, VCPU, Resources
from lease_scheduler.policy.base import PolicyOptions
from lease_scheduler.random_streams import random_stream
from lease_scheduler.simulation.clock import SimulatedClock
from lease_scheduler.simulation.routing import PolicyRouter
from lease_scheduler.simulation.settings import RunSettings
from lease_scheduler.simulation.site_run import SiteRun
from lease_scheduler.simulation.workload import Workload, WorkloadLease
from lease_scheduler.simulation.world import Arrivals as ArrivalsAtWorld
from lease_scheduler.simulation.world import World, WorldResult

_VM = Resources({VCPU: 100, MEMORY_MB: 1024})


def _request(number: int, submitted: int = 0, duration: int = 100, nodes: int = 1) -> LeaseRequest:
    return LeaseRequest(str(number), LeaseKind.BEST_EFFORT, (NodeSet(nodes, _VM),), submitted, duration)


def _workload(hosts: int, *requests: LeaseRequest) -> Workload:
    return Workload("test", tuple(WorkloadLease(each) for each in requests), Site.homogeneous(hosts, _VM))


def _router(
    allocation: str, dispatch: str = "billiard", *, seed: int = 1, loads: dict[str, PublishedLoad] | None = None
) -> PolicyRouter:
    policies = load_routing_policies({"allocation": allocation, "dispatch": dispatch}, PolicyOptions())
    return PolicyRouter(policies, random_stream(seed, "dispatch"), loads)


def _world(router: PolicyRouter, requests: list[LeaseRequest], hosts: tuple[int, ...] = (1, 2)) -> WorldResult:
    clock = SimulatedClock()
    sites = {
        chr(ord("a") + number): SiteRun(_workload(count), RunSettings(check_invariants=True), clock)
        for number, count in enumerate(hosts)
    }
    return World(sites, ArrivalsAtWorld(_workload(1, *requests), router)).execute()


def test_round_robin_takes_sites_in_turns() -> None:
    result = _world(_router("round-robin"), [_request(number, number) for number in range(4)])

    assert list(result.destinations.values()) == ["a", "b", "a", "b"]


def test_shares_by_size_are_dispatched_evenly() -> None:
    result = _world(_router("bcf"), [_request(number, number) for number in range(30)])

    counts = Counter(result.destinations.values())
    assert counts["a"] + counts["b"] == 30
    assert abs(counts["a"] - 10) < 2


def test_the_earliest_bid_wins_and_what_nobody_can_hold_is_refused() -> None:
    """The site with two hosts is full until 100, the other one until 500."""
    requests = [_request(1, 0, 500), _request(2, 1, 99, nodes=2), _request(3, 2, nodes=1), _request(4, 3, nodes=3)]
    result = _world(_router("earliest"), requests)

    assert result.destinations == {"1": "a", "2": "b", "3": "b"}
    assert result.refused == ("4",)
    assert {lease.lease_id: lease.started for lease in result.sites["b"].leases} == {"2": 1, "3": 100}


def test_preemption_aware_allocation_keeps_away_from_local_requests() -> None:
    external: dict[RequestType | None, Arrivals] = {
        RequestType.SUSPENDABLE: Arrivals(0.0001, {VCPU: 100}, {VCPU: 20_000})
    }
    loads = {
        "a": PublishedLoad(external=external),
        "b": PublishedLoad(Arrivals(0.01, {VCPU: 18_000}, {VCPU: 1e9}), external),
    }
    result = _world(_router("pap", loads=loads), [_request(number, 10 * number) for number in range(6)])

    assert set(result.destinations.values()) == {"a"}


@pytest.mark.parametrize("allocation", ["bcf", "lrf"])
def test_random_dispatch_follows_its_seed(allocation: str) -> None:
    requests = [_request(number, number) for number in range(40)]
    first, again, other = (_world(_router(allocation, "random", seed=seed), requests) for seed in (1, 1, 2))

    assert first.destinations == again.destinations != other.destinations
