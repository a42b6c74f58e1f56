"""Fluid leases: what they hold, what they share, and how far they come (dfrs F1, F2; issue 22, point 3)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from lease_scheduler.engine.behaviour import CloudBehaviour, HostFailure
from lease_scheduler.fractional.discovery import Needs
from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.model.host import Host, Site
from lease_scheduler.model.kinds import LeaseKind, PreemptionMode
from lease_scheduler.model.lease import LeaseRequest
from lease_scheduler.model.nodes import NodeSet
from lease_scheduler.model.progress import Progress
from lease_scheduler.model.resources import MEMORY_MB, VCPU, Resources
from lease_scheduler.model.states import LeaseState
from lease_scheduler.plan.options import PlanningOptions
from lease_scheduler.policy.base import PolicyOptions
from lease_scheduler.policy.fractional.none import NoFractional
from lease_scheduler.simulation.run import Run
from lease_scheduler.simulation.settings import RunSettings
from lease_scheduler.simulation.workload import Workload, WorkloadLease

from .conftest import World

_HOST = Resources({VCPU: 100, MEMORY_MB: 100})


def _fluid(lease_id: str, cpu: int, memory: int, min_yield: float = 0.1, nodes: int = 1, **terms: Any) -> LeaseRequest:
    node_set = NodeSet(nodes, Resources({VCPU: cpu, MEMORY_MB: memory})).made_fluid(min_yield)
    terms = {"duration": 10_000, "preemptible": True, "submitted": 0, **terms}
    return LeaseRequest(lease_id, LeaseKind.BEST_EFFORT, (node_set,), min_yield=min_yield, **terms)


def _reserved(lease_id: str, cpu: int, start: int, duration: int) -> LeaseRequest:
    nodes = (NodeSet(1, Resources({VCPU: cpu, MEMORY_MB: 10})),)
    return LeaseRequest(lease_id, LeaseKind.RESERVATION, nodes, 0, duration=duration, start=start)


def _world(*leases: LeaseRequest | WorkloadLease, hosts: int = 1, policy: str = "max-min", **settings: Any) -> World:
    items = tuple(lease if isinstance(lease, WorkloadLease) else WorkloadLease(lease) for lease in leases)
    planning = PlanningOptions(suspend_rate=32, resume_rate=32)
    options = RunSettings(policies={"fractional": policy}, planning=planning, **settings)
    return World(Run(Workload("test", items, Site.homogeneous(hosts, _HOST)), options))


def _part(world: World, lease_id: str) -> float:
    progress = world[lease_id].progress
    assert progress is not None
    return progress.part


def test_what_is_left_is_shared_fairly() -> None:
    """Stillwell 2010, section 3.1: needs of 25, 50 and 75 of 100 give a yield of 2/3."""
    world = _world(*(_fluid(name, cpu, 20) for name, cpu in (("a", 25), ("b", 50), ("c", 75)))).until(10)
    # What they hold is rounded up: 3, 5 and 8 of 100, so 84 of 134 are left to be shared.
    rest = 84 / 134
    assert [_part(world, name) for name in "abc"] == [
        int(1000 * (held + rest * (cpu - held)) / cpu) / 1000 for held, cpu in ((3, 25), (5, 50), (8, 75))
    ]


def test_a_server_that_needs_more_than_a_host_has_is_refused() -> None:
    """It could not boot there, although the host has what it would hold."""
    world = _world(_fluid("huge", 101, 20), _fluid("large", 100, 20)).until(10)
    assert world["huge"].state is LeaseState.REJECTED
    assert world["huge"].reason == "nodes: no host is large enough for a node of MEMORY_MB:20,VCPU:101"
    assert _part(world, "large") == 1


def test_alone_a_lease_has_all_that_it_needs() -> None:
    world = _world(_fluid("a", 60, 20), _fluid("b", 70, 20, submitted=100)).until(99)
    assert world["a"].progress == Progress(0, 1000, 0)
    world.until(100)
    assert _part(world, "a") < 1
    progress = world["a"].progress
    assert progress is not None
    assert progress.virtual == 100_000


def test_a_reservation_has_all_it_booked_and_fluid_leases_share_the_rest() -> None:
    """100 - 50 are left, of which the lease holds 10."""
    world = _world(_fluid("work", 100, 20), _reserved("booked", 50, 100, 200)).until(50)
    assert _part(world, "work") == 1
    world.until(150)
    assert world["booked"].state is LeaseState.ACTIVE
    assert world["booked"].active_since == 100
    assert _part(world, "work") == 0.5
    world.until(350)
    progress = world["work"].progress
    assert progress == Progress(100_000 + 200 * 500, 1000, 300)


def test_memory_is_never_shared() -> None:
    """Both need 60 of 100: the second one waits, although there is CPU for it."""
    world = _world(_fluid("a", 10, 60), _fluid("b", 10, 60)).until(100)
    assert [world[name].started for name in "ab"] == [0, None]
    assert world["b"].progress is None


def test_the_least_yield_is_held() -> None:
    """Two halves fill the host; the third lease waits, because its least part of the CPU is not free."""
    world = _world(*(_fluid(name, 100, 10, 0.5) for name in "abc")).until(100)
    assert [world[name].started for name in "abc"] == [0, 0, None]
    assert [_part(world, name) for name in "ab"] == [0.5, 0.5]


def test_a_lease_on_several_hosts_has_the_yield_of_the_fullest() -> None:
    world = _world(_fluid("wide", 80, 60, nodes=2), _fluid("narrow", 80, 40), hosts=2).until(10)
    assert _part(world, "wide") == _part(world, "narrow") == 0.625


def test_work_takes_as_long_as_its_share_makes_it() -> None:
    """100 s of work for each: at half speed from 0 on, they are done at 200; the schedulers do not know that."""
    pair = [WorkloadLease(_fluid(name, 100, 10), real_duration=100) for name in "ab"]
    world = _world(*pair).end()
    assert [(world[name].state, world[name].ended) for name in "ab"] == [(LeaseState.DONE, 200)] * 2
    assert [world[name].progress for name in "ab"] == [Progress(100_000, 0, 200)] * 2


def test_virtual_time_stands_still_while_a_lease_is_suspended() -> None:
    """A reservation takes the memory from 100 to 400; the lease has run 68 s until it must be saved, and goes on."""
    work = _fluid("work", 50, 60, preemption_mode=PreemptionMode.SUSPEND)
    booked = LeaseRequest(
        "booked", LeaseKind.RESERVATION, (NodeSet(1, Resources({VCPU: 10, MEMORY_MB: 90})),), 0, duration=300, start=100
    )
    world = _world(work, booked).until(200)
    lease = world["work"]
    assert lease.state in (LeaseState.SUSPENDED_SCHEDULED, LeaseState.SUSPENDED_QUEUED, LeaseState.SUSPENDED_PENDING)
    assert lease.progress is not None
    assert lease.progress.permille == 0
    assert lease.progress.virtual == 1000 * lease.accumulated > 0
    world.until(1_000)
    again = world["work"]
    assert again.state is LeaseState.ACTIVE
    assert again.progress is not None
    assert again.active_since is not None
    assert again.progress.virtual_at(1_000) == lease.progress.virtual + 1000 * (1_000 - again.active_since)


def test_virtual_time_starts_over_with_work_that_is_lost() -> None:
    failure = CloudBehaviour(host_failures=(HostFailure(0, 100, 50),))
    world = _world(_fluid("work", 50, 60), cloud=failure).until(120)
    assert world["work"].progress is None
    world.until(5_000)
    lease = world["work"]
    assert lease.progress is not None
    assert lease.active_since is not None
    assert lease.progress.virtual_at(5_000) == 1000 * (5_000 - lease.active_since)


def test_virtual_time_begins_anew_where_another_host_takes_the_lease_at_once() -> None:
    """Its work is lost, and it begins again, in one step."""
    failure = CloudBehaviour(host_failures=(HostFailure(0, 100, 50),))
    world = _world(_fluid("work", 50, 60), hosts=2, cloud=failure).until(200)
    lease = world["work"]
    assert (lease.accumulated, lease.active_since) == (0, 100)
    assert lease.progress == Progress(0, 1000, 100)


def test_requests_are_refused_where_nothing_is_shared() -> None:
    """Also in quotes; leases of an earlier policy go on with what they hold."""
    world = _world(_fluid("a", 10, 10), policy="none").until(0)
    assert (world["a"].state, world["a"].reason) == (
        LeaseState.REJECTED,
        "min_yield: this site has no fluid leases; leave it out",
    )
    found = world.run.engine.quote(_fluid("b", 10, 10))
    assert found.refusal is not None
    assert (found.refusal.reason, found.granted) == ("fractional", False)


def test_leases_have_what_they_hold_when_the_policy_is_switched_off() -> None:
    world = _world(_fluid("a", 50, 10)).until(10)
    engine = world.run.engine
    engine.use(replace(engine.policies, fractional=NoFractional(PolicyOptions())))
    world.unattended_until(20)
    assert world["a"].progress == Progress(20_000, 100, 20)


@pytest.mark.parametrize(
    ("terms", "problem"),
    [
        ({"min_yield": 1.5}, "must be from 0 to 1, not 1.5"),
        ({"min_yield": float("nan")}, "must be from 0 to 1, not nan"),
        ({"min_yield": None}, "must be from 0 to 1, not None"),
        ({"preemptible": False}, "is for preemptible leases; make this one preemptible or leave it out"),
        (
            {"preemption_mode": PreemptionMode.NONE},
            "is for preemptible leases; make this one preemptible or leave it out",
        ),
        (
            {"kind": LeaseKind.IMMEDIATE},
            "is for best-effort leases; one of kind immediate has all its VCPU; leave it out",
        ),
    ],
)
def test_terms_that_make_no_sense_are_refused(terms: dict[str, Any], problem: str) -> None:
    with pytest.raises(InvalidValueError) as refused:
        replace(_fluid("a", 10, 10), **terms)
    assert (refused.value.field, refused.value.problem) == ("min_yield", problem)


@pytest.mark.parametrize(
    ("need", "min_yield", "held"), [(4, 0.25, 1), (4, 0.26, 2), (100, 0.07, 7), (3, 0.01, 1), (2, 1, 2)]
)
def test_what_is_held_is_rounded_up(need: int, min_yield: float, held: int) -> None:
    """To whole VCPU, but not because of the rounding errors of a product."""
    node_set = NodeSet(1, Resources({VCPU: need, MEMORY_MB: 1})).made_fluid(min_yield)
    assert (node_set.resources.get(VCPU), node_set.fluid) == (held, need - held)
    assert node_set.made_fluid(min_yield) == node_set


def test_nothing_is_left_on_a_host_without_cpu() -> None:
    """A site whose hosts name no VCPU has fluid leases of memory only, at full speed."""
    host = Host("one", Resources({MEMORY_MB: 100}))
    nodes = (NodeSet(1, Resources({MEMORY_MB: 10})),)
    lease = LeaseRequest("a", LeaseKind.BEST_EFFORT, nodes, 0, duration=100, preemptible=True, min_yield=0.5)
    world = World(
        Run(Workload("test", (WorkloadLease(lease),), Site((host,))), RunSettings(policies={"fractional": "max-min"}))
    )
    assert _part(world.until(10), "a") == 1


def _progress(world: World, lease_id: str) -> Progress:
    progress = world[lease_id].progress
    assert progress is not None
    return progress


def test_cpu_that_a_lease_does_not_need_goes_to_the_others() -> None:
    """Both declared 100 of 100 and hold 10; one needs 30, so the other one is given 70."""
    world = _world(_fluid("a", 100, 20), _fluid("b", 100, 20)).until(10)
    assert [_progress(world, name) for name in "ab"] == [Progress(0, 500, 0)] * 2
    world.run.engine.note_needs(Needs({"a": 0.3}))
    world.unattended_until(20)
    # In terms of what it needs, each gets the same part beyond what it holds: 10 + 20 y + 10 + 90 y = 100.
    part = 80 / 110
    a, b = (_progress(world, name) for name in "ab")
    assert (a.permille, a.given) == (int(1000 * (10 + 20 * part) / 30), int(10 * (10 + 20 * part)))
    assert (b.permille, b.given) == (int(10 * (10 + 90 * part)), int(10 * (10 + 90 * part)))
    assert a.virtual == b.virtual == 20 * 500
    # If both need little, both have all of that, and what nobody needs is divided, too.
    world.run.engine.note_needs(Needs({"a": 0.3, "b": 0.05}))
    world.unattended_until(30)
    assert [_progress(world, name).permille for name in "ab"] == [1000, 1000]
    assert sum(_progress(world, name).given or 0 for name in "ab") == pytest.approx(1000, abs=2)
    # When nothing is known any more, it is as it was in the beginning.
    world.run.engine.note_needs(Needs({}))
    world.unattended_until(40)
    assert [(each.permille, each.given) for each in (_progress(world, name) for name in "ab")] == [(500, None)] * 2


def test_a_lease_that_is_tried_has_all_that_others_do_not_hold() -> None:
    """Neither other fluid leases nor reservations ever have less than they hold."""
    world = _world(_fluid("a", 100, 20), _fluid("b", 100, 20, 0.25), _reserved("booked", 30, 0, 1_000)).until(10)
    world.run.engine.note_needs(Needs({"a": 0.2}, frozenset("a")))
    world.unattended_until(20)
    assert [_progress(world, name).given for name in "ab"] == [450, 250]
    assert world["booked"].state is LeaseState.ACTIVE
