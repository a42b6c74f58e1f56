"""When a lease disappears, the leases that were to make room for it continue, or resume sooner."""

from __future__ import annotations

from dataclasses import replace

import pytest

from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.plan.options import Suspension
from tests.unit.engine.conftest import MakeWorld, request

BEST_EFFORT, DEADLINE, RESERVATION = LeaseKind.BEST_EFFORT, LeaseKind.DEADLINE, LeaseKind.RESERVATION

#: Takes the only host away from the lease "work" of 5,000 s.
TAKES = request("takes", RESERVATION, submitted=10, start=1000)
BEST_EFFORT_WORK = request("work", BEST_EFFORT, duration=5000)
DEADLINE_WORK = request("work", DEADLINE, duration=5000, start=0, deadline=20_000)


@pytest.mark.parametrize("work", [BEST_EFFORT_WORK, DEADLINE_WORK], ids=["best-effort", "deadline"])
@pytest.mark.parametrize("how", ["cancel", "end"])
def test_a_lease_that_runs_goes_on(make_world: MakeWorld, work: object, how: str) -> None:
    world = make_world(work, TAKES, hosts=1).until(500)
    assert world["work"].holdings[0].end == 1000
    getattr(world.run.engine, how)("takes")
    assert world.end()["work"].ended == 5000
    assert "suspensions" not in world.counters


@pytest.mark.parametrize("suspension", [Suspension.NONE, Suspension.ALL])
def test_it_goes_on_if_the_reservation_begins_later(make_world: MakeWorld, suspension: Suspension) -> None:
    work = request("work", BEST_EFFORT, duration=1200)
    world = make_world(work, TAKES, hosts=1, planning={"suspension": suspension}).until(500)
    world.run.engine.change("takes", replace(TAKES, start=3000))
    assert world.end()["work"].ended == 1200
    assert world["takes"].started == 3000


def test_a_later_lease_that_waits_behind_the_reservation_waits_for_it(make_world: MakeWorld) -> None:
    later = request("later", BEST_EFFORT, submitted=20, duration=500)
    world = make_world(BEST_EFFORT_WORK, TAKES, later, hosts=1).until(500)
    assert world["later"].holdings[0].start == 2000
    world.run.engine.cancel("takes")
    assert world.end()["work"].ended == 5000
    assert world["later"].started == 5000


def test_an_earlier_lease_that_waits_keeps_its_place(make_world: MakeWorld) -> None:
    """Backfilling does not delay the first lease in the queue, whatever is cancelled."""
    earlier = request("earlier", BEST_EFFORT, 2, duration=500, submitted=5)
    holds = request("holds", RESERVATION, duration=2000, start=0)
    work = request("work", BEST_EFFORT, duration=5000, submitted=6)
    world = make_world(holds, earlier, work, TAKES, hosts=2).until(500)
    assert world["earlier"].holdings[0].start == 2000
    world.run.engine.cancel("takes")
    assert world.end()["earlier"].started == 2000


@pytest.mark.parametrize(("cancelled", "ended"), [(950, 950 + 32 + 4132), (880, 900 + 32 + 4132)])
def test_a_deadline_lease_that_was_suspended_comes_back_at_once(
    make_world: MakeWorld, cancelled: int, ended: int
) -> None:
    """Suspended from 868 on, a buffer ahead of the reservation; cancelled behind that and in the middle of it."""
    world = make_world(DEADLINE_WORK, TAKES, hosts=1, planning={"suspend_buffer": 100}).until(cancelled)
    assert world["work"].holdings[-1].start == 2000
    world.run.engine.cancel("takes")
    assert world.end()["work"].ended == ended


def test_a_deadline_lease_that_has_not_begun_is_whole_again(make_world: MakeWorld) -> None:
    work = replace(DEADLINE_WORK, start=500)
    world = make_world(work, replace(TAKES, start=600), hosts=1).until(400)
    assert len(world["work"].holdings) == 2
    world.run.engine.cancel("takes")
    assert world.end()["work"].ended == 5500
