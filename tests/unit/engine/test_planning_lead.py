"""Nothing that is replanned starts within the planning lead (haizea F93)."""

from __future__ import annotations

import pytest

from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.states import LeaseState
from tests.unit.engine.conftest import MakeWorld, request

BEST_EFFORT, DEADLINE, RESERVATION = LeaseKind.BEST_EFFORT, LeaseKind.DEADLINE, LeaseKind.RESERVATION


@pytest.mark.parametrize("kind", [BEST_EFFORT, DEADLINE])
def test_what_waits_for_a_cancelled_lease_begins_after_the_lead(make_world: MakeWorld, kind: LeaseKind) -> None:
    terms = {} if kind is BEST_EFFORT else {"start": 10, "deadline": 9000}
    world = make_world(
        request("first", RESERVATION, start=0, duration=1000),
        request("waits", kind, submitted=10, duration=200, **terms),
        hosts=1,
        engine={"planning_lead": 30},
    ).until(400)
    assert world["waits"].holdings[0].start == 1000

    world.run.engine.cancel("first")
    assert world["waits"].holdings[0].start == 430
    assert world.end()["waits"].started == 430


def test_what_begins_within_the_lead_anyway_keeps_its_place(make_world: MakeWorld) -> None:
    world = make_world(
        request("first", RESERVATION, start=0, duration=1000),
        request("waits", BEST_EFFORT, submitted=10, duration=200),
        hosts=1,
        engine={"planning_lead": 30},
    ).until(980)
    world.run.engine.cancel("first")
    assert world["waits"].holdings[0].start == 1000


def test_a_deadline_lease_that_is_back_sooner_begins_after_the_lead(make_world: MakeWorld) -> None:
    world = make_world(
        request("work", DEADLINE, start=0, duration=1000, deadline=5000),
        request("gone", RESERVATION, submitted=10, start=500, duration=100),
        hosts=1,
        engine={"planning_lead": 30},
        planning={"suspend_buffer": 100},
    ).until(450)
    assert world["work"].holdings[0].start == 600

    world.run.engine.cancel("gone")
    assert world["work"].holdings[0].start == 480


@pytest.mark.parametrize(("deadline", "start"), [(2000, 430), (1420, 430), (1419, 400), (1390, 400)])
def test_a_deadline_lease_begins_within_the_lead_where_it_would_be_too_late_otherwise(
    make_world: MakeWorld, deadline: int, start: int
) -> None:
    """Its host dies at 400 and all of its work is lost; another host is free."""
    work = request("work", DEADLINE, start=0, duration=990, deadline=deadline)
    world = make_world(work, engine={"planning_lead": 30}).until(400)
    (lost,) = world["work"].holdings[0].assignment

    world.run.engine.hosts.out(world.run.site.hosts[lost].name)

    assert world["work"].holdings[0].start == start
    world.end()
    assert (world["work"].state, world["work"].ended) == (LeaseState.DONE, start + 990)
