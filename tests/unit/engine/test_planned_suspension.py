"""Leases that are suspended only when they are preempted (haizea F51, F53)."""

from __future__ import annotations

import pytest

from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.lease import LeaseRequest
from lease_scheduler.model.nodes import NodeSet
from lease_scheduler.model.states import LeaseState
from lease_scheduler.plan.options import Suspension
from tests.unit.engine.conftest import VM, MakeWorld


def _best_effort(nodes: int = 1) -> LeaseRequest:
    return LeaseRequest("1", LeaseKind.BEST_EFFORT, (NodeSet(nodes, VM),), 10, preemptible=True, duration=2000)


def _reservation(submitted: int, nodes: int = 1) -> LeaseRequest:
    nodes_of_it = (NodeSet(nodes, VM),)
    return LeaseRequest("r", LeaseKind.RESERVATION, nodes_of_it, submitted, start=1000, duration=500)


@pytest.mark.parametrize(
    ("planned", "nodes", "starts"),
    [
        (None, 1, 10),
        (Suspension.ALL, 1, 10),
        (Suspension.SERIAL_ONLY, 1, 10),
        (Suspension.SERIAL_ONLY, 2, 1500),
        (Suspension.NONE, 1, 1500),
    ],
)
def test_a_gap_that_is_too_short_is_used_if_suspensions_are_planned(
    make_world: MakeWorld, planned: Suspension | None, nodes: int, starts: int
) -> None:
    """The reservation comes first; the best-effort lease starts before it and is suspended, or waits for its end."""
    leases = (_reservation(0, nodes), _best_effort(nodes))
    world = make_world(*leases, hosts=nodes, planning={"planned_suspension": planned}).end()
    assert world["1"].started == starts
    assert world.counters.get("suspensions", 0) == (1 if starts == 10 else 0)


def test_who_is_preempted_is_suspended_all_the_same(make_world: MakeWorld) -> None:
    planning = {"planned_suspension": Suspension.NONE}
    world = make_world(_best_effort(), _reservation(100), hosts=1, planning=planning).end()
    assert world["1"].state is LeaseState.DONE
    assert (world.counters["suspensions"], world.counters["resumptions"]) == (1, 1)
    assert world.counters.get("preemptions_with_loss", 0) == 0


def test_planned_suspension_allows_no_more_than_suspension(make_world: MakeWorld) -> None:
    planning = {"planned_suspension": Suspension.ALL, "suspension": Suspension.NONE}
    world = make_world(_reservation(0), _best_effort(), hosts=1, planning=planning).end()
    assert world["1"].started == 1500
