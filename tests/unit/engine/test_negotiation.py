"""Offers that belong together, and what a cancelled lease leaves to others (haizea F8)."""

from __future__ import annotations

from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.states import LeaseState

from .conftest import MakeWorld, request

BEST_EFFORT, RESERVATION = LeaseKind.BEST_EFFORT, LeaseKind.RESERVATION


def test_accepting_a_replacement_ends_the_lease_that_it_replaces(make_world: MakeWorld) -> None:
    """If it has started meanwhile, it continues."""
    for start, state in ((1000, LeaseState.CANCELLED), (50, LeaseState.ACTIVE)):
        world = make_world(request("1", RESERVATION, start=start, duration=3000))
        world.until(0)
        world.run.engine.submit(request("2", RESERVATION, start=5000), offered_for=500, negotiation="1")
        world.unattended_until(100)
        world.run.engine.held.accept("2")
        assert world["1"].state is state
        world.end()
        assert world["2"].state is LeaseState.DONE


def test_who_was_to_make_room_for_a_lease_that_is_cancelled_goes_on(make_world: MakeWorld) -> None:
    """It runs, and would have been suspended for the reservation and resumed afterwards."""
    for how in ("cancel", "end"):
        world = make_world(
            request("1", BEST_EFFORT, 1, 2000), request("2", RESERVATION, submitted=10, start=1000), hosts=1
        ).until(500)
        assert world["1"].holdings[0].run_end < 1000
        getattr(world.run.engine, how)("2")
        world.end()
        assert world["2"].state is LeaseState.CANCELLED
        assert (world["1"].state, world["1"].ended) == (LeaseState.DONE, 2000)
        assert not world.counters.get("suspensions")


def test_who_has_to_make_room_for_another_one_still_does(make_world: MakeWorld) -> None:
    world = make_world(
        request("1", BEST_EFFORT, 1, 3000),
        request("2", RESERVATION, submitted=10, start=1000, duration=200),
        request("3", RESERVATION, submitted=20, start=1500, duration=200),
        hosts=1,
    ).until(500)
    world.run.engine.cancel("2")
    world.end()
    assert [world[i].state for i in "13"] == [LeaseState.DONE] * 2
    assert (world["3"].started, world["1"].accumulated) == (1500, 3000)
