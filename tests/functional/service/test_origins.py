"""Leases of peers: the origin stays with the lease and with everything that is offered for it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from lease_scheduler.model.errors import RefusedError
from tests.functional.service.site import HOUR, Service

PEER = "northern-site"


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Service]:
    made = Service(tmp_path, "constant", {})
    yield made
    made.close()


def test_a_change_and_a_restart_keep_it(service: Service) -> None:
    of_peer = service.leases.create({}, service.document(origin=PEER))["lease_id"]
    local = service.leases.create({}, service.document())["lease_id"]
    end = service.view(of_peer)["end"]
    for lease_id in (of_peer, local):
        service.leases.update({}, lease_id, {"end": end + HOUR, "name": "renamed"})
    service.restart()
    for lease_id, origin in ((of_peer, PEER), (local, None)):
        service.leases.update({}, lease_id, {"end": end + 2 * HOUR})
        assert (service.view(lease_id)["origin"], service.view(lease_id)["name"]) == (origin, "renamed")
        assert service.site.work.leases[lease_id].request.origin == origin


def test_for_whom_a_peer_asks_and_who_passed_it_on_stay_with_the_lease(service: Service) -> None:
    said: dict[str, Any] = {"path": ["east", "west"], "on_behalf_of": {"project": "physics", "user": "ada"}}
    of_peer = service.leases.create({}, service.document(origin=PEER, **said))["lease_id"]
    local = service.leases.create({}, service.document())["lease_id"]
    end = service.view(of_peer)["end"]
    for restarted in (False, True):
        service.leases.update({}, of_peer, {"end": end + (1 + restarted) * HOUR})
        assert {key: service.view(of_peer)[key] for key in said} == said
        assert {key: service.view(local)[key] for key in said} == dict.fromkeys(said)
        assert service.site.work.leases[of_peer].request.on_behalf_of == said["on_behalf_of"]
        assert service.site.work.documents[of_peer].path == ("east", "west")
        service.restart()


def test_arrivals_are_learnt_when_they_are_granted_and_known_after_a_restart(service: Service) -> None:
    """What is refused, only held, or for maintenance, does not count."""
    service.leases.create({}, service.document(origin=PEER))
    service.leases.create({}, service.document())
    with pytest.raises(RefusedError):
        service.leases.create({}, service.document(9, origin=PEER))
    start = service.clock.now() + 50 * HOUR
    times: list[dict[str, Any]] = [
        {"start": start + 2 * number * HOUR, "end": start + (2 * number + 1) * HOUR} for number in range(3)
    ]
    held = [service.leases.offer({}, service.document(origin=PEER, **each))["lease_id"] for each in times[:2]]
    service.offers.accept({}, held[0])
    service.offers.reject({}, held[1])
    host: dict[str, Any] = {"resource_type": "physical:host", "hosts": ["compute-1"], "min": 1, "max": 1}
    maintained = [{"id": str(uuid4()), "hypervisor_properties": "", "resource_properties": "", **host}]
    service.leases.create({}, service.document(maintenance=True, reservations=maintained, **times[2]))
    found = service.site.work.arrivals.known
    assert {sort: each.number for sort, each in found.items()} == {"external local": 2, "local": 1}
    assert service.reader.arrivals() == {sort: each.plain() for sort, each in found.items()}
    service.restart()
    assert service.site.work.arrivals.known == found


def test_offers_and_counter_offers_have_that_of_the_request(service: Service) -> None:
    service.leases.create({}, service.document())
    wanted = service.document(2, origin=PEER)
    answer = service.negotiations.offer({}, {**wanted, "counter_offers": 2, "flexibility": {}})
    assert len(answer["counter_offers"]) == 2
    for offer in answer["counter_offers"]:
        assert service.view(offer["lease_id"])["origin"] == PEER
    other = answer["counter_offers"][0]["lease_id"]
    changed = service.view(other)["start"] + 10 * HOUR
    service.offers.counter({}, other, {"start": changed, "end": changed + HOUR})
    assert (service.view(other)["start"], service.view(other)["origin"]) == (changed, PEER)
    service.offers.accept({}, other)
    assert service.view(other)["origin"] == PEER


def test_requests_and_refusals_are_counted_by_it(service: Service) -> None:
    for origin in (PEER, None):
        service.leases.create({}, service.document(origin=origin))
    with pytest.raises(RefusedError):
        service.leases.create({}, service.document(9, origin=PEER))
    value = service.metrics.registry.get_sample_value
    for origin, refused in ((PEER, 1), ("", 0)):
        labels = {"kind": "reservation", "origin": origin}
        assert value("lease_scheduler_lease_refusals_total", labels) == refused
        labels |= {"state": "ready"}
        assert value("lease_scheduler_lease_transitions_total", labels) == 1


def test_a_peer_gets_no_more_than_its_limits_also_after_a_restart(service: Service) -> None:
    """Its own leases stay; other projects are not limited."""
    first = service.leases.create({}, service.document(origin=PEER))["lease_id"]
    service.peers.set({}, PEER, {"max_nodes": 2, "max_offers": 1})
    service.restart()
    (shown,) = service.peers.list({})["peers"]
    assert (shown["name"], shown["nodes"], shown["limits"]["max_nodes"]) == (PEER, 1, 2)
    with pytest.raises(RefusedError, match="nodes: .* would have 3 nodes, and may have 2") as refused:
        service.leases.create({}, service.document(2, origin=PEER))
    assert refused.value.code == 403
    service.leases.create({}, service.document())
    end = service.view(first)["end"]
    held = service.leases.offer({}, service.document(origin=PEER, start=end + HOUR, end=end + 2 * HOUR))["lease_id"]
    later = service.document(origin=PEER, start=service.view(held)["end"], end=service.view(held)["end"] + HOUR)
    with pytest.raises(RefusedError, match="hold: 1 leases are held for northern-site, and 1 may be"):
        service.leases.offer({}, later)
    service.peers.set({}, PEER, {"max_nodes": 0})
    assert service.view(first)["origin"] == PEER
    with pytest.raises(RefusedError, match="would have 1 nodes, and may have 0"):
        service.leases.update({}, first, {"end": service.view(first)["end"] + HOUR})
    service.peers.set({}, PEER, None)
    service.leases.update({}, first, {"end": service.view(first)["end"] + HOUR})
    with pytest.raises(RefusedError, match="kinds"):
        service.peers.set({}, PEER, {"kinds": ["rent"]})
    for keep in (service.peers.set, service.flows.set):
        with pytest.raises(RefusedError, match="must be 1 to 255 printable characters"):
            keep({}, "x" * 256, None)
