"""What fluid leases would get with fewer hosts, by the plan (dfrs F29; issue 22)."""

from __future__ import annotations

from typing import Any

import pytest

from lease_scheduler.engine.fewer_hosts import WithFewerHosts
from lease_scheduler.fractional.discovery import Needs
from lease_scheduler.model.host import Host, Site
from lease_scheduler.model.kinds import LeaseKind, PreemptionMode
from lease_scheduler.model.lease import LeaseRequest
from lease_scheduler.model.nodes import NodeSet
from lease_scheduler.model.resources import MEMORY_MB, VCPU, Resources
from lease_scheduler.simulation.run import Run
from lease_scheduler.simulation.settings import RunSettings
from lease_scheduler.simulation.workload import Workload, WorkloadLease

from .conftest import World

_HOST = Resources({VCPU: 8, MEMORY_MB: 100})


def _fluid(
    lease_id: str, cpu: int = 8, memory: int = 40, nodes: int = 1, least: float = 0.125, **terms: Any
) -> LeaseRequest:
    node_set = NodeSet(nodes, Resources({VCPU: cpu, MEMORY_MB: memory})).made_fluid(least)
    terms = {"preemption_mode": PreemptionMode.MIGRATE, "duration": 100_000, **terms}
    return LeaseRequest(lease_id, LeaseKind.BEST_EFFORT, (node_set,), 0, preemptible=True, min_yield=least, **terms)


def _reserved(lease_id: str, start: int, cpu: int = 4) -> LeaseRequest:
    nodes = (NodeSet(1, Resources({VCPU: cpu, MEMORY_MB: 10})),)
    return LeaseRequest(lease_id, LeaseKind.RESERVATION, nodes, 0, duration=50_000, start=start)


def _world(*leases: LeaseRequest, hosts: Site | int = 3, policy: str = "max-min") -> World:
    items = tuple(WorkloadLease(each) for each in leases)
    site = Site.homogeneous(hosts, _HOST) if isinstance(hosts, int) else hosts
    settings = RunSettings(policies={"fractional": policy, "host_selection": "greedy"}, check_invariants=True)
    return World(Run(Workload("test", items, site), settings)).until(0)


def _look(world: World, *counts: int) -> list[WithFewerHosts]:
    return world.run.engine.fewer_hosts.look(counts)()


def _yields(world: World, *counts: int) -> list[float | None]:
    return [each.least_yield for each in _look(world, *counts)]


@pytest.mark.parametrize("policy", ["max-min", "dfrs"])
def test_leases_share_what_remains(policy: str) -> None:
    """Three leases that need a host each have half of one on two hosts, and two fit into the memory of a host."""
    world = _world(*(_fluid(name) for name in "abc"), policy=policy)
    found = _look(world, 0, 1, 2)
    assert [(each.fewer, each.hosts, each.least_yield) for each in found] == [
        (0, 3, 1.0),
        (1, 2, pytest.approx(0.5)),
        (2, 1, None),
    ]
    assert [len(each.without) for each in found] == [0, 1, 2]
    assert {(each.leases, each.waiting) for each in found} == {(3, 0)}


def test_a_number_that_cannot_be_reached_has_no_names() -> None:
    (found,) = _look(_world(_fluid("a")), 4)
    assert (found.hosts, found.without, found.least_yield) == (0, (), None)


def test_hosts_of_others_stay() -> None:
    """The reservation runs on one host, and another one begins within ten minutes, so one host can go."""
    world = _world(_reserved("now", 0, 8), _reserved("soon", 300, 8), _fluid("a"))
    assert [len(each.without) for each in _look(world, 0, 1, 2)] == [0, 1, 0]
    later = _world(_reserved("now", 0, 8), _reserved("later", 3600, 8), _fluid("a"))
    assert [len(each.without) for each in _look(later, 0, 1, 2)] == [0, 1, 2]


def test_what_reservations_hold_is_not_shared() -> None:
    """The reservation has half of the VCPU of the host that stays: 3 of 8 beyond the one that the lease holds."""
    world = _world(_reserved("now", 0), _fluid("a"), hosts=2)
    assert _yields(world, 0, 1) == [1.0, pytest.approx(0.5)]


def test_leases_that_cannot_move_keep_their_hosts() -> None:
    world = _world(_fluid("a", preemption_mode=PreemptionMode.SHELVE), _fluid("b"), hosts=2)
    host = world.run.engine.site.hosts[world["a"].holdings[0].assignment[0]].name
    found = _look(world, 1, 2)
    assert host not in found[0].without
    assert found[0].least_yield == pytest.approx(0.5)
    assert found[1].without == ()


def test_known_needs_count() -> None:
    """Leases that need a quarter of what they declared are well on one host."""
    world = _world(_fluid("a"), _fluid("b"))
    world.run.engine.note_needs(Needs({"a": 0.25, "b": 0.25}, frozenset()))
    assert _yields(world, 0, 2) == [1.0, 1.0]


def test_hosts_out_of_service_do_not_count() -> None:
    world = _world(_fluid("a"), hosts=2)
    away = world.run.engine.site.hosts[1 - world["a"].holdings[0].assignment[0]].name
    world.run.engine.hosts.out(away)
    found = _look(world, 0, 1)
    assert [(each.hosts, each.least_yield) for each in found] == [(1, 1.0), (0, None)]


def test_sleeping_empty_and_small_hosts_go_first() -> None:
    """Host 3 sleeps, 0 is small and empty, 2 is large and empty, and 1 has a lease."""
    sizes = (4, 8, 8, 8)
    site = Site(tuple(Host(f"h{number}", Resources({VCPU: size, MEMORY_MB: 100})) for number, size in enumerate(sizes)))
    world = _world(_fluid("a"), hosts=site)
    used = world["a"].holdings[0].assignment[0]
    others = [number for number in (1, 2, 3) if number != used]
    world.run.engine.hosts.sleep(f"h{others[0]}")
    world.until(600).run.engine.step()
    found = _look(world, 3)[0]
    assert found.without == (f"h{others[0]}", "h0", f"h{others[1]}")


def test_hosts_that_sleep_would_wake() -> None:
    """The one that sleeps is in service, and goes first."""
    world = _world(_fluid("a"), _fluid("b"), hosts=3)
    awake = {world[name].holdings[0].assignment[0] for name in "ab"}
    (other,) = {0, 1, 2} - awake
    world.run.engine.hosts.sleep(f"host-{other + 1}")
    world.until(600).run.engine.step()
    assert [(each.hosts, each.least_yield) for each in _look(world, 0, 1)] == [(3, 1.0), (2, 1.0)]
    assert _look(world, 1)[0].without == (f"host-{other + 1}",)


def test_leases_that_wait_are_told() -> None:
    """The memory of the host is full, so the third lease waits."""
    (found,) = _look(_world(*(_fluid(name) for name in "abc"), hosts=1), 0)
    assert (found.leases, found.waiting, found.least_yield) == (2, 1, 0.5)


def test_a_site_without_fluid_leases() -> None:
    found = _look(_world(_reserved("now", 0), policy="none"), 0, 2, 3)
    assert [(each.least_yield, len(each.without)) for each in found] == [(1.0, 0), (1.0, 2), (None, 0)]


def test_a_site_without_hosts_that_compute() -> None:
    site = Site((Host("address", Resources({"FLOATING_IP": 1})),))
    assert _look(_world(hosts=site), 0, 1) == [
        WithFewerHosts(0, 0, (), 1.0, 0, 0),
        WithFewerHosts(1, 0, (), None, 0, 0),
    ]
