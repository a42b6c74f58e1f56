"""Attributes for preemption, and those that are only passed through, can be changed alone (issue 16; haizea F26)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from lease_scheduler.model.kinds import LeaseKind, PreemptionMode
from lease_scheduler.model.states import LeaseState
from lease_scheduler.plan.explaining.explain import NoPlaceError

from .conftest import MakeWorld, change, request

BEST_EFFORT, RESERVATION, DEADLINE = LeaseKind.BEST_EFFORT, LeaseKind.RESERVATION, LeaseKind.DEADLINE


@pytest.mark.parametrize("kind", [BEST_EFFORT, RESERVATION, DEADLINE])
@pytest.mark.parametrize("instant", [50, 500])
def test_what_does_not_concern_its_place_leaves_it_there(make_world: MakeWorld, kind: LeaseKind, instant: int) -> None:
    terms = {RESERVATION: {"start": 100}, DEADLINE: {"start": 100, "deadline": 5000}, BEST_EFFORT: {}}[kind]
    world = make_world(request("1", kind, 2, 1000, **terms), hosts=3, pricing="constant").until(instant)
    before = world["1"]
    changed: dict[str, Any] = {
        "preemptible": not before.request.preemptible,
        "preemption_mode": PreemptionMode.DELETE,
        "extras": {"note": "x"},
    }
    after = change(world, "1", **changed).after
    assert after == replace(before, request=replace(before.request, **changed))
    assert world["1"] == after
    assert world.end()["1"].state is LeaseState.DONE


def test_the_price_stays_to_the_last_digit(make_world: MakeWorld) -> None:
    """A third of an hour, which floating-point division and multiplication would change."""
    world = make_world(
        request("1", RESERVATION, 3, 1200, start=100, extras={"simul_userrate": "0.7"}), hosts=3, pricing="maximum"
    ).until(200)
    before = world["1"].grant
    assert before.price is not None
    assert change(world, "1", preemptible=True).after.grant == before


def test_who_became_preemptible_gives_way(make_world: MakeWorld) -> None:
    world = make_world(
        request("1", BEST_EFFORT, 2, 1000, preemptible=False),
        request("2", RESERVATION, 2, 300, start=600, submitted=100),
        request("3", RESERVATION, 2, 300, start=600, submitted=200),
    ).until(150)
    assert world["2"].state is LeaseState.REJECTED
    change(world, "1", preemptible=True)
    assert world.until(700)["3"].state is LeaseState.ACTIVE
    assert world.end()["1"].accumulated == 1000


def test_who_is_not_preemptible_any_more_stays(make_world: MakeWorld) -> None:
    world = make_world(
        request("1", BEST_EFFORT, 2, 1000),
        request("2", RESERVATION, 2, 300, start=600, submitted=200),
    ).until(150)
    change(world, "1", preemptible=False)
    assert world.until(700)["2"].state is LeaseState.REJECTED
    assert world["1"].state is LeaseState.ACTIVE


@pytest.mark.parametrize("changed", [{"preemptible": False}, {"preemption_mode": PreemptionMode.DELETE}])
def test_who_is_to_be_suspended_cannot_get_out_of_it(make_world: MakeWorld, changed: dict[str, Any]) -> None:
    """Otherwise a tenant could break a promise that was made to another."""
    world = make_world(
        request("1", BEST_EFFORT, 2, 1000),
        request("2", RESERVATION, 2, 300, start=600, submitted=100),
    ).until(150)
    before = world["1"]
    with pytest.raises(NoPlaceError, match="its hosts are promised to other leases"):
        change(world, "1", **changed)
    assert world["1"] == before
    # Attributes without influence on that can be changed.
    assert change(world, "1", extras={"note": "x"}).after.holdings == before.holdings
    assert world.until(700)["2"].state is LeaseState.ACTIVE
    assert world.end()["1"].accumulated == 1000


def test_a_deadline_lease_that_waits_is_planned_anew_when_it_was_to_be_suspended(make_world: MakeWorld) -> None:
    world = make_world(
        request("1", DEADLINE, 2, 1000, start=100, deadline=5000),
        request("2", RESERVATION, 2, 300, start=600, submitted=10),
    ).until(50)
    after = change(world, "1", preemptible=False).after
    assert len(after.holdings) == 1
    assert after.holdings[0].run_end - after.holdings[0].run_start == 1000
    assert world.until(700)["2"].state is LeaseState.ACTIVE
    assert world.end()["1"].state is LeaseState.DONE


def test_saved_work_continues_from_where_it_is(make_world: MakeWorld) -> None:
    world = make_world(
        request("1", BEST_EFFORT, 2, 1000),
        request("2", RESERVATION, 2, 300, start=600, submitted=100),
    ).until(700)
    with pytest.raises(NoPlaceError, match="its work is saved by suspend, and continues from there"):
        change(world, "1", preemption_mode=PreemptionMode.SHELVE)
    assert world.end()["1"].accumulated == 1000
