"""Changes that are refused or invalid, and what is offered in their place. Nothing changes then."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from lease_scheduler.engine.behaviour import CloudBehaviour
from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.model.grant import Grant
from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.lease import LeaseRequest
from lease_scheduler.model.states import LeaseState
from lease_scheduler.plan.explaining.advice import Alternative
from lease_scheduler.simulation.workload import WorkloadLease

from .conftest import SUSPENDED_WORK, MakeWorld, change, refused_change, request, terms_of

BEST_EFFORT, RESERVATION, DEADLINE = LeaseKind.BEST_EFFORT, LeaseKind.RESERVATION, LeaseKind.DEADLINE
IMMEDIATE = LeaseKind.IMMEDIATE


def test_terms_that_make_it_a_different_lease_are_invalid(make_world: MakeWorld) -> None:
    """Its id and kind stay, and a range needs one number for each node set."""
    world = make_world(request("1", RESERVATION, 2, 1000, start=100)).until(50)
    before = world["1"]
    wrong: dict[str, dict[str, Any]] = {
        "lease_id": {"lease_id": "2"},
        "kind": {"kind": DEADLINE, "deadline": 5000},
        "least": {"least": (1, 1)},
    }
    for field, terms in wrong.items():
        least = terms.pop("least", None)
        for ask in (world.run.engine.quote_change, world.run.engine.change):
            with pytest.raises(InvalidValueError) as error:
                ask("1", replace(before.request, **terms), least=least)
            assert error.value.field == field
    assert world["1"] == before


@pytest.mark.parametrize("instant", [50, 500])
def test_what_the_site_can_never_hold_is_refused_for_its_size(make_world: MakeWorld, instant: int) -> None:
    """The smallest acceptable number counts."""
    world = make_world(request("1", RESERVATION, 1, 1000, start=100)).until(instant)
    assert refused_change(world, "1", 3).reason == "size"
    assert refused_change(world, "1", 4, least=(3,)).reason == "size"
    assert change(world, "1", 3, least=(1,)).after.request.node_count == 2


def test_the_admission_policy_decides_on_new_terms(make_world: MakeWorld) -> None:
    """As on requests."""
    world = make_world(
        request("1", RESERVATION, 1, 1000, start=100),
        admission="maximum-duration",
        policies={"admission_maximum_duration": "2000"},
    ).until(500)
    refusal = refused_change(world, "1", duration=2001)
    assert (refusal.reason, refusal.message) == (
        "policy",
        "duration: must be at most 33 min 20 s on this site, not 33 min 21 s",
    )
    assert change(world, "1", duration=2000).after.request.duration == 2000


def test_short_notice_is_only_a_reason_if_the_old_terms_had_enough(make_world: MakeWorld) -> None:
    """A lease that begins soon can be changed, but not one that begins later to begin soon."""
    world = make_world(
        request("1", RESERVATION, 1, 1000, start=4000),
        admission="minimum-notice",
        policies={"admission_minimum_notice": "3600"},
    ).until(100)
    assert refused_change(world, "1", start=3699).reason == "policy"
    assert change(world, "1", start=3700).after.holdings[0].start == 3700
    assert change(world.until(3000), "1", start=3500).after.holdings[0].start == 3500


@pytest.mark.parametrize(
    ("instant", "why"),
    [(480, "its suspend is going on"), (810, "its resume is going on")],
)
def test_a_lease_on_its_way_from_or_to_its_hosts_cannot_be_changed(
    make_world: MakeWorld, instant: int, why: str
) -> None:
    """The refusal says which operation is going on."""
    world = make_world(*SUSPENDED_WORK, hosts=1).until(instant)
    refusal = refused_change(world, "work", duration=2000)
    assert (refusal.reason, refusal.message) == ("busy", f"lease work cannot be changed at present: {why}")


def test_memory_that_is_back_early_has_to_run_first(make_world: MakeWorld) -> None:
    """No operation is going on, but it is between two of the states in which a lease waits or runs."""
    world = make_world(*SUSPENDED_WORK, hosts=1, cloud=CloudBehaviour(resume_factor=0.5)).until(816)
    assert world["work"].state is LeaseState.RESUMED_READY
    assert refused_change(world, "work", duration=2000).message.endswith("it is resumed-ready")


@pytest.mark.parametrize("kind", [RESERVATION, IMMEDIATE])
def test_a_lease_that_cannot_run_so_long_is_told_how_long_it_can(make_world: MakeWorld, kind: LeaseKind) -> None:
    """Its hosts are promised to others, the first of them from 1500 s on."""
    start = {"start": 0} if kind is RESERVATION else {}
    world = make_world(
        request("1", kind, 2, 1000, **start),
        request("2", RESERVATION, 1, 1000, start=1500),
        request("3", RESERVATION, 1, 1000, start=1700),
    ).until(100)
    refusal = refused_change(world, "1", duration=2000)
    assert refusal.reason == "capacity"
    assert refusal.alternatives == (Alternative("duration", 0, 2, 1500),)
    assert refusal.message.endswith("; would fit: 25 min")
    assert change(world, "1", duration=1500).after.holdings[0].run_end == 1500
    assert refused_change(world, "1", duration=1501).alternatives == (), "it has all that there is"


def test_what_would_fit_begins_when_the_lease_began(make_world: MakeWorld) -> None:
    """Not when its present run began, with fewer VMs. A duration is counted from the start of the lease."""
    world = make_world(request("1", RESERVATION, 2, 1000, start=0), request("2", RESERVATION, 2, 1000, start=1500))
    change(world.until(100), "1", 1)
    assert refused_change(world, "1", duration=2000).alternatives == (Alternative("duration", 0, 1, 1500),)


def test_a_range_of_nodes_is_refused_if_its_smallest_number_has_no_room(make_world: MakeWorld) -> None:
    """What would fit is named for that number. The lease has not begun, so its own host counts as free."""
    world = make_world(
        request("1", RESERVATION, 1, 1000, start=1000), request("2", RESERVATION, 1, 1000, start=1000), hosts=3
    ).until(100)
    refusal = refused_change(world, "1", 3, least=(3,))
    assert refusal.reason == "capacity"
    assert Alternative("nodes", 1000, 2, 1000) in refusal.alternatives
    assert Alternative("start", 2000, 3, 1000) in refusal.alternatives
    assert change(world, "1", 3, least=(2,)).after.request.node_count == 2


def test_what_would_fit_before_the_start_takes_the_place_of_the_lease(make_world: MakeWorld) -> None:
    """Its own place counts as free."""
    world = make_world(
        request("1", RESERVATION, 1, 1000, start=100), request("2", RESERVATION, 1, 1000, start=1500), hosts=1
    ).until(50)
    refusal = refused_change(world, "1", duration=2000)
    assert Alternative("duration", 100, 1, 1400) in refusal.alternatives
    assert change(world, "1", duration=1400).after.holdings[0].run_end == 1500


# -- prices ------------------------------------------------------------------------------------------------------------


def _priced(asked: LeaseRequest, price: float, max_price: float | None = None) -> WorkloadLease:
    return WorkloadLease(replace(asked, max_price=max_price), grant=Grant(price=price))


def _budget(make_world: MakeWorld, asked: LeaseRequest, instant: int, **terms: Any) -> tuple[Alternative, ...]:
    world = make_world(_priced(asked, asked.node_hours, 2.5), *SUSPENDED_WORK[1:], hosts=1, **terms).until(instant)
    refusal = refused_change(world, asked.lease_id, duration=10 * 3600)
    assert (refusal.reason, refusal.message) == ("price", "its price is 10, and max_price is 2.5")
    return refusal.alternatives


def test_terms_that_cost_too_much_are_answered_with_the_longest_that_do_not(make_world: MakeWorld) -> None:
    """At a price of 1 per node-hour, 2.5 pays for 2.5 hours. A lease without a start has its new terms from now on."""
    asked = request("1", RESERVATION, 1, 3600, start=1000)
    assert _budget(make_world, asked, 50) == (Alternative("duration", 1000, 1, 9000),)
    asked = request("1", BEST_EFFORT, 1, 3600)
    assert _budget(make_world, asked, 600) == (Alternative("duration", 600, 1, 9000),)


def test_money_that_was_kept_pays_for_no_time(make_world: MakeWorld) -> None:
    """An hour less pays back half its price, so 0.5 of 2.5 buys nothing; the rest buys two hours."""
    world = make_world(
        _priced(request("1", RESERVATION, 1, 7200, start=1000), 2.0, 2.5), engine={"refund_share": 0.5}
    ).until(50)
    after = change(world, "1", duration=3600).after
    assert (after.grant.price, after.grant.retained) == (1.5, 0.5)
    assert refused_change(world, "1", duration=36_000).alternatives == (Alternative("duration", 1000, 1, 7200),)
    assert change(world, "1", duration=7200).after.grant.price == 2.5


def test_fewer_nodes_and_less_than_what_was_done_are_no_alternatives(make_world: MakeWorld) -> None:
    """Fewer nodes would be another lease, and time that has passed cannot be given back."""
    world = make_world(_priced(request("1", RESERVATION, 2, 3600, start=100), 2.0, 2.5)).until(50)
    assert refused_change(world, "1", duration=7200).alternatives == (Alternative("duration", 100, 2, 4500),)
    saved = _priced(request("work", BEST_EFFORT, 1, 1000), 1.0, 1.0)
    world = make_world(saved, *SUSPENDED_WORK[1:], hosts=1).until(600)
    assert world["work"].accumulated == 468
    (offered,) = refused_change(world, "work", duration=2000, max_price=0.5).alternatives
    assert offered.duration == 500
    assert refused_change(world, "work", duration=2000, max_price=0.4).alternatives == ()


def test_the_lease_is_priced_for_the_nodes_that_it_gets(make_world: MakeWorld) -> None:
    """Not for those that it would have had at most."""
    asked = _priced(request("1", RESERVATION, 1, 3600, start=0), 1.0)
    world = make_world(asked, request("2", RESERVATION, 1, 3600, start=0), hosts=3).until(100)
    quoted, _ = world.run.engine.quote_change("1", terms_of(world, "1", 3), least=(1,))
    after = change(world, "1", 3, least=(1,)).after
    assert (after.request.node_count, after.grant.price) == (2, 2.0)
    assert quoted.request == after.request == world["1"].request
