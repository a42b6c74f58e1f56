"""A provider that cannot keep the terms of a lease offers another one (haizea F8, F95)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

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


def _lose(service: Service) -> tuple[str, dict[str, Any]]:
    """A reservation that loses one of its two hosts before it begins; the other one is free."""
    document = service.document(2)
    lease_id = service.leases.create({}, document)["lease_id"]
    with service.site.transaction():
        service.site.engine.host_out("compute-1", service.clock.now() + 20 * HOUR)
    assert wait_until(service.is_in(lease_id, "failed"), 20)
    return lease_id, document


def _open(service: Service) -> list[dict[str, Any]]:
    return [view for view in service.reader.leases({}) if view["offered_until"] is not None]


def test_nobody_is_offered_anything_unless_the_operator_wants_so(make: Make) -> None:
    service = make()
    _lose(service)
    assert _open(service) == []


def test_another_lease_is_offered_and_accepted(make: Make) -> None:
    """What fits first is the same lease when the host is back; it costs what the lost one did."""
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
    service.leases.accept({}, offer["id"])
    assert service.view(offer["id"])["offered_until"] is None
    assert service.view(offer["id"])["state"] in ("ready", "scheduled")


def test_who_does_not_answer_is_where_he_would_have_been(make: Make) -> None:
    service = make(replacement_offers=True)
    lease_id, _ = _lose(service)
    assert wait_until(lambda: len(_open(service)) == 1, 20)
    (offer,) = _open(service)
    service.clock.jump(301)
    service.site.wake()
    assert wait_until(service.is_in(offer["id"], "rejected-by-user"), 20)
    assert service.view(lease_id)["state"] == "failed"


def test_fewer_nodes_are_offered_where_nothing_else_fits(make: Make) -> None:
    """The host is away for good, so the lease fits at no time; one node of it does."""
    service = make(replacement_offers=True)
    document = service.document(2)
    lease_id = service.leases.create({}, document)["lease_id"]
    with service.site.transaction():
        service.site.engine.host_out("compute-1")
    assert wait_until(service.is_in(lease_id, "failed"), 20)
    assert wait_until(lambda: len(_open(service)) == 1, 20)
    (offer,) = _open(service)
    assert (offer["start"], offer["end"], offer["price"]) == (document["start"], document["end"], 1.0)
    (reservation,) = offer["reservations"]
    assert len(offer["holdings"][0]["hosts"]) == 1
    terms = reservation["terms"]
    assert (terms.get("nodes") or [{"count": terms.get("max") or terms.get("amount")}])[0]["count"] == 1
    assert reservation["id"] != service.view(lease_id)["reservations"][0]["id"]
