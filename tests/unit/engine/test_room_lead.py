"""What a start at short notice means for victims that could be suspended if there were time."""

from __future__ import annotations

from dataclasses import replace

import pytest

from lease_scheduler.model.durations import in_words
from lease_scheduler.model.kinds import LeaseKind, PreemptionMode
from lease_scheduler.plan.explaining.explain import NoPlaceError
from lease_scheduler.plan.options import RoomLead
from tests.unit.engine.conftest import MakeWorld, World, request

BEST_EFFORT, DEADLINE, RESERVATION = LeaseKind.BEST_EFFORT, LeaseKind.DEADLINE, LeaseKind.RESERVATION

#: Suspending or resuming a VM takes 32 s.
WORK = request("work", BEST_EFFORT, duration=2000)


def _world(make_world: MakeWorld, lead: RoomLead, notice: int = 0, **planning: object) -> World:
    """Return a run with a lease that runs from 0 s on, and a reservation that is requested at 500 s."""
    asked = request("now", RESERVATION, submitted=500, start=500 + notice, duration=100)
    return make_world(WORK, asked, hosts=1, planning={"room_lead": lead, **planning})


@pytest.mark.parametrize(("notice", "start"), [(0, 532), (10, 532), (32, 532), (60, 560)])
def test_strict_lets_the_start_wait_and_says_so(make_world: MakeWorld, notice: int, start: int) -> None:
    world = _world(make_world, RoomLead.STRICT, notice).until(500)
    found = world["now"]
    assert (found.request.start, found.holdings[0].run_start) == (start, start)
    waits = start - 500 - notice
    assert found.reason == (
        f"starts {in_words(waits)} later than requested: other leases are suspended first" if waits else ""
    )
    world.end()
    assert (world["now"].started, world["now"].ended) == (start, start + 100), "all of the duration is delivered"
    assert world["work"].ended == start + 100 + 32 + (2000 - (start - 32))
    assert "preemptions_with_loss" not in world.counters


def test_the_buffer_and_the_grace_are_left_as_well(make_world: MakeWorld) -> None:
    world = _world(make_world, RoomLead.STRICT, suspend_buffer=5, preemption_grace=20).end()
    assert world["now"].started == 500 + 20 + 32 + 5


def test_charge_keeps_the_start_and_the_work_and_takes_the_time(make_world: MakeWorld) -> None:
    world = _world(make_world, RoomLead.CHARGE).end()
    assert world["now"].started == 500
    assert world["work"].ended == 600 + 32 + (2000 - 500) + 32
    assert "preemptions_with_loss" not in world.counters


def test_what_is_charged_is_no_more_than_what_was_done(make_world: MakeWorld) -> None:
    work = replace(WORK, submitted=490)
    asked = request("now", RESERVATION, submitted=500, start=500, duration=100)
    world = make_world(work, asked, hosts=1, planning={"room_lead": RoomLead.CHARGE}).end()
    assert world["work"].ended == 600 + 32 + 2000


def test_lose_has_the_victim_start_over(make_world: MakeWorld) -> None:
    world = _world(make_world, RoomLead.LOSE).end()
    assert world["now"].started == 500
    assert world["work"].ended == 600 + 2000
    assert world.counters["preemptions_with_loss"] == 1


@pytest.mark.parametrize("mode", [PreemptionMode.DELETE, PreemptionMode.SUSPEND])
def test_nobody_waits_for_what_cannot_be_suspended(make_world: MakeWorld, mode: PreemptionMode) -> None:
    work = replace(WORK, preemption_mode=mode)
    asked = request("now", RESERVATION, submitted=500, start=500, duration=100)
    world = make_world(work, asked, hosts=1, planning={"room_lead": RoomLead.STRICT}).end()
    assert world["now"].started == (500 if mode is PreemptionMode.DELETE else 532)


def test_strict_saves_what_has_only_just_begun(make_world: MakeWorld) -> None:
    """The threshold for short runs applies to planning; here it would lose work."""
    world = make_world(
        replace(WORK, submitted=499),
        request("now", RESERVATION, submitted=500, start=500, duration=100),
        hosts=1,
        planning={"room_lead": RoomLead.STRICT},
    ).end()
    assert world["now"].started == 532
    assert world["work"].ended == 632 + 32 + 1999


@pytest.mark.parametrize("instant", [660, 665])
def test_strict_waits_for_a_victim_that_is_just_being_resumed(make_world: MakeWorld, instant: int) -> None:
    """The work was suspended once already, and is being restored from 600 s to 632 s, or has just been."""
    world = make_world(
        WORK,
        request("first", RESERVATION, submitted=10, start=500, duration=140),
        request("now", RESERVATION, submitted=instant, start=instant, duration=100),
        hosts=1,
        planning={"room_lead": RoomLead.STRICT},
    ).end()
    assert world["now"].started == 672 + 1 + 32
    assert world["work"].ended == 705 + 100 + 32 + (2000 - 468 - 1)
    assert "preemptions_with_loss" not in world.counters


def test_a_tight_deadline_lease_waits_as_well(make_world: MakeWorld) -> None:
    """It starts when the best-effort lease is suspended, which its deadline allows."""
    tight = request("tight", DEADLINE, submitted=500, start=500, duration=100, deadline=640)
    world = make_world(WORK, tight, hosts=1, planning={"room_lead": RoomLead.STRICT}).end()
    assert (world["tight"].started, world["tight"].ended) == (532, 632)


def test_a_lease_that_is_held_begins_after_it_can_have_been_accepted(make_world: MakeWorld) -> None:
    world = make_world(WORK, hosts=1, planning={"room_lead": RoomLead.STRICT}).until(500)
    engine = world.run.engine
    engine.submit(request("held", RESERVATION, submitted=500, start=510, duration=100), offered_for=300)
    engine.step()
    held = world["held"]
    assert held.request.start == 510 + 32
    assert held.offered_until == 510
    engine.held.accept("held")
    assert world.end()["held"].started == 542
    assert "preemptions_with_loss" not in world.counters


def test_terms_that_are_changed_to_begin_now_wait_too(make_world: MakeWorld) -> None:
    later = request("now", RESERVATION, submitted=10, start=5000, duration=100)
    world = make_world(WORK, later, hosts=1, planning={"room_lead": RoomLead.STRICT}).until(500)
    change = world.run.engine.change("now", replace(later, start=500))
    assert change.after.request.start == 532
    assert world.end()["now"].started == 532


def test_a_reservation_whose_host_dies_gets_another_one_when_that_is_free(make_world: MakeWorld) -> None:
    """Its end stays; no other lease loses work for it, and the host is not given to the queue."""
    holding = request("promised", RESERVATION, start=0, duration=1000)
    world = make_world(holding, replace(WORK, submitted=1), planning={"room_lead": RoomLead.STRICT}).until(500)
    hosts = world["promised"].holdings[0].assignment
    world.run.engine.hosts.out(world.run.site.hosts[hosts[0]].name)
    assert world.until(531)["promised"].holdings[0].assignment == hosts
    assert world.until(532)["promised"].holdings[0].assignment != hosts
    world.end()
    assert world["promised"].ended == 1000
    assert world["work"].ended == 1000 + 32 + (2000 - 499)
    assert "preemptions_with_loss" not in world.counters


def test_a_quote_tells_the_start_that_there_would_be(make_world: MakeWorld) -> None:
    world = make_world(WORK, hosts=1, planning={"room_lead": RoomLead.STRICT}).until(500)
    quote = world.run.engine.quote(request("q", RESERVATION, submitted=500, start=500, duration=100))
    assert quote.lease is not None
    assert quote.lease.request.start == quote.lease.holdings[0].run_start == 532
    assert quote.preempted == ("work",)


def test_more_nodes_for_a_lease_that_runs_are_refused_with_the_instant_of_a_second_lease(make_world: MakeWorld) -> None:
    """The victim would lose work; what the refusal offers is granted."""
    promised = request("promised", RESERVATION, start=0, duration=1000)
    world = make_world(promised, replace(WORK, submitted=1), planning={"room_lead": RoomLead.STRICT}).until(500)
    with pytest.raises(NoPlaceError, match="1 additional nodes would be granted, starting 32 s from now"):
        world.run.engine.change("promised", replace(promised, nodes=(replace(promised.nodes[0], count=2),)))
    second = request("second", RESERVATION, submitted=500, start=500, duration=500)
    world.run.engine.submit(second)
    world.run.engine.step()
    world.end()
    assert world["second"].started == 532
    assert "preemptions_with_loss" not in world.counters
