"""Preemptions are counted with and without loss, apart from leases that are only moved (haizea F36, F57, F60)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.lease import LeaseRequest
from lease_scheduler.model.nodes import NodeSet
from lease_scheduler.model.states import LeaseState
from lease_scheduler.plan.fitting.shortage import Shortage
from lease_scheduler.plan.interfaces import Victim
from lease_scheduler.plan.options import RoomLead, Suspension
from lease_scheduler.policy.base import PolicyOptions
from lease_scheduler.policy.preemption.by_kind import ByKind
from tests.unit.engine.conftest import VM, MakeWorld, World

BEST_EFFORT, RESERVATION, DEADLINE = LeaseKind.BEST_EFFORT, LeaseKind.RESERVATION, LeaseKind.DEADLINE

_COUNTERS = ("preempted_leases", "preempted_nodes", "preemptions_without_loss", "preemptions_with_loss")


def _request(lease_id: str, kind: LeaseKind, nodes: int = 1, submitted: int = 0, **terms: Any) -> LeaseRequest:
    preemptible = kind is not RESERVATION
    terms.setdefault("duration", 1000)
    return LeaseRequest(lease_id, kind, (NodeSet(nodes, VM),), submitted, preemptible=preemptible, **terms)


def _counted(world: World) -> tuple[int, ...]:
    return tuple(world.counters.get(name, 0) for name in _COUNTERS)


def test_suspended_leases_lose_nothing(make_world: MakeWorld) -> None:
    """A lease of two nodes and one of one node run, and both make room."""
    world = make_world(
        _request("1", BEST_EFFORT, 2),
        _request("2", BEST_EFFORT, 1),
        _request("3", RESERVATION, 3, 100, start=500),
        hosts=3,
    ).end()
    assert _counted(world) == (2, 3, 2, 0)


def test_a_lease_that_cannot_be_suspended_loses_its_work(make_world: MakeWorld) -> None:
    world = make_world(
        _request("1", BEST_EFFORT, 2, duration=1500),
        _request("2", RESERVATION, 2, 100, start=1000),
        planning={"suspension": Suspension.NONE},
    ).end()
    assert _counted(world) == (1, 2, 0, 1)


def test_a_lease_that_has_not_begun_loses_its_place_and_no_work(make_world: MakeWorld) -> None:
    """The second lease is to follow the first one; a reservation takes its place."""
    world = make_world(
        _request("1", RESERVATION, 2, start=0, duration=500),
        _request("2", BEST_EFFORT, 2, duration=100),
        _request("3", RESERVATION, 2, 100, start=500),
    ).end()
    assert _counted(world) == (1, 2, 1, 0)


def test_a_lease_that_is_planned_elsewhere_in_time_is_moved(make_world: MakeWorld) -> None:
    """The deadline lease has slack and has not started: it starts later, and is not preempted."""
    world = make_world(
        _request("1", DEADLINE, 2, start=500, duration=200, deadline=5000),
        _request("2", RESERVATION, 2, 100, start=400),
    ).end()
    assert world["1"].state is LeaseState.DONE
    assert world["1"].started == 1400
    assert _counted(world) == (0, 0, 0, 0)
    assert world.counters["preemptions"] == 1


def test_a_deadline_lease_that_is_suspended_is_preempted(make_world: MakeWorld) -> None:
    world = make_world(
        _request("1", DEADLINE, 2, start=0, deadline=9000),
        _request("2", RESERVATION, 2, 100, start=600),
    ).end()
    assert world["1"].state is LeaseState.DONE
    assert _counted(world) == (1, 2, 1, 0)


class LastFirst(ByKind):
    """Takes the candidates in reverse order, and never lease 2."""

    def choose(self, preemptor: LeaseRequest, candidates: Sequence[Victim], shortage: Shortage) -> Sequence[Victim]:
        return [victim for victim in reversed(candidates) if victim.lease.lease_id != "2"]


@pytest.mark.parametrize(("nodes", "suspended"), [(1, {"1"}), (2, {"1", "3"}), (3, set())])
def test_a_policy_chooses_its_victims(make_world: MakeWorld, nodes: int, suspended: set[str]) -> None:
    """haizea F36: the planner takes as few victims as needed, in the policy's order, and never excluded leases."""
    leases = [_request(str(number), BEST_EFFORT, submitted=number) for number in (1, 2, 3)]
    world = make_world(*leases, hosts=3, planning={"room_lead": RoomLead.LOSE})
    planner = world.run.planner
    planner.context = replace(planner.context, preemption=LastFirst(PolicyOptions()))
    world.until(100)
    world.run.engine.submit(_request("r", RESERVATION, nodes, 100, start=500))
    world.run.engine.step()
    world.until(500)
    assert {lease_id for lease_id in "123" if world[lease_id].state is not LeaseState.ACTIVE} == suspended
