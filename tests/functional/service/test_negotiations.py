"""Counter-offers, and changes priced in advance, in the service and across restarts (haizea F8, F95)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from lease_scheduler.model.errors import RefusedError
from lease_scheduler.service.requests.negotiations import changed
from tests.functional.service.site import HOUR, Service
from tests.servers.base import wait_until

Make = Callable[..., Service]


@pytest.fixture
def make(tmp_path: Path) -> Iterator[Make]:
    """``make(pricing, policies={}, options of the service)``"""
    made: list[Service] = []

    def one(pricing: str = "constant", policies: dict[str, str] | None = None, **options: Any) -> Service:
        made.append(Service(tmp_path, pricing, policies or {}, **options))
        return made[-1]

    yield one
    for service in made:
        service.close()


def _negotiate(service: Service, document: dict[str, Any], wanted: int = 2, **flexibility: int) -> dict[str, Any]:
    return service.negotiations.offer({}, {**document, "counter_offers": wanted, "flexibility": flexibility})


def _open(service: Service) -> list[str]:
    return sorted(view["id"] for view in service.reader.leases({}) if view["offered_until"] is not None)


def test_what_can_be_had_is_held_itself(make: Make) -> None:
    service = make()
    offer = _negotiate(service, service.document(2))
    assert offer["granted"]
    assert "counter_offers" not in offer
    assert service.view(offer["lease_id"])["negotiation_id"] is None


def test_others_are_held_in_its_place_and_accepting_one_withdraws_the_rest(make: Make) -> None:
    """One of two hosts is taken: the offers are both hosts later, or one host at the requested time."""
    service = make()
    taken = service.leases.create({}, service.document(1))["lease_id"]
    wanted = service.document(2)
    answer = _negotiate(service, wanted)
    offers = {offer["change"]: offer for offer in answer["counter_offers"]}
    assert (answer["granted"], answer["negotiation_id"], set(offers)) == (False, wanted["id"], {"start", "nodes"})
    later, fewer = offers["start"], offers["nodes"]
    assert (later["start"], later["count"], later["price"]) == (wanted["end"], 2, 2.0)
    assert (fewer["start"], fewer["count"], fewer["price"]) == (wanted["start"], 1, 1.0)
    views = [service.view(offer["lease_id"]) for offer in (later, fewer)]
    assert [view["negotiation_id"] for view in views] == [wanted["id"]] * 2
    assert service.reader.lease(wanted["id"], deleted=True) is None
    # Each offer holds hosts of its own.
    assert not service.quotes.quote({}, service.document(1))["granted"]
    service.restart()
    assert _open(service) == sorted(offer["lease_id"] for offer in (later, fewer))
    service.offers.accept({}, fewer["lease_id"])
    assert service.view(fewer["lease_id"])["offered_until"] is None
    withdrawn = service.view(later["lease_id"])
    assert withdrawn["state"] == "rejected-by-user"
    assert withdrawn["reason"] == f"lease {fewer['lease_id']} was accepted instead"
    after = service.document(2)
    free = {**after, "start": wanted["end"], "end": wanted["end"] + HOUR}
    assert service.quotes.quote({}, free)["granted"]
    assert service.view(taken)["state"] in ("ready", "scheduled")


def test_rejecting_one_keeps_the_rest(make: Make) -> None:
    service = make()
    service.leases.create({}, service.document(1))
    first, second = _negotiate(service, service.document(2))["counter_offers"]
    service.offers.reject({}, first["lease_id"])
    assert _open(service) == [second["lease_id"]]
    service.offers.accept({}, second["lease_id"])
    assert service.view(second["lease_id"])["state"] in ("ready", "scheduled")


@pytest.mark.parametrize(
    ("flexibility", "changes"),
    [
        ({}, {"start", "nodes"}),
        ({"fewest_nodes": 2}, {"start"}),
        ({"latest_start": 0}, set[str]()),
        ({"fewest_nodes": 2, "shortest_duration": HOUR, "latest_start": 0}, set[str]()),
    ],
)
def test_others_are_no_farther_than_is_said(make: Make, flexibility: dict[str, int], changes: set[str]) -> None:
    service = make()
    service.leases.create({}, service.document(1))
    if not changes:
        with pytest.raises(RefusedError) as refused:
            _negotiate(service, service.document(2), **flexibility)
        assert refused.value.code == 409
        assert _open(service) == []
        return
    answer = _negotiate(service, service.document(2), **flexibility)
    assert {offer["change"] for offer in answer["counter_offers"]} == changes


@pytest.mark.parametrize(("wanted", "allowed", "made"), [(1, 3, 1), (9, 1, 1), (3, 0, None), (0, 3, None)])
def test_there_are_no_more_than_both_sides_want(make: Make, wanted: int, allowed: int, made: int | None) -> None:
    service = make(counter_offers=allowed)
    service.leases.create({}, service.document(1))
    if made is None:
        with pytest.raises(RefusedError):
            _negotiate(service, service.document(2), wanted)
    else:
        assert len(_negotiate(service, service.document(2), wanted)["counter_offers"]) == made
    assert len(_open(service)) == (made or 0)


def test_who_pays_less_is_offered_less(make: Make) -> None:
    """Two hosts for an hour cost 2: one host costs 1, and both for 45 minutes cost 1.5."""
    service = make()
    offers = _negotiate(service, service.document(2, max_price=1.5))["counter_offers"]
    assert [(offer["change"], offer["count"], offer["duration"], offer["price"]) for offer in offers] == [
        ("nodes", 1, HOUR, 1.0)
    ]
    service.offers.reject({}, offers[0]["lease_id"])
    offers = _negotiate(service, service.document(2, max_price=1.5), fewest_nodes=2)["counter_offers"]
    assert [(offer["change"], offer["count"], offer["duration"], offer["price"]) for offer in offers] == [
        ("duration", 2, 2700, 1.5)
    ]


def test_a_negotiation_teaches_the_rate_one_answer(make: Make) -> None:
    """haizea 4.17: one answer for each requested lease, whatever was offered."""
    service = make("adaptive")

    def price() -> float:
        now = service.clock.now()
        later = service.document(1, start=now + 20 * HOUR, end=now + 21 * HOUR)
        return float(service.quotes.quote({}, later)["price"])

    service.leases.create({}, service.document(1))
    first, second = _negotiate(service, service.document(2))["counter_offers"]
    service.offers.reject({}, first["lease_id"])
    assert price() == pytest.approx(1.0)
    service.offers.reject({}, second["lease_id"])
    assert price() == pytest.approx(0.5)
    first, second = _negotiate(service, service.document(2))["counter_offers"]
    service.offers.accept({}, second["lease_id"])
    assert price() == pytest.approx(0.75)


def test_a_consumer_counters(make: Make) -> None:
    """The offer is then for other terms, priced anew, and does not end later than before."""
    service = make()
    offer = service.offer(2)
    lease_id, view = offer["lease_id"], service.view(offer["lease_id"])
    service.clock.jump(100)
    answer = service.offers.counter({}, lease_id, {"start": view["start"] + HOUR, "end": view["end"] + 3 * HOUR})
    assert answer == {"lease_id": lease_id}
    now = service.view(lease_id)
    assert (now["start"], now["price"]) == (view["start"] + HOUR, 6.0)
    assert now["offered_until"] == view["offered_until"]
    assert any("its price is 6; it was 2" in row["reason"] for row in service.reader.history(lease_id))
    service.restart()
    service.offers.accept({}, lease_id)
    assert service.view(lease_id)["offered_until"] is None


@pytest.mark.parametrize(("key", "value"), [("max_price", 0.5), ("end", 0)])
def test_a_counter_that_cannot_be_had_leaves_the_offer_as_it_was(make: Make, key: str, value: float) -> None:
    service = make()
    offer = service.offer(1)
    start = service.view(offer["lease_id"])["end"] + HOUR
    service.leases.create({}, service.document(2, start=start, end=start + HOUR))
    before = service.view(offer["lease_id"])
    changes = {"end": before["end"] + 2 * HOUR} if key == "end" else {key: value}
    with pytest.raises(RefusedError) as refused:
        service.offers.counter({}, offer["lease_id"], changes)
    assert refused.value.code == 409
    assert service.view(offer["lease_id"]) == before


def test_a_change_is_priced_first_and_bounded(make: Make) -> None:
    """Two more hours cost 2; a project that pays at most 2.5 in total is told how long it can have the lease."""
    service = make()
    lease_id = service.leases.create({}, service.document(1))["lease_id"]
    before = service.view(lease_id)
    longer = {"end": before["end"] + 2 * HOUR}
    quote = service.quotes.quote_change({}, lease_id, longer)
    assert (quote["granted"], quote["price"], quote["present_price"]) == (True, 3.0, 1.0)
    assert (quote["end"], service.view(lease_id)) == (longer["end"], before)
    refused = service.quotes.quote_change({}, lease_id, {**longer, "max_price": 2.5})
    assert (refused["granted"], refused["reason"]) == (False, "its price is 3, and max_price is 2.5")
    assert [each["end"] - each["start"] for each in refused["alternatives"]] == [9000]
    with pytest.raises(RefusedError) as error:
        service.leases.update({}, lease_id, {**longer, "max_price": 2.5})
    assert (error.value.code, error.value.field) == (409, "max_price")
    assert service.view(lease_id) == before
    service.leases.update({}, lease_id, {**longer, "max_price": 3.0})
    after = service.view(lease_id)
    assert (after["price"], after["max_price"], after["end"]) == (3.0, 3.0, longer["end"])
    assert service.reader.history(lease_id)[-1]["reason"] == "its price is 3; it was 1"


def test_what_is_given_up_is_paid_back_in_part(make: Make) -> None:
    """Half of the price of two hours of four is kept, and what is added again costs the same as before."""
    service = make(refund_share=0.5)
    document = service.document(1)
    lease_id = service.leases.create({}, {**document, "end": document["start"] + 4 * HOUR})["lease_id"]
    shorter, longer = ({"end": document["start"] + hours * HOUR} for hours in (2, 3))
    assert service.quotes.quote_change({}, lease_id, shorter)["price"] == 3.0
    service.leases.update({}, lease_id, shorter)
    assert service.view(lease_id)["price"] == 3.0
    service.restart()
    service.leases.update({}, lease_id, longer)
    assert service.view(lease_id)["price"] == 4.0


def test_a_quote_of_a_running_lease_changes_nothing(make: Make) -> None:
    service = make()
    now = service.clock.now()
    lease_id = service.leases.create({}, service.document(1, start=now, end=now + HOUR))["lease_id"]
    assert wait_until(service.is_in(lease_id, "active"), 20)
    before = service.view(lease_id)
    quote = service.quotes.quote_change({}, lease_id, {"end": before["end"] + HOUR})
    assert quote["granted"]
    assert quote["price"] == pytest.approx(2.0)
    assert service.view(lease_id) == before
    assert service.reader.usage(None, 0, now + 9 * HOUR, before["started"]) == []


def test_other_terms_have_ids_of_their_own() -> None:
    """They are the same ids for the same offer, so asking twice creates no more of them."""
    from lease_scheduler.plan.explaining.advice import Alternative

    lease = {"id": "a", "kind": "deadline", "deadline": 100, "reservations": [{"id": "r", "min": 1, "max": 4}]}
    other = changed(lease, Alternative("nodes", 60, 2, 50), 1)
    assert other == changed(lease, Alternative("nodes", 60, 2, 50), 1)
    assert other["id"] not in ("a", changed(lease, Alternative("nodes", 60, 2, 50), 2)["id"])
    assert (other["reservations"][0]["min"], other["reservations"][0]["max"]) == (2, 2)
    assert (other["duration"], other["deadline"], other["negotiation_id"]) == (50, 110, "a")
