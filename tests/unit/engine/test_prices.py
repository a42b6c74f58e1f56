"""Leases are accepted or rejected because of their prices (haizea 4.17, F77-F82)."""

from __future__ import annotations

from dataclasses import replace

import pytest

from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.model.grant import Grant
from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.lease import UNLIMITED, Lease, LeaseRequest
from lease_scheduler.model.nodes import NodeSet
from lease_scheduler.model.resources import FLOATING_IP, Resources
from lease_scheduler.model.states import LeaseState
from lease_scheduler.plan.explaining.explain import NoPlaceError
from lease_scheduler.plan.options import PreemptAt, Suspension
from lease_scheduler.simulation.metrics import count_leases, revenue
from lease_scheduler.simulation.workload import WorkloadLease

from .conftest import VM, MakeWorld, World, request

BEST_EFFORT, RESERVATION, DEADLINE = LeaseKind.BEST_EFFORT, LeaseKind.RESERVATION, LeaseKind.DEADLINE


def _user(rate: float) -> dict[str, str]:
    return {"simul_userrate": str(rate)}


def _reservation(lease_id: str, rate: float, **terms: int) -> LeaseRequest:
    terms.setdefault("start", 100)
    return request(lease_id, RESERVATION, 4, 3600, extras=_user(rate), user=f"user of {lease_id}", **terms)


def test_who_turns_his_price_down_is_told_it(make_world: MakeWorld) -> None:
    """haizea F77, F78: four node-hours at 1.00 for a user who pays at most 0.50."""
    world = make_world(_reservation("1", 0.5), hosts=4, pricing="constant").end()
    lease = world["1"]
    assert (lease.state, lease.grant.price) == (LeaseState.REJECTED_BY_USER, 4.0)
    assert lease.reason == "its price is 4, and max_price is 2"
    assert (lease.started, lease.ended) == (None, 0)


def test_who_is_charged_what_he_would_just_pay_takes_it(make_world: MakeWorld) -> None:
    """haizea 8.2: an equal price is accepted; MAXIMUM is never rejected, whatever the rounding."""
    users = [0.1, 0.3, 0.7, 1.1, 3.3, 9.9, 1 / 3]
    leases = [_reservation(str(number), rate, start=100 + number * 4000) for number, rate in enumerate(users)]
    world = make_world(*leases, hosts=4, pricing="maximum").end()
    money = revenue(list(world.run.store.load()))
    assert money is not None
    assert money.earned == pytest.approx(4 * sum(users))
    assert money.missed == pytest.approx(0)


def test_only_who_has_a_place_is_asked(make_world: MakeWorld) -> None:
    """haizea 4.17: an infeasible request is rejected by the provider; nothing is quoted or learnt."""
    world = make_world(
        _reservation("1", 3.0),
        _reservation("2", 9.0),
        _reservation("3", 3.0, start=10_000),
        hosts=4,
        pricing="adaptive",
    ).end()
    assert [world[i].state for i in "123"] == [LeaseState.DONE, LeaseState.REJECTED, LeaseState.DONE]
    assert world["2"].grant.price is None
    assert world["3"].grant.price == pytest.approx(1.5 * 4)


def test_nobody_makes_room_for_who_turns_his_price_down(make_world: MakeWorld) -> None:
    """haizea 4.2: the price is agreed on before any lease is preempted."""
    world = make_world(
        request("1", BEST_EFFORT, 4, 5000, extras=_user(5)),
        _reservation("2", 0.5, submitted=10, start=1000),
        hosts=4,
        pricing="constant",
    ).end()
    assert (world["1"].state, world["1"].ended, world["2"].state) == (
        LeaseState.DONE,
        5000,
        LeaseState.REJECTED_BY_USER,
    )
    assert not world.counters.get("preemptions")


def test_a_queued_lease_gets_its_price_with_its_place(make_world: MakeWorld) -> None:
    """haizea 4.2: best-effort leases get a price when resources are found; if it is rejected, they leave the queue."""
    world = make_world(
        request("1", BEST_EFFORT, 2, 3600, user="a", extras=_user(5)),
        request("2", BEST_EFFORT, 2, 3600, user="a", extras=_user(5)),
        request("3", BEST_EFFORT, 2, 3600, user="b", extras=_user(0.5)),
        request("4", BEST_EFFORT, 2, 3600, user="a", extras=_user(5)),
        planning={"backfilling_limit": 0},
        pricing="adaptive",
    )
    assert [world.until(0)[i].grant.price for i in "1234"] == [2.0, None, None, None]
    world.until(3600)
    assert [world[i].grant.price for i in "12"] == [2.0, 3.0]
    world.until(7200)
    # The estimates for users a and b are 2.25 and 1.125: the upper median is a's.
    assert world["3"].state is LeaseState.REJECTED_BY_USER
    assert world["3"].ended == 7200
    world.end()
    assert [world[i].state for i in "124"] == [LeaseState.DONE] * 3
    assert world["4"].grant.price == pytest.approx(2 * 2.25)


def test_a_price_is_fixed_once_quoted(make_world: MakeWorld) -> None:
    """haizea F78: a lease that is preempted and replanned costs the same as before."""
    world = make_world(
        request("1", BEST_EFFORT, 2, 3600, user="a", extras=_user(5)),
        request("2", RESERVATION, 2, 600, submitted=10, start=1000, user="b", extras=_user(5)),
        pricing="adaptive",
    ).end()
    assert world.counters["suspensions"] == 1
    assert [world[i].state for i in "12"] == [LeaseState.DONE] * 2
    assert world["1"].grant.price == pytest.approx(2.0)
    assert world["2"].grant.price == pytest.approx(1.5 * 2 / 6)


def test_a_price_that_a_file_names_is_kept(make_world: MakeWorld) -> None:
    world = make_world(WorkloadLease(_reservation("1", 0.1), grant=Grant(price=7.5)), hosts=4, pricing="constant").end()
    assert (world["1"].state, world["1"].grant.price) == (LeaseState.DONE, 7.5)


def test_who_is_not_asked_teaches_nothing(make_world: MakeWorld) -> None:
    """A missing answer does not reveal a user's limit."""
    world = make_world(
        *(request(str(number), RESERVATION, 1, 3600, start=number * 4000, user="a") for number in range(3)),
        pricing="adaptive",
    ).end()
    assert [world[i].grant.price for i in "012"] == [1.0, 1.0, 1.0]


def test_what_is_kept_free_for_maintenance_costs_nothing(make_world: MakeWorld) -> None:
    hosts = (NodeSet(1, VM, hosts=frozenset({"host-1"})),)
    maintenance = LeaseRequest("m", RESERVATION, hosts, 0, 3600, 100, moves_others=True)
    nothing = LeaseRequest("n", RESERVATION, (), 0, 3600, 100)
    world = make_world(maintenance, nothing, pricing="constant").end()
    assert [world[i].state for i in "mn"] == [LeaseState.DONE] * 2
    assert [world[i].grant.price for i in "mn"] == [None, None]


def test_addresses_are_no_nodes() -> None:
    address = NodeSet(3, Resources({FLOATING_IP: 1}))
    assert LeaseRequest("1", RESERVATION, (NodeSet(2, VM), address), 0, 1800, 0).node_hours == 1.0
    assert LeaseRequest("1", BEST_EFFORT, (NodeSet(1, VM),), 0).node_hours == UNLIMITED / 3600


@pytest.mark.parametrize(("surcharge", "price"), [("0", 1.0), ("1", 1.0 + 2 * 64 / 3600), ("2", 1.0 + 4 * 64 / 3600)])
def test_suspending_others_costs_extra_if_so_wanted(make_world: MakeWorld, surcharge: str, price: float) -> None:
    """haizea F81: two VMs are suspended and resumed in 32 s each."""
    world = make_world(
        request("1", BEST_EFFORT, 2, 5000),
        request("2", RESERVATION, 2, 1800, submitted=10, start=1000),
        pricing="constant",
        policies={"pricing_surcharge": surcharge},
    ).until(20)
    assert world["2"].grant.price == pytest.approx(price)
    found = (
        make_world(request("1", BEST_EFFORT, 2, 5000), pricing="constant", policies={"pricing_surcharge": surcharge})
        .until(20)
        .run.engine.quote(request("2", RESERVATION, 2, 1800, submitted=10, start=1000))
    )
    assert found.price == pytest.approx(price)


def test_who_takes_what_is_left_pays_for_nobody_elses_suspension(make_world: MakeWorld) -> None:
    """Queued leases preempt none, though they may be suspended themselves."""
    world = make_world(
        request("1", RESERVATION, 2, 1800, start=1000),
        request("2", BEST_EFFORT, 1, 3600, submitted=10),
        request("3", BEST_EFFORT, 1, 3600, submitted=10),
        pricing="constant",
        policies={"pricing_surcharge": "1"},
    ).end()
    assert world.counters["suspensions"] == 2
    assert [world[i].grant.price for i in "123"] == [1.0, 1.0, 1.0]


def test_revenue_is_told_by_its_parts(make_world: MakeWorld) -> None:
    """haizea F82: earned, underpriced, rejected by users and by the provider add up to the total value."""
    world = make_world(
        _reservation("1", 3.0),
        _reservation("2", 9.0),
        _reservation("3", 0.5, start=10_000),
        hosts=4,
        pricing="constant",
    ).end()
    leases = list(world.run.store.load())
    money = revenue(leases)
    assert money is not None
    assert (money.earned, money.undercharged, money.rejected, money.rejected_by_user) == pytest.approx((4, 8, 36, 2))
    assert count_leases(leases).rejected_by_user == 1


# -- quotes and changes ------------------------------------------------------------------------------------------------


def test_a_quote_tells_the_price_and_changes_nothing(make_world: MakeWorld) -> None:
    world = make_world(hosts=4, pricing="random").until(0)
    engine = world.run.engine
    first = engine.quote(_reservation("1", 1))
    assert first.price is not None and first.price == engine.quote(_reservation("2", 1)).price
    engine.submit(_reservation("1", 1))
    engine.step()
    assert world["1"].grant.price == first.price
    assert engine.quote(_reservation("3", 1, start=5000)).price != first.price


def test_a_quote_above_the_highest_price_is_refused(make_world: MakeWorld) -> None:
    engine = make_world(hosts=4, pricing="constant").until(0).run.engine
    found = engine.quote(replace(_reservation("1", 1), max_price=3.5))
    assert found.refusal is not None
    assert (found.granted, found.price, found.refusal.reason) == (False, 4.0, "price")
    assert "max_price is 3.5" in found.refusal.message
    assert engine.quote(replace(_reservation("1", 1), max_price=4.0)).granted


def test_a_price_that_was_agreed_on_is_not_quoted_again(make_world: MakeWorld) -> None:
    """As for the replacement of a lease: its price stays, although it would cost too much at the present rate."""
    engine = make_world(hosts=4, pricing="constant").until(0).run.engine
    found = engine.quote(replace(_reservation("1", 1), max_price=3.5), grant=Grant(price=3.0))
    assert found.lease is not None
    assert (found.lease.grant.price, found.price) == (3.0, None)


def test_an_undecided_lease_keeps_what_was_answered_when_an_engine_takes_over(make_world: MakeWorld) -> None:
    world = make_world(hosts=4, pricing="constant")
    undecided = Lease(_reservation("1", 1), 0, LeaseState.PENDING, grant=Grant(price=7.5))
    world.run.engine.restore([undecided], (), 1)
    world.run.engine.step()
    assert (world["1"].state, world["1"].grant.price) == (LeaseState.READY, 7.5)


def test_other_terms_cost_the_same_by_the_node_hour(make_world: MakeWorld) -> None:
    """The agreed rate stays, whatever the present rate is; and so does the highest price."""
    world = make_world(
        request("1", RESERVATION, 1, 3600, start=100, user="a", extras=_user(2.5)), pricing="adaptive"
    ).until(0)
    engine = world.run.engine
    terms = replace(world["1"].request, max_price=None)
    assert engine.change("1", replace(terms, duration=7200)).after.grant.price == 2.0
    two = replace(terms, duration=1800, nodes=(NodeSet(2, VM),))
    assert engine.change("1", two).after.grant.price == 1.0
    before = world["1"]
    with pytest.raises(NoPlaceError, match="its price is 3, and max_price is 2.5"):
        engine.change("1", replace(terms, duration=3 * 3600))
    assert world["1"] == before
    most = replace(terms, duration=3600, nodes=(NodeSet(2, VM),))
    assert engine.change("1", most, least=(1,)).after.grant.price == 2.0


def test_giving_up_flexibility_costs_what_inflexible_leases_cost(make_world: MakeWorld) -> None:
    """contention F8: who booked a preemptible lease for a quarter of the price cannot keep that without giving way."""
    world = make_world(pricing="constant", policies={"pricing_factor_suspend": "0.25"}).until(0)
    engine = world.run.engine
    engine.submit(request("1", RESERVATION, 2, 7200, start=100, preemptible=True))
    engine.step()
    assert world["1"].grant.price == 1.0
    firm = replace(world["1"].request, preemptible=False)
    assert engine.quote_change("1", firm)[0].grant.price == 4.0
    with pytest.raises(NoPlaceError, match="its price is 4, and max_price is 3"):
        engine.change("1", replace(firm, max_price=3.0))
    assert engine.change("1", replace(firm, duration=3600)).after.grant.price == 2.0
    assert engine.change("1", replace(firm, preemptible=True)).after.grant.price == 1.0


def test_adaptive_rates_are_learnt_without_factors(make_world: MakeWorld) -> None:
    """The project accepts 0.5 for an hour of a kind at half the rate, which is the initial rate of 1."""
    world = make_world(hosts=9, pricing="adaptive", policies={"pricing_factor_reservation": "0.5"}).until(0)
    engine = world.run.engine
    for number, price in enumerate((0.5, 0.75)):
        engine.submit(request(str(number), RESERVATION, 1, 3600, start=5000, user="a"), offered_for=300)
        engine.step()
        assert world[str(number)].grant.price == price
        engine.held.accept(str(number))


# -- leases that are held ----------------------------------------------------------------------------------------------


def _offer(world: World, asked: LeaseRequest, lifetime: int = 300) -> None:
    engine = world.run.engine
    engine.submit(asked, offered_for=lifetime)
    engine.step()


def test_an_offer_holds_its_place_and_nothing_begins(make_world: MakeWorld) -> None:
    world = make_world(hosts=4, pricing="constant", engine={"preparation_time": 5000}).until(0)
    _offer(world, replace(_reservation("1", 1), start=1000))
    held = world["1"]
    assert (held.state, held.offered_until, held.grant.price) == (LeaseState.READY, 300, 4.0)
    assert not world.run.engine.quote(_reservation("2", 9, start=1000)).granted, "its capacity is nobody else's"
    world.until(299)
    assert world["1"] == held
    assert not world.run.engine.operations


def test_an_accepted_offer_is_a_lease_as_any_other(make_world: MakeWorld) -> None:
    world = make_world(hosts=4, pricing="constant").until(0)
    _offer(world, replace(_reservation("1", 1), start=1000))
    world.until(299).run.engine.held.accept("1")
    assert (world["1"].offered_until, world["1"].reason) == (None, "its quote was accepted")
    world.end()
    assert (world["1"].state, world["1"].started, world["1"].ended) == (LeaseState.DONE, 1000, 4600)
    with pytest.raises(InvalidValueError, match="no live lease 1"):
        world.run.engine.held.accept("1")


@pytest.mark.parametrize("how", ["reject", "cancel", "end"])
def test_a_rejected_offer_leaves_its_place_to_others(make_world: MakeWorld, how: str) -> None:
    world = make_world(request("2", BEST_EFFORT, 4, 5000, submitted=10), hosts=4, pricing="constant").until(0)
    _offer(world, replace(_reservation("1", 1), start=10))
    world.until(9)
    engine = world.run.engine
    getattr(engine.held if how == "reject" else engine, how)("1", "too dear")
    assert (world["1"].state, world["1"].reason, world["1"].ended) == (LeaseState.REJECTED_BY_USER, "too dear", 9)
    assert world.until(10)["2"].state is LeaseState.ACTIVE


@pytest.mark.parametrize(("start", "lifetime", "expected"), [(1000, 300, 300), (100, 300, 100), (301, 300, 300)])
def test_an_offer_ends_by_itself(make_world: MakeWorld, start: int, lifetime: int, expected: int) -> None:
    """After its lifetime, and at its start at the latest; a waiting lease gets its place at that very second."""
    world = make_world(
        request("2", BEST_EFFORT, 4, 5000, submitted=1), hosts=4, pricing="constant", planning={"suspend_rate": 1}
    ).until(0)
    _offer(world, replace(_reservation("1", 1), start=start), lifetime)
    world.until(expected - 1)
    assert world["1"].is_offered
    world.until(expected)
    assert (world["1"].state, world["1"].reason, world["1"].ended) == (
        LeaseState.REJECTED_BY_USER,
        "its quote has expired",
        expected,
    )
    assert world["2"].started == expected
    with pytest.raises(InvalidValueError):
        world.run.engine.held.accept("1")


def test_a_deadline_lease_is_held_for_after_its_offer(make_world: MakeWorld) -> None:
    """Nothing of it starts before it is accepted, and then it starts as soon as it can."""
    world = make_world(pricing="constant").until(0)
    _offer(world, request("1", DEADLINE, 1, 1000, start=0, deadline=5000))
    assert world["1"].holdings[0].start == 300
    world.until(100).run.engine.held.accept("1")
    assert (world["1"].state, world["1"].active_since) == (LeaseState.ACTIVE, 100)
    assert world.end()["1"].ended == 1100


def test_a_deadline_offer_leaves_time_for_the_work(make_world: MakeWorld) -> None:
    world = make_world(pricing="constant").until(0)
    _offer(world, request("1", DEADLINE, 1, 1000, start=0, deadline=1060))
    assert (world["1"].offered_until, world["1"].holdings[0].start) == (60, 60)


@pytest.mark.parametrize("accepted", [1, 100, 299])
def test_an_immediate_lease_keeps_its_hosts_until_it_is_accepted(make_world: MakeWorld, accepted: int) -> None:
    """It has its whole duration from then on, and nobody else gets its hosts before."""
    other = request("2", LeaseKind.IMMEDIATE, 4, 1000, submitted=accepted)
    world = make_world(other, hosts=4, pricing="constant").until(0)
    _offer(world, request("1", LeaseKind.IMMEDIATE, 4, 1000))
    (held,) = world["1"].holdings
    assert (held.start, held.end) == (0, 1300)
    world.until(accepted)
    assert world["2"].state is LeaseState.REJECTED
    world.run.engine.held.accept("1")
    assert world["1"].active_since == accepted
    assert world.end()["1"].ended == accepted + 1000


def test_an_immediate_lease_that_is_not_accepted_leaves_its_hosts(make_world: MakeWorld) -> None:
    waits = request("2", BEST_EFFORT, 4, 1000, submitted=1)
    world = make_world(waits, hosts=4, pricing="constant").until(0)
    _offer(world, request("1", LeaseKind.IMMEDIATE, 4, 1000))
    world.until(299)
    assert world["2"].started is None
    after = world.until(300)
    assert (after["1"].state, after["2"].started) == (LeaseState.REJECTED_BY_USER, 300)


def test_an_immediate_lease_is_not_held_where_it_could_not_start_last(make_world: MakeWorld) -> None:
    """It fits from now on, but not from the end of the offer on."""
    world = make_world(hosts=4, pricing="constant").until(0)
    world.run.engine.submit(request("2", RESERVATION, 4, 1000, start=1100))
    world.run.engine.step()
    _offer(world, request("1", LeaseKind.IMMEDIATE, 1, 1000))
    assert world["1"].state is LeaseState.REJECTED
    _offer(world, request("3", LeaseKind.IMMEDIATE, 1, 1000), 100)
    assert world["3"].is_offered


def test_a_reservation_that_starts_at_once_ends_at_its_end_when_it_is_accepted_later(make_world: MakeWorld) -> None:
    world = make_world(hosts=4, pricing="constant").until(0)
    _offer(world, request("1", RESERVATION, 4, 1000, start=0))
    world.until(100).run.engine.held.accept("1")
    lease = world["1"]
    assert (lease.state, lease.active_since) == (LeaseState.ACTIVE, 100)
    assert (lease.request.start, lease.request.duration) == (100, 900)
    assert world.end()["1"].ended == 1000
    assert not world.counters.get("late_starts")


def test_a_best_effort_lease_enters_the_queue_when_it_is_accepted(make_world: MakeWorld) -> None:
    """At the position at which it was submitted. Until then it keeps nobody waiting: lease 2 has got a place."""
    runs = request("0", BEST_EFFORT, 4, 500)
    others = [request(each, BEST_EFFORT, 4, 1000, submitted=10) for each in ("2", "3")]
    world = make_world(runs, *others, hosts=4, pricing="constant").until(0)
    _offer(world, request("1", BEST_EFFORT, 4, 1000), 450)
    assert (world["1"].state, world["1"].holdings) == (LeaseState.PENDING, ())
    world.until(400).run.engine.held.accept("1")
    world.end()
    assert [world[each].started for each in ("0", "2", "1", "3")] == [0, 500, 1500, 2500]


def test_other_terms_for_a_held_best_effort_lease_are_priced_anew_and_queued_when_accepted(
    make_world: MakeWorld,
) -> None:
    world = make_world(hosts=4, pricing="constant").until(0)
    _offer(world, request("1", BEST_EFFORT, 4, 3_600))
    changed = world.run.engine.held.counter("1", replace(world["1"].request, duration=7_200))
    assert (changed.state, changed.holdings, changed.offered_until) == (LeaseState.PENDING, (), 300)
    assert changed.grant.price == 8.0
    with pytest.raises(NoPlaceError):
        world.run.engine.held.counter("1", replace(changed.request, max_price=7.0))
    world.run.engine.held.accept("1")
    assert world.end()["1"].ended == 7_200


def test_other_terms_for_a_held_immediate_lease_hold_its_hosts_for_them(make_world: MakeWorld) -> None:
    world = make_world(hosts=4, pricing="free").until(0)
    _offer(world, request("1", LeaseKind.IMMEDIATE, 4, 1000))
    changed = world.until(100).run.engine.held.counter("1", replace(world["1"].request, duration=500))
    assert (changed.holdings[0].start, changed.holdings[0].end, changed.offered_until) == (100, 800, 300)
    world.run.engine.held.accept("1")
    assert world.end()["1"].ended == 600


def test_a_best_effort_lease_that_is_not_accepted_is_over(make_world: MakeWorld) -> None:
    world = make_world(hosts=4, pricing="constant").until(0)
    _offer(world, request("1", BEST_EFFORT, 4, 1000))
    world.until(300)
    assert (world["1"].state, world["1"].ended) == (LeaseState.REJECTED_BY_USER, 300)


def test_an_offer_is_not_moved_for_the_use_of_others(make_world: MakeWorld) -> None:
    """An accepted lease would be moved for a deadline lease with less slack; an offer is not, so that is refused."""
    tight = request("2", DEADLINE, 2, 1000, start=1000, deadline=2000, submitted=10)
    for offered, state in ((300, LeaseState.REJECTED), (None, LeaseState.READY)):
        world = make_world(tight, planning={"slack_threshold": 2.0}, pricing="free").until(0)
        world.run.engine.submit(request("1", DEADLINE, 2, 1000, start=1000, deadline=9000), offered_for=offered)
        world.run.engine.step()
        assert world["1"].holdings[0].start == 1000
        assert world.until(20)["2"].state is state


def test_what_consumers_say_of_offers_moves_the_rate(make_world: MakeWorld) -> None:
    """haizea 7.5, 5: up after an accept, down after a reject, and down after an expiry."""
    world = make_world(hosts=9, pricing="adaptive").until(0)
    engine = world.run.engine

    def offer(lease_id: str, user: str) -> float:
        asked = request(lease_id, RESERVATION, 1, 3600, submitted=0, start=5000, user=user)
        engine.submit(asked, offered_for=300)
        engine.step()
        price = world[lease_id].grant.price
        assert price is not None
        return price

    assert offer("1", "a") == 1.0
    engine.held.accept("1")
    assert offer("2", "a") == 1.5
    engine.held.reject("2")
    assert offer("3", "a") == 1.25
    world.until(300)
    assert offer("4", "a") == 1.125


def test_an_offer_above_the_highest_price_is_not_made(make_world: MakeWorld) -> None:
    world = make_world(hosts=4, pricing="constant").until(0)
    _offer(world, replace(_reservation("1", 1), max_price=3.0))
    assert (world["1"].state, world["1"].offered_until) == (LeaseState.REJECTED_BY_USER, None)


def test_free_leases_can_be_held_too(make_world: MakeWorld) -> None:
    world = make_world().until(0)
    _offer(world, request("1", RESERVATION, 1, start=500))
    world.run.engine.held.accept("1")
    assert world.end()["1"].state is LeaseState.DONE


@pytest.mark.parametrize(
    ("asked", "field"),
    [
        (request("1", RESERVATION, 1, 1, start=0), "end"),
        (request("1", DEADLINE, start=0, duration=1000, deadline=1000), "deadline"),
    ],
)
def test_what_cannot_be_held_is_refused(make_world: MakeWorld, asked: LeaseRequest, field: str) -> None:
    engine = make_world().until(0).run.engine
    with pytest.raises(InvalidValueError, match=f"^{field}: "):
        engine.submit(asked, offered_for=300)


def test_an_open_offer_cannot_be_changed(make_world: MakeWorld) -> None:
    world = make_world(hosts=4, pricing="constant").until(0)
    _offer(world, replace(_reservation("1", 1), start=1000))
    with pytest.raises(NoPlaceError, match="it is an open quote; accept or reject it first"):
        world.run.engine.change("1", replace(world["1"].request, duration=10))


def test_an_offer_ends_before_others_have_to_make_room(make_world: MakeWorld) -> None:
    """A running lease is suspended in time for an accepted offer, but not for an open one."""
    running = request("1", BEST_EFFORT, 2, 5000)
    for accepted in (True, False):
        world = make_world(running, pricing="constant").until(0)
        _offer(world, request("2", RESERVATION, 2, 500, start=200))
        assert world["2"].offered_until == 200 - 32
        world.until(200 - 33)
        if accepted:
            world.run.engine.held.accept("2")
        world.until(200 - 32)
        assert world["1"].state is (LeaseState.SUSPENDING if accepted else LeaseState.ACTIVE)
        assert world.until(200)["2"].state is (LeaseState.ACTIVE if accepted else LeaseState.REJECTED_BY_USER)
        world.end()
        assert (world["1"].state, world["1"].accumulated) == (LeaseState.DONE, 5000)
        assert world.counters.get("suspensions", 0) == int(accepted)


def test_nobody_loses_work_for_an_offer(make_world: MakeWorld) -> None:
    """Also if a lease that cannot be suspended is stopped as soon as a reservation is granted."""
    planning = {"suspension": Suspension.NONE, "preempt_at": PreemptAt.REQUEST}
    world = make_world(request("1", BEST_EFFORT, 2, 5000), pricing="constant", planning=planning).until(0)
    _offer(world, request("2", RESERVATION, 2, 500, start=200))
    assert world["1"].state is LeaseState.ACTIVE
    world.end()
    assert (world["1"].state, world["1"].ended) == (LeaseState.DONE, 5000)
    assert not world.counters.get("preemptions_with_loss")


def test_an_offer_whose_host_dies_goes_elsewhere(make_world: MakeWorld) -> None:
    world = make_world(pricing="constant").until(0)
    _offer(world, request("1", RESERVATION, 1, start=1000))
    (host,) = world["1"].holdings[0].assignment
    world.run.engine.hosts.out(f"host-{host + 1}")
    (other,) = world["1"].holdings[0].assignment
    assert other != host
    assert world["1"].offered_until == 300
