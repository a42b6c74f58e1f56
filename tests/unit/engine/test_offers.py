"""Offers with other terms, alternatives to what is refused, and offers of one negotiation."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.lease import Lease, LeaseRequest
from lease_scheduler.model.nodes import NodeSet
from lease_scheduler.model.states import LeaseState
from lease_scheduler.plan.explaining.advice import Alternative, Flexibility
from lease_scheduler.plan.explaining.explain import NoPlaceError, Refusal
from lease_scheduler.plan.options import Suspension

from .conftest import VM, MakeWorld, World, request, terms_of

BEST_EFFORT, RESERVATION, DEADLINE = LeaseKind.BEST_EFFORT, LeaseKind.RESERVATION, LeaseKind.DEADLINE


def _offer(world: World, asked: LeaseRequest, lifetime: int = 300, negotiation: str | None = None) -> Lease:
    world.run.engine.submit(asked, offered_for=lifetime, negotiation=negotiation)
    world.run.engine.step()
    return world[asked.lease_id]


def _refused(world: World, lease_id: str, nodes: int | None = None, **terms: Any) -> Refusal:
    """Return why an offer is not replaced; nothing changes."""
    before = world.run.engine.live_leases()
    least = terms.pop("least", None)
    with pytest.raises(NoPlaceError) as error:
        world.run.engine.held.counter(lease_id, terms_of(world, lease_id, nodes, **terms), least)
    assert world.run.engine.live_leases() == before
    return error.value.refusal


@pytest.mark.parametrize("kind", [RESERVATION, DEADLINE])
def test_an_offer_is_replaced_by_one_with_other_terms(make_world: MakeWorld, kind: LeaseKind) -> None:
    """It has another place and another price, and is held no longer than the first one."""
    world = make_world(pricing="constant").until(0)
    deadline = {"deadline": 9000} if kind is DEADLINE else {}
    first = _offer(world, request("1", kind, 1, 3600, start=1000, **deadline))
    assert first.offered_until == 300
    world.until(100)
    second = world.run.engine.held.counter("1", terms_of(world, "1", 2, duration=1800, start=2000))
    assert second == world["1"]
    assert (second.offered_until, second.is_offered, second.state) == (300, True, LeaseState.READY)
    assert [(each.start, len(each.hosts)) for each in second.holdings] == [(2000, 2)]
    assert second.grant.price == first.grant.price
    assert second.grant.price
    third = world.run.engine.held.counter("1", terms_of(world, "1", duration=900, start=250))
    assert third.offered_until == (250 if kind is RESERVATION else 300)
    assert third.grant.price == pytest.approx(second.grant.price / 2)
    world.run.engine.held.accept("1")
    assert world.end()["1"].accumulated == 900


def test_the_place_of_an_offer_is_free_for_what_replaces_it(make_world: MakeWorld) -> None:
    """And what it gives up is free for the queue."""
    work = request("2", BEST_EFFORT, 2, 2000, preemptible=False)
    world = make_world(work, planning={"suspension": Suspension.NONE}).until(0)
    _offer(world, request("1", RESERVATION, 2, 1000, start=2500, submitted=0), 1000)
    world.run.engine.submit(request("3", BEST_EFFORT, 2, 600))
    world.run.engine.step()
    assert world["3"].holdings[0].start == 3500
    offer = world.run.engine.held.counter("1", terms_of(world, "1", start=3000))
    assert offer.holdings[0].start == 3000
    assert world["3"].holdings[0].start == 2000


def test_what_a_rejected_offer_held_goes_to_a_lease_that_waits(make_world: MakeWorld) -> None:
    world = make_world(planning={"suspension": Suspension.NONE}).until(0)
    _offer(world, request("1", RESERVATION, 2, 1000, start=500), 1000)
    world.run.engine.submit(request("2", BEST_EFFORT, 2, 600))
    world.run.engine.step()
    assert world["2"].holdings[0].start == 1500
    world.run.engine.held.reject("1")
    assert world["2"].holdings[0].start == 0
    assert world.counters["replans"] == 1


def test_as_many_nodes_as_there_is_room_for_are_offered(make_world: MakeWorld) -> None:
    """If a counter-offer gives a range; without one, all nodes have to fit."""
    world = make_world(request("2", RESERVATION, 1, 2000, start=0), hosts=3, pricing="constant").until(0)
    _offer(world, request("1", RESERVATION, 1, 1000, start=500))
    offer = world.run.engine.held.counter("1", terms_of(world, "1", 4), (1,))
    assert (offer.request.nodes, len(offer.holdings[0].assignment)) == ((NodeSet(2, VM),), 2)
    assert _refused(world, "1", 3, least=(3,)).reason == "capacity"
    assert _refused(world, "1", 5, least=(4,)).reason == "size"
    assert _refused(world, "1", 4).reason == "size"


def test_what_would_fit_in_place_of_an_offer_is_told(make_world: MakeWorld) -> None:
    """Its own place counts as free, and nobody is preempted for what is only offered."""
    world = make_world(request("2", RESERVATION, 1, 1000, start=2000), hosts=1).until(0)
    _offer(world, request("1", RESERVATION, 1, 1000, start=500))
    refusal = _refused(world, "1", duration=3000)
    assert refusal.reason == "capacity"
    assert Alternative("duration", 500, 1, 1500) in refusal.alternatives


def test_terms_that_cost_too_much_leave_the_offer_as_it_was(make_world: MakeWorld) -> None:
    """The old limit holds unless the new terms name another one."""
    world = make_world(pricing="constant").until(0)
    _offer(world, request("1", RESERVATION, 1, 3600, start=1000, max_price=1.0))
    assert world["1"].grant.price is not None
    rate = world["1"].grant.price
    assert _refused(world, "1", duration=36_000_000, max_price=None).reason == "price"
    raised = world.run.engine.held.counter("1", terms_of(world, "1", duration=36_000, max_price=100 * rate))
    assert raised.grant.price == pytest.approx(10 * rate)
    assert raised.request.max_price == 100 * rate


def test_the_admission_policy_decides_on_counter_offers(make_world: MakeWorld) -> None:
    """As on requests."""
    world = make_world(admission="maximum-duration", policies={"admission_maximum_duration": "2000"}).until(0)
    _offer(world, request("1", RESERVATION, 1, 1000, start=500))
    assert _refused(world, "1", duration=2001).reason == "policy"
    assert world.run.engine.held.counter("1", terms_of(world, "1", duration=2000)).request.duration == 2000


def test_counter_offers_that_are_not_terms_of_the_offer_are_invalid(make_world: MakeWorld) -> None:
    """Another kind or lease, too many minimum numbers, a start that leaves no time, or a lease that is no offer."""
    world = make_world(request("2", RESERVATION, 1, 1000, start=500)).until(0)
    offer = _offer(world, request("1", RESERVATION, 1, 1000, start=500)).request
    counter = world.run.engine.held.counter
    wrong: list[tuple[str, str, LeaseRequest, tuple[int, ...] | None]] = [
        ("kind", "1", replace(offer, kind=DEADLINE, deadline=5000), None),
        ("kind", "1", replace(offer, lease_id="2"), None),
        ("least", "1", offer, (1, 1)),
        ("end", "1", replace(offer, start=0, duration=1), None),
        ("lease_id", "2", world["2"].request, None),
        ("lease_id", "3", replace(offer, lease_id="3"), None),
    ]
    for field, lease_id, terms, least in wrong:
        with pytest.raises(InvalidValueError) as error:
            counter(lease_id, terms, least)
        assert error.value.field == field
    assert world["1"].request == offer


def test_one_offer_of_a_negotiation_is_accepted(make_world: MakeWorld) -> None:
    """The others are withdrawn, with a reason, and their hosts are free; other negotiations go on."""
    world = make_world(hosts=4).until(0)
    for lease_id, negotiation in (("1", "a"), ("2", "a"), ("3", "b"), ("4", None)):
        _offer(world, request(lease_id, RESERVATION, 1, 1000, start=500), negotiation=negotiation)
    world.run.engine.held.accept("2")
    assert (world["2"].offered_until, world["2"].reason) == (None, "its quote was accepted")
    withdrawn = world["1"]
    assert (withdrawn.state, withdrawn.holdings) == (LeaseState.REJECTED_BY_USER, ())
    assert withdrawn.reason == "lease 2 was accepted instead"
    assert world["3"].is_offered
    assert world["4"].is_offered
    world.run.engine.submit(request("5", RESERVATION, 1, 1000, start=500))
    world.run.engine.step()
    assert world["5"].state is LeaseState.READY


def test_alternatives_are_those_that_the_project_would_accept(make_world: MakeWorld) -> None:
    """Out of those that a refusal names."""
    world = make_world(request("2", RESERVATION, 1, 1000, start=0), hosts=2).until(10)
    asked = request("1", RESERVATION, 2, 500, start=100)
    refusal = world.run.engine.quote(asked).refusal
    assert refusal is not None
    found = {each.change: each for each in refusal.alternatives}
    assert (found["start"].start, found["nodes"].nodes) == (1000, 1)
    assert world.run.engine.alternatives(asked, refusal, Flexibility()) == refusal.alternatives
    for flexibility, changes in (
        (Flexibility(latest_start=999), {"nodes"}),
        (Flexibility(latest_start=1000), {"nodes", "start"}),
        (Flexibility(fewest_nodes=2), {"start"}),
        (Flexibility(shortest_duration=501), set[str]()),
    ):
        offered = world.run.engine.alternatives(asked, refusal, flexibility)
        assert {each.change for each in offered} == changes


@pytest.mark.parametrize(("start", "offered"), [(1000, 1000), (None, 10)])
def test_alternatives_to_a_price_are_what_the_money_buys(
    make_world: MakeWorld, start: int | None, offered: int
) -> None:
    """Fewer nodes, or a shorter time, from the requested start or from now on."""
    world = make_world(hosts=2, pricing="constant").until(10)
    kind = BEST_EFFORT if start is None else RESERVATION
    free = request("1", kind, 2, 3600, start=start)
    price = world.run.engine.quote(free).price
    assert price is not None
    asked = replace(free, max_price=price / 2)
    refusal = world.run.engine.quote(asked).refusal
    assert refusal is not None
    assert refusal.reason == "price"
    assert world.run.engine.alternatives(asked, refusal, Flexibility()) == (
        Alternative("nodes", offered, 1, 3600),
        Alternative("duration", offered, 2, 1800),
    )
