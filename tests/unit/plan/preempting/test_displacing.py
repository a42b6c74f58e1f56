"""How many leases have to be preempted."""

from __future__ import annotations

from dataclasses import replace

import pytest

from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.states import LeaseState
from lease_scheduler.plan.preempting.displacing import fewest_for_capacity
from tests.unit.plan.conftest import MakeLease, MakePlanner


@pytest.mark.parametrize("needed", range(1, 13))
def test_no_more_leases_are_preempted_than_needed(
    make_planner: MakePlanner, make_lease: MakeLease, needed: int
) -> None:
    """Ten leases hold a host each, and two hosts are free."""
    planner = make_planner(12)
    running = []
    for _ in range(10):
        lease = planner.enqueue(make_lease(LeaseKind.BEST_EFFORT, duration=1_000))
        planner.process_queue(0)
        placed = planner.plan.leases[lease.lease_id]
        running.append(planner.plan.put(replace(placed.to(LeaseState.ACTIVE), active_since=0, started=0)))
    request = make_lease(LeaseKind.BEST_EFFORT, nodes=needed).request

    assert fewest_for_capacity(planner.context, request, 100, 200, running) == max(0, needed - 2)
    assert fewest_for_capacity(planner.context, request, 100, 200, []) == (0 if needed <= 2 else None)
