"""Running leases that move so that hosts become empty (shirako F116, F117, A20)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from lease_scheduler.engine.interfaces import OperationKind
from lease_scheduler.engine.options import EngineOptions
from lease_scheduler.engine.relocation_options import RelocationOptions
from lease_scheduler.model.host import Host, Site
from lease_scheduler.model.kinds import LeaseKind, PreemptionMode
from lease_scheduler.model.lease import Lease, LeaseRequest
from lease_scheduler.model.nodes import NodeSet
from lease_scheduler.model.providers import Provider, ProviderGroup
from lease_scheduler.model.resources import MEMORY_MB, VCPU, Resources
from lease_scheduler.model.states import LeaseState
from lease_scheduler.plan.options import PlanningOptions
from lease_scheduler.simulation.run import Run
from lease_scheduler.simulation.settings import RunSettings
from lease_scheduler.simulation.workload import Workload, WorkloadLease

from .conftest import World

RESERVATION, BEST_EFFORT = LeaseKind.RESERVATION, LeaseKind.BEST_EFFORT

#: Hosts of four of these VMs.
VM = Resources({VCPU: 1, MEMORY_MB: 1024})
HOST = Resources({VCPU: 4, MEMORY_MB: 4096})

#: Decisions follow each other after 100 s, and a lease runs undisturbed for 250 s.
OPTIONS = RelocationOptions(interval=100, budget=4, rest=250)


def _lease(lease_id: str, nodes: int, end: int, start: int = 0, **terms: Any) -> LeaseRequest:
    """Return a reservation that may be moved while it runs."""
    terms.setdefault("preemptible", True)
    terms.setdefault("preemption_mode", PreemptionMode.MIGRATE)
    terms.setdefault("resources", VM)
    node_sets = (NodeSet(nodes, terms.pop("resources")),)
    return LeaseRequest(lease_id, RESERVATION, node_sets, 0, end - start, start=start, **terms)


def _world(
    *leases: LeaseRequest,
    hosts: int = 3,
    site: Site | None = None,
    options: RelocationOptions = OPTIONS,
    **policy: str,
) -> World:
    settings = RunSettings(
        policies={
            "relocation": policy.pop("relocation", "energy-aware"),
            "fractional": policy.pop("fractional", "none"),
        },
        planning=PlanningOptions(suspend_rate=32, resume_rate=32),
        engine=EngineOptions(relocation=options),
        policy_options=policy,
        check_invariants=True,
    )
    site = site or Site.homogeneous(hosts, HOST)
    return World(Run(Workload("test", tuple(map(WorkloadLease, leases)), site), settings))


def _hosts(world: World, *lease_ids: str) -> list[tuple[int, ...]]:
    return [world[lease_id].holdings[0].assignment for lease_id in lease_ids]


#: Each of the two has half of a host.
SPREAD = (_lease("1", 2, 5_000), _lease("3", 2, 5_000))


def test_hosts_become_empty() -> None:
    world = _world(*SPREAD).until(299)
    assert _hosts(world, "1", "3") == [(0, 0), (1, 1)]

    world.until(300)

    assert sorted(set(_hosts(world, "1", "3"))) in ([(0, 0)], [(1, 1)])
    assert world.counters["relocated_nodes"] == 2
    assert world["1"].state is world["3"].state is LeaseState.ACTIVE


def test_the_run_goes_on_and_is_counted() -> None:
    """A move takes nothing of the run, and the cloud is told of it once."""
    world = _world(*SPREAD).until(300)
    moved = next(world[each] for each in "13" if world[each].accumulated)

    assert (moved.accumulated, moved.active_since) == (300, 300)
    assert moved.holdings[0].run_end == 5_000
    done: list[Lease] = [world.end()[each] for each in "13"]
    assert [(lease.state, lease.accumulated, lease.ended) for lease in done] == [(LeaseState.DONE, 5_000, 5_000)] * 2
    assert world.counters["relocated_nodes"] == 2


@pytest.mark.parametrize(
    "kept",
    [{"preemptible": False}, {"preemption_mode": PreemptionMode.SHELVE}, {"preemption_mode": PreemptionMode.NONE}],
)
def test_only_leases_that_may_be_moved_are(kept: dict[str, Any]) -> None:
    leases = [_lease("1", 2, 5_000, **kept), _lease("3", 2, 5_000, **kept)]
    world = _world(*leases).until(2_000)

    assert _hosts(world, "1", "3") == [(0, 0), (1, 1)]


def test_a_lease_with_devices_stays() -> None:
    """Nova moves few devices with a running server, and a server that cannot move would be shelved."""
    group = ProviderGroup(Resources({"VGPU": 1}))
    host = Host("", HOST, providers=(Provider(Resources({"VGPU": 4})),))
    site = Site(tuple(replace(host, name=f"host {number}") for number in range(3)))
    worlds = []
    for groups in ((), (group,)):
        leases = [replace(each, nodes=(replace(each.nodes[0], groups=groups),)) for each in SPREAD]
        worlds.append(_world(*leases, site=site).until(2_000))

    without, with_devices = (world.counters.get("relocated_nodes", 0) for world in worlds)
    assert (without, with_devices) == (2, 0)


def test_by_default_nothing_moves() -> None:
    world = _world(*SPREAD, relocation="none").until(2_000)

    assert _hosts(world, "1", "3") == [(0, 0), (1, 1)]
    assert "relocated_nodes" not in world.counters


def test_a_lease_that_will_soon_be_over_stays() -> None:
    leases = (_lease("1", 2, 549), _lease("3", 2, 549))
    world = _world(*leases).until(500)

    assert _hosts(world, "1", "3") == [(0, 0), (1, 1)]


def test_above_the_threshold_nothing_moves() -> None:
    """4 of 12 VMs are a third of the site."""
    world = _world(*SPREAD, energy_aware_threshold="33").until(2_000)
    assert _hosts(world, "1", "3") == [(0, 0), (1, 1)]

    world = _world(*SPREAD, energy_aware_threshold="34").until(2_000)
    assert len(set(_hosts(world, "1", "3"))) == 1


def test_a_decision_moves_no_more_than_its_budget() -> None:
    """Of two hosts with two VMs each one is emptied, or none if the budget does not suffice for it."""
    options = RelocationOptions(interval=100, budget=1, rest=250)
    world = _world(*SPREAD, options=options).until(2_000)

    assert _hosts(world, "1", "3") == [(0, 0), (1, 1)]


def test_a_lease_rests_after_a_move() -> None:
    """Whatever ends or comes, no lease moves again within the rest."""
    leases = [_lease(f"{number}", 1 + number % 3, 300 + 170 * number) for number in range(1, 9)]
    world = _world(*leases, hosts=6)
    last: dict[str, tuple[tuple[int, ...], int]] = {}
    moves = 0
    while (instant := world.run.next_instant()) is not None:
        world.until(instant)
        for lease in world.run.engine.live_leases():
            if lease.state is not LeaseState.ACTIVE or lease.active_since is None:
                continue
            hosts, since = last.get(lease.lease_id, (lease.holdings[0].assignment, lease.active_since))
            if hosts != lease.holdings[0].assignment:
                moves += 1
                assert instant - since >= OPTIONS.rest
            last[lease.lease_id] = (lease.holdings[0].assignment, lease.active_since)
    assert moves


def test_what_is_reserved_keeps_its_place() -> None:
    """Both hosts are full when another lease starts, and it keeps its VMs apart."""
    later = _lease("4", 4, 6_000, start=1_000, preemptible=False)
    world = _world(*SPREAD, later, hosts=2).until(900)

    assert _hosts(world, "1", "3") == [(0, 0), (1, 1)]
    assert world["4"].state is LeaseState.READY


def test_no_lease_moves_to_a_host_that_is_closed() -> None:
    """What runs there stays, too: the operator decides when it leaves."""
    world = _world(*SPREAD).until(200)
    world.run.engine.hosts._outages.host_closed(0, 200)

    assert _hosts(world.until(2_000), "1", "3") == [(0, 0), (1, 1)]


def test_a_host_with_a_lease_that_stays_takes_those_that_may_move() -> None:
    """It is in use in any case, so the other one is emptied."""
    world = _world(_lease("1", 3, 5_000, preemptible=False), _lease("3", 1, 5_000)).until(299)
    assert _hosts(world, "1", "3") == [(0, 0, 0), (1,)]

    assert _hosts(world.until(2_000), "1", "3") == [(0, 0, 0), (0,)]


def test_hosts_that_a_lease_may_not_use_are_not_given_to_it() -> None:
    """A node set that names its hosts stays on them."""
    bound = LeaseRequest(
        "3", RESERVATION, (NodeSet(2, VM, hosts=frozenset({"host-2"})),), 0, 5_000, start=0,
        preemptible=True, preemption_mode=PreemptionMode.MIGRATE,
    )  # fmt: skip
    world = _world(_lease("1", 2, 5_000, preemptible=False), bound).until(2_000)

    assert _hosts(world, "1", "3") == [(0, 0), (1, 1)]


def test_the_cloud_moves_what_the_plan_moves() -> None:
    world = _world(*SPREAD)
    begun: list[tuple[str, tuple[int, ...]]] = []
    begin = world.run.cloud.begin

    def note(operation: Any) -> None:
        if operation.kind is OperationKind.ADJUST:
            begun.append((operation.lease_id, operation.assignment))
        begin(operation)

    world.run.cloud.begin = note  # type: ignore[method-assign]
    world.until(2_000)

    assert len(begun) == 1
    assert world[begun[0][0]].holdings[0].assignment == begun[0][1]


def test_fluid_leases_move_to_where_they_get_more() -> None:
    """Each of four needs all CPUs of a host; those on one of two hosts end. Each move counts alone: the budget is 1."""
    size = NodeSet(1, Resources({VCPU: 4, MEMORY_MB: 1_024})).made_fluid(0.25)
    terms: dict[str, Any] = {"preemptible": True, "preemption_mode": PreemptionMode.MIGRATE, "min_yield": 0.25}
    leases = [
        LeaseRequest(name, LeaseKind.BEST_EFFORT, (size,), 0, duration, **terms)
        for name, duration in (("a", 5_000), ("b", 350), ("c", 5_000), ("d", 350))
    ]
    options = RelocationOptions(interval=100, budget=1, rest=250)
    world = _world(*leases, hosts=2, options=options, relocation="even-yields", fractional="max-min").until(300)
    assert _hosts(world, *"abcd") == [(0,), (1,), (0,), (1,)]
    assert "relocated_nodes" not in world.counters, "there is nothing to gain"
    assert _yields(world, *"ac") == [0.5, 0.5]
    world.until(400)
    assert sorted(_hosts(world, *"ac")) == [(0,), (1,)]
    assert _yields(world, *"ac") == [1, 1]
    assert world.counters["relocated_nodes"] == 1


def _yields(world: World, *lease_ids: str) -> list[float]:
    progress = [world[lease_id].progress for lease_id in lease_ids]
    return [each.part for each in progress if each is not None]
