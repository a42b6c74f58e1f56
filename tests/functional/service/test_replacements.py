"""A provider that cannot keep the terms of a lease offers another lease (haizea F8, F95)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from lease_scheduler.model.errors import RefusedError
from tests.functional.service.site import HOUR, Service
from tests.servers.base import wait_until

Make = Callable[..., Service]


@pytest.fixture
def make(tmp_path: Path) -> Iterator[Make]:
    made: list[Service] = []

    def one(**options: Any) -> Service:
        made.append(Service(tmp_path, "constant", {}, **options))
        return made[-1]

    yield one
    for service in made:
        service.close()


def _lose(service: Service, **said: Any) -> tuple[str, dict[str, Any]]:
    """Create a reservation that loses one of its two hosts before its start; the other host is free."""
    document = service.document(2, **said)
    lease_id = service.leases.create({}, document)["lease_id"]
    with service.site.transaction():
        service.site.engine.of_host("compute-1").hosts.out("compute-1", service.clock.now() + 20 * HOUR)
    assert wait_until(service.is_in(lease_id, "failed"), 20)
    return lease_id, document


def _open(service: Service) -> list[dict[str, Any]]:
    return [view for view in service.reader.leases({}) if view["offered_until"] is not None]


def test_nobody_is_offered_anything_unless_the_operator_wants_so(make: Make) -> None:
    service = make()
    _lose(service)
    assert _open(service) == []


def test_another_lease_is_offered_and_accepted(make: Make) -> None:
    """The first fit is the same lease when the host is back; it costs as much as the lost one."""
    service = make(replacement_offers=True)
    lease_id, document = _lose(service)
    assert wait_until(lambda: len(_open(service)) == 1, 20)
    (offer,) = _open(service)
    assert (offer["negotiation_id"], offer["name"], offer["price"]) == (lease_id, document["name"], 2.0)
    assert offer["start"] > document["start"]
    assert offer["end"] - offer["start"] == HOUR
    assert service.view(lease_id)["breaches"][0]["kind"] == "ended-early"
    told = [message.event_type for _, message in service.site.store.waiting_messages()]
    assert "lease.replacement" in told
    service.restart()
    service.offers.accept({}, offer["id"])
    assert service.view(offer["id"])["offered_until"] is None
    assert service.view(offer["id"])["state"] in ("ready", "scheduled")


def test_who_does_not_answer_is_where_he_would_have_been(make: Make) -> None:
    service = make(replacement_offers=True)
    lease_id, _ = _lose(service)
    assert wait_until(lambda: len(_open(service)) == 1, 20)
    (offer,) = _open(service)
    service.clock.jump(301)
    service.engine.timer.wake()
    assert wait_until(service.is_in(offer["id"], "rejected-by-user"), 20)
    assert service.view(lease_id)["state"] == "failed"


def test_managed_lease_in_place_of_another_takes_the_trust_of_who_accepts(make: Make) -> None:
    """The trust of the lost lease ends with it, so the new lease never has it."""
    service = make(replacement_offers=True)
    lost, _ = _lose(service, trust_id="first")
    assert wait_until(lambda: len(_open(service)) == 1, 20)
    (offer,) = _open(service)
    assert offer["trust_id"] is None
    assert wait_until(lambda: service.cloud.destroyed == ["first"], 20)
    service.offers.accept({}, offer["id"], "second")
    assert service.view(offer["id"])["trust_id"] == "second"
    service.leases.delete({}, offer["id"], "done with it")
    assert wait_until(lambda: service.cloud.destroyed == ["first", "second"], 20)
    assert service.view(lost)["trust_id"] == "first"


def test_server_groups_of_a_lease_in_place_of_another_are_made_when_it_is_accepted(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Groups are not created for an offer that may never be accepted; those of a late acceptance are removed."""
    service = make(replacement_offers=True)
    number = count(1)
    removed: list[str] = []
    monkeypatch.setattr(
        service.cloud.server_groups,
        "make",
        lambda lease: {each["id"]: f"group-{next(number)}" for each in lease["reservations"]},
    )
    monkeypatch.setattr(service.cloud.server_groups, "remove", removed.extend)
    document = service.document(2)
    document["reservations"] = [{**each, "affinity": False} for each in document["reservations"]]
    lost = service.leases.create({}, document)["lease_id"]
    with service.site.transaction():
        service.site.engine.of_host("compute-1").hosts.out("compute-1", service.clock.now() + 20 * HOUR)
    assert wait_until(lambda: len(_open(service)) == 1, 20)
    (offer,) = _open(service)
    assert _groups(service, lost) == ["group-1"]
    assert _groups(service, offer["id"]) == [None]
    service.offers.accept({}, offer["id"])
    assert _groups(service, offer["id"]) == ["group-2"]
    with pytest.raises(RefusedError, match="is not an open quote"):
        service.offers.accept({}, offer["id"])
    assert removed == []


def _groups(service: Service, lease_id: str) -> list[str | None]:
    return [each["terms"].get("server_group_id") for each in service.view(lease_id)["reservations"]]


def test_fewer_nodes_are_offered_where_nothing_else_fits(make: Make) -> None:
    """The host is gone for good, so the lease never fits; one node of it does."""
    service = make(replacement_offers=True)
    document = service.document(2)
    lease_id = service.leases.create({}, document)["lease_id"]
    with service.site.transaction():
        service.site.engine.of_host("compute-1").hosts.out("compute-1")
    assert wait_until(service.is_in(lease_id, "failed"), 20)
    assert wait_until(lambda: len(_open(service)) == 1, 20)
    (offer,) = _open(service)
    assert (offer["start"], offer["end"], offer["price"]) == (document["start"], document["end"], 1.0)
    (reservation,) = offer["reservations"]
    assert len(offer["holdings"][0]["hosts"]) == 1
    terms = reservation["terms"]
    assert (terms.get("nodes") or [{"count": terms.get("max") or terms.get("amount")}])[0]["count"] == 1
    assert reservation["id"] != service.view(lease_id)["reservations"][0]["id"]
