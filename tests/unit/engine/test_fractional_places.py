"""An algorithm places fluid leases, and the plan has what follows (dfrs F39 to F42; issue 22, point 3)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from lease_scheduler.engine.options import EngineOptions
from lease_scheduler.engine.power_options import PowerOptions
from lease_scheduler.model.host import Host, Site
from lease_scheduler.model.kinds import LeaseKind, PreemptionMode
from lease_scheduler.model.lease import LeaseRequest
from lease_scheduler.model.nodes import NodeSet
from lease_scheduler.model.power import PowerState
from lease_scheduler.model.resources import MEMORY_MB, VCPU, Resources
from lease_scheduler.model.states import LeaseState
from lease_scheduler.plan.options import PlanningOptions
from lease_scheduler.simulation.run import Run
from lease_scheduler.simulation.settings import RunSettings
from lease_scheduler.simulation.workload import Workload, WorkloadLease

from .conftest import World

_HOST = Resources({VCPU: 100, MEMORY_MB: 100})
_POWER = PowerOptions(wake_time=100, shutdown_time=60, margin=50, minimum_on_time=60, interval=100, confirms=False)


def _fluid(lease_id: str, cpu: int, memory: int, submitted: int = 0, **terms: Any) -> LeaseRequest:
    least = terms.pop("min_yield", 0.0)
    node_set = NodeSet(terms.pop("nodes", 1), Resources({VCPU: cpu, MEMORY_MB: memory})).made_fluid(least)
    terms = {"preemption_mode": PreemptionMode.MIGRATE, "duration": 10_000, **terms}
    return LeaseRequest(
        lease_id, LeaseKind.BEST_EFFORT, (node_set,), submitted, preemptible=True, min_yield=least, **terms
    )


def _reserved(lease_id: str, memory: int, start: int, duration: int, submitted: int = 0) -> LeaseRequest:
    nodes = (NodeSet(1, Resources({VCPU: 1, MEMORY_MB: memory})),)
    return LeaseRequest(lease_id, LeaseKind.RESERVATION, nodes, submitted, duration=duration, start=start)


def _world(
    *leases: LeaseRequest,
    hosts: int = 1,
    algorithm: str = "GreedyP*/OPT=MIN",
    work: int = 1_000,
    rate: float = 10.0,
    power: str = "none",
    sizes: Sequence[tuple[int, int]] = (),
    **options: str,
) -> World:
    """Return a site; saving and loading the memory of a node takes memory / rate seconds.

    :param power: name of the power policy
    :param sizes: VCPU and memory of each host, if they differ
    :param options: of policies
    """
    items = tuple(WorkloadLease(each, None if each.min_yield is None else work) for each in leases)
    settings = RunSettings(
        policies={"power": power, "fractional": "dfrs"},
        planning=PlanningOptions(suspend_rate=rate, resume_rate=rate),
        engine=EngineOptions(power=_POWER),
        policy_options={"fractional_algorithm": algorithm, **options},
        check_invariants=True,
    )
    site = Site.homogeneous(hosts, _HOST)
    if sizes:
        amounts = (Resources({VCPU: cpu, MEMORY_MB: memory}) for cpu, memory in sizes)
        site = Site(tuple(Host(f"host-{number}", each) for number, each in enumerate(amounts, 1)))
    return World(Run(Workload("test", items, site), settings))


def _state(world: World, lease_id: str) -> LeaseState:
    return world[lease_id].state


def test_a_lease_starts_when_the_one_that_it_pauses_is_saved() -> None:
    """dfrs F40: lease a is saved from 100 to 106. It is resumed when b ends, which takes 6 s too."""
    world = _world(_fluid("a", 100, 60), _fluid("b", 100, 60, 100)).until(100)
    assert _state(world, "a") is LeaseState.SUSPENDING
    assert world["b"].holdings[0].start == 106
    world.until(106)
    assert (_state(world, "a"), world["b"].active_since) == (LeaseState.SUSPENDED_QUEUED, 106)
    world.until(1106)
    assert _state(world, "a") is LeaseState.RESUMING
    world.until(1112)
    assert world["a"].active_since == 1112
    assert world.until(2012)["a"].ended == 2012


def test_leases_do_not_wait_in_the_queue() -> None:
    """dfrs F39: b is too large at present, and c, which came later, is not."""
    world = _world(_fluid("a", 50, 60), _fluid("b", 50, 60), _fluid("c", 50, 30), algorithm="Greedy*/OPT=MIN").until(0)
    assert [world[name].active_since for name in "abc"] == [0, None, 0]
    assert world.run.planner.plan.queue.in_order() == []
    assert world.until(1000)["b"].active_since == 1000


def test_a_lease_moves_for_another_one() -> None:
    """dfrs F41: a goes on on the host of b, in the same run."""
    world = _world(
        _fluid("a", 100, 50), _fluid("b", 100, 50, 10), _fluid("c", 100, 60, 20), hosts=2, algorithm="GreedyPM*/OPT=MIN"
    ).until(20)
    assert [world[name].holdings[0].assignment for name in "abc"] == [(1,), (1,), (0,)]
    assert (world["a"].active_since, world["a"].accumulated) == (20, 20)
    assert world.run.recorder.counters["fluid_moves"] == 1


def test_a_lease_that_cannot_move_is_paused() -> None:
    shelved = _fluid("a", 100, 50, preemption_mode=PreemptionMode.SHELVE)
    world = _world(
        shelved, _fluid("b", 100, 50, 10), _fluid("c", 100, 60, 20), hosts=2, algorithm="GreedyPM*/OPT=MIN"
    ).until(20)
    assert _state(world, "a") is LeaseState.SUSPENDING


def test_everything_is_mapped_anew_each_period() -> None:
    """dfrs F42, F44: the first period after the submissions begins at 600."""
    world = _world(_fluid("a", 100, 30, 1), _fluid("b", 100, 30, 2), hosts=2, algorithm="/per/OPT=MIN").until(599)
    assert world.run.engine.next_due() == 600
    assert [_state(world, name) for name in "ab"] == [LeaseState.QUEUED] * 2
    world.until(600)
    assert sorted(world[name].holdings[0].assignment for name in "ab") == [(0,), (1,)]


@pytest.mark.parametrize("algorithm", ["GreedyP*/OPT=MIN", "MCB*/OPT=MIN"])
def test_a_reservation_preempts_as_usual(algorithm: str) -> None:
    """Lease a is saved before the reservation starts, and goes on after its end without anybody asking."""
    leases = _fluid("a", 100, 60), _reserved("r", 60, 500, 100, submitted=100)
    world = _world(*leases, algorithm=algorithm).until(500)
    assert world["r"].active_since == 500
    assert (_state(world, "a"), world["a"].accumulated) == (LeaseState.SUSPENDED_QUEUED, 494)
    assert world.until(606)["a"].active_since == 606


def test_a_lease_runs_until_a_reservation_starts() -> None:
    """The reservation was there first; it begins later than within a period, so that its host is used until then."""
    world = _world(_reserved("r", 60, 2000, 100), _fluid("a", 100, 60, 10, duration=5000), work=5000).until(10)
    assert (world["a"].active_since, world["a"].holdings[0].end) == (10, 2000)
    assert world.until(2106)["a"].active_since == 2106


def test_a_host_that_is_needed_soon_is_not_used() -> None:
    world = _world(_reserved("r", 60, 300, 100), _fluid("a", 100, 60, 10)).until(399)
    assert _state(world, "a") is LeaseState.QUEUED
    assert world.until(400)["a"].active_since == 400


@pytest.mark.parametrize(
    "other",
    [
        {"preemption_mode": PreemptionMode.STOP},
        {"preemption_mode": PreemptionMode.DELETE},
    ],
)
def test_leases_that_cannot_be_paused_are_left_to_the_planner(other: dict[str, Any]) -> None:
    world = _world(_fluid("a", 100, 60, **other), _fluid("b", 100, 60, 100)).until(100)
    assert "a" not in world.run.planner.plan.queue.apart
    assert (_state(world, "a"), _state(world, "b")) == (LeaseState.ACTIVE, LeaseState.QUEUED)


@pytest.mark.parametrize(("nodes", "hosts"), [(1, (1,)), (3, (0, 1, 1))])
def test_a_site_of_different_hosts(nodes: int, hosts: tuple[int, ...]) -> None:
    """What a host is smaller than the largest one counts as taken: half of host 0."""
    site = Site((Host("small", Resources({VCPU: 50, MEMORY_MB: 50})), Host("large", _HOST)))
    world = _world(_fluid("a", 50, 50, nodes=nodes))
    world = World(Run(replace(world.run.workload, site=site), world.run.settings)).until(0)
    assert world["a"].holdings[0].assignment == hosts


def test_a_lease_for_which_some_hosts_are_too_small_is_left_to_the_planner() -> None:
    site = Site((Host("small", Resources({VCPU: 50, MEMORY_MB: 50})), Host("large", _HOST)))
    world = _world(_fluid("a", 80, 10))
    world = World(Run(replace(world.run.workload, site=site), world.run.settings)).until(0)
    assert "a" not in world.run.planner.plan.queue.apart
    assert world["a"].holdings[0].assignment == (1,)


def test_an_end_by_the_project_makes_room() -> None:
    world = _world(_fluid("a", 50, 60), _fluid("b", 50, 60), algorithm="Greedy*/OPT=MIN").until(10)
    world.run.engine.cancel("a")
    world.until(20)
    assert world["b"].active_since == 10


def _power_of(world: World, number: int) -> PowerState:
    return world.run.engine.hosts.powers[f"host-{number}"].state


def test_a_host_wakes_for_a_lease_that_waits() -> None:
    """As for a best-effort lease in the queue: sesp wakes a host once leases have waited too long (contention F60).

    Lease b has waited for a fifth of its duration at 700. The host is awake 100 s later.
    """
    world = _world(
        _fluid("a", 100, 60),
        _fluid("b", 100, 60, 500, duration=1000),
        hosts=2,
        algorithm="Greedy*/OPT=MIN",
        work=5000,
        power="sesp",
        power_waiting_factor="0.2",
    ).until(699)
    assert _power_of(world, 2) is PowerState.ASLEEP
    assert (_state(world, "b"), world["b"].holdings) == (LeaseState.QUEUED, ())
    world.until(700)
    assert _power_of(world, 2) is PowerState.WAKING
    assert world.until(800)["b"].active_since == 800
    assert world["b"].holdings[0].assignment == (1,)


def test_a_host_that_was_told_to_sleep_wakes_for_a_lease_that_waits() -> None:
    """Without a power policy, as for other best-effort leases; lease a has the host that is awake."""
    leases = _fluid("a", 100, 60), _fluid("b", 100, 30, 500), _fluid("c", 100, 60, 700)
    world = _world(*leases, hosts=2, algorithm="Greedy*/OPT=MIN", work=5000).until(10)
    world.run.engine.hosts.sleep("host-2")
    assert world.until(500)["b"].holdings[0].assignment == (0,)
    assert _power_of(world, 2) is PowerState.ASLEEP
    world.until(700)
    assert _power_of(world, 2) is PowerState.WAKING
    assert world.until(800)["c"].holdings[0].assignment == (1,)


def test_a_host_stays_awake_until_everything_is_mapped_anew() -> None:
    """The host has been awake for longer than hosts must be when lease b, which is not started before, needs it."""
    world = _world(
        _fluid("a", 100, 60),
        _fluid("b", 100, 60, 700, duration=1000),
        hosts=2,
        algorithm="/per/OPT=MIN",
        work=5000,
        power="sesp",
        power_waiting_factor="0.1",
        fractional_period="3600",
    ).until(1200)
    assert _power_of(world, 2) is PowerState.AWAKE
    assert world.until(3600)["b"].active_since == 3600
    assert {world[name].holdings[0].assignment for name in "ab"} == {(0,), (1,)}
    assert world.counters["host_wakes"] == 1


#: Two small hosts and a large one. By parts of the large one, a node with 60 of memory does not fit on the small ones.
_SIZES = ((40, 100), (40, 100), (100, 100))


def test_a_host_wakes_that_is_large_enough() -> None:
    """Without a power policy: host 1, which is small, sleeps too, and host 2, which is small, too, does not count."""
    leases = _reserved("z", 1, 0, 10), _fluid("a", 40, 60, 500, min_yield=0.1)
    world = _world(*leases, sizes=_SIZES, algorithm="Greedy*/OPT=MIN").until(20)
    for number in (1, 3):
        world.run.engine.hosts.sleep(f"host-{number}")
    world.until(500)
    assert [_power_of(world, number) for number in (1, 3)] == [PowerState.ASLEEP, PowerState.WAKING]
    assert world.until(600)["a"].holdings[0].assignment == (2,)


def test_small_hosts_do_not_keep_large_ones_asleep() -> None:
    """With sesp, both for what an algorithm places and for what waits in the queue; one small host is to spare."""
    node_set = (NodeSet(1, Resources({VCPU: 100, MEMORY_MB: 60})),)
    queued = LeaseRequest("b", LeaseKind.BEST_EFFORT, node_set, 500, duration=1000, preemptible=True)
    for lease in (_fluid("b", 40, 60, 500, duration=1000, min_yield=0.1), queued):
        world = _world(
            _reserved("z", 1, 0, 10),
            lease,
            sizes=_SIZES,
            algorithm="Greedy*/OPT=MIN",
            power="sesp",
            power_waiting_factor="0.2",
        ).until(499)
        assert [_power_of(world, number) for number in (1, 2, 3)] == [PowerState.ASLEEP] * 3
        world.until(1200)
        assert world["b"].holdings[0].assignment == (2,)
        assert world.counters["host_wakes"] == 1
