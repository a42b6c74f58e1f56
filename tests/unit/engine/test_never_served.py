"""Best-effort leases that the queueing policy would never let start are refused (shirako P19c)."""

from __future__ import annotations

from dataclasses import replace

import pytest

from lease_scheduler.engine.behaviour import CloudBehaviour
from lease_scheduler.model.host import Site
from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.states import LeaseState
from lease_scheduler.plan.explaining.explain import NoPlaceError
from lease_scheduler.simulation.run import Run
from lease_scheduler.simulation.settings import RunSettings
from lease_scheduler.simulation.workload import Workload, WorkloadLease

from .conftest import VM, World, change, request

BEST_EFFORT = LeaseKind.BEST_EFFORT


def _world(*durations: int) -> World:
    """Return a site of four hosts with windows of 100 s, and leases of two nodes, which may have 200 s."""
    leases = [WorkloadLease(request(str(number), BEST_EFFORT, 2, each)) for number, each in enumerate(durations, 1)]
    settings = RunSettings(
        policies={"queueing": "winks"},
        policy_options={"winks_window": "100", "winks_debt": "no"},
        cloud=CloudBehaviour(),
    )
    return World(Run(Workload("test", tuple(leases), Site.homogeneous(4, VM)), settings))


def test_it_is_refused_at_once_with_the_reason() -> None:
    world = _world(200, 201).until(0)

    assert world["1"].state is LeaseState.ACTIVE
    assert world["2"].state is LeaseState.REJECTED
    assert "would never start" in (world["2"].reason or "")


def test_its_quote_is_refused_too() -> None:
    world = _world(200).until(0)
    quoted = world.run.engine.quote(request("2", BEST_EFFORT, 2, 201))

    assert quoted.refusal is not None
    assert (quoted.refusal.reason, quoted.granted) == ("policy", False)
    assert world.run.engine.quote(request("2", BEST_EFFORT, 2, 200)).granted


def test_it_gets_as_many_nodes_as_may_start() -> None:
    """Of four nodes down to one, three would cost more than a window has."""
    world = _world().until(0)
    world.run.engine.submit(request("1", BEST_EFFORT, 4, 190), (1,))
    world.run.engine.step()

    assert world["1"].request.node_count == 2


def test_a_queued_lease_cannot_become_such_a_lease() -> None:
    world = _world(200, 200, 200).until(0)
    queued = next(each for each in world.run.engine.live_leases() if each.state is LeaseState.QUEUED)

    with pytest.raises(NoPlaceError, match="would never start"):
        change(world, queued.lease_id, duration=300)
    assert world[queued.lease_id] == queued
    assert change(world, queued.lease_id, duration=150).after.request.duration == 150


def test_a_lease_that_runs_may_run_longer() -> None:
    """Its flow pays for it, as for every overrun."""
    world = _world(200).until(50)

    assert change(world, "1", duration=300).after.request == replace(world["1"].request, duration=300)
    assert world.end()["1"].accumulated == 300
