"""Placement through the client of our driver."""

from __future__ import annotations

from uuid import uuid4

import pytest
from keystoneauth1.adapter import Adapter
from keystoneauth1.exceptions.http import Conflict, Forbidden

from lease_scheduler.cloud.nova.api.placement import NoRoomError, Placement
from tests.unit.rehearsal.cloud.site import Site


@pytest.fixture
def placement(site: Site) -> Placement:
    return Placement(Adapter(site.session(), service_type="placement"))


def _code(refused: Conflict) -> str:
    assert refused.response is not None
    (error,) = refused.response.json()["errors"]
    return str(error["code"])


def test_what_is_held_is_held_once(site: Site, placement: Placement) -> None:
    provider_id, _ = placement.providers()["host1"]
    amounts = {provider_id: {"VCPU": 2}}
    assert placement.hold("consumer", amounts, "p", "u") == {}
    assert placement.hold("consumer", amounts, "p", "u") is None
    assert placement.is_held_for_a_lease("consumer")
    assert placement.held("consumer") == amounts
    assert placement.consumers_on(provider_id) == {"consumer": {"VCPU": 2}}
    assert placement.missing(provider_id, {"VCPU": 39}) == {"VCPU": 1}
    with pytest.raises(NoRoomError, match="exceed the capacity"):
        placement.hold("another", {provider_id: {"MEMORY_MB": 8000}}, "p", "u")
    placement.release("consumer")
    assert placement.usages(provider_id)["VCPU"] == 0


def test_slots_come_and_go(site: Site, placement: Placement) -> None:
    provider_id, _ = placement.providers()["host1"]
    child = str(uuid4())
    placement.ensure_class("CUSTOM_SLOT")
    placement.ensure_slots(child, "slots", provider_id, {"CUSTOM_SLOT": 2})
    placement.hold("server", {child: {"CUSTOM_SLOT": 1}}, "p", "u")
    assert placement.with_slots(child, lambda: None)[0] == {"CUSTOM_SLOT": (2, 1)}
    with pytest.raises(NoRoomError):
        placement.remove_slots(child, ["CUSTOM_SLOT"])
    placement.release("server")
    placement.remove_slots(child, ["CUSTOM_SLOT"])
    placement.remove_class("CUSTOM_SLOT")
    placement.remove_provider(child)
    assert "CUSTOM_SLOT" not in placement.classes()
    assert "slots" not in placement.providers()


def test_a_stale_generation_is_refused_with_its_code(site: Site) -> None:
    adapter = Adapter(site.session(), service_type="placement", default_microversion="1.38")
    (provider, *_) = adapter.get("/resource_providers").json()["resource_providers"]
    body = {"resource_provider_generation": provider["generation"] - 1, "inventories": {}}
    with pytest.raises(Conflict) as refused:
        adapter.put(f"/resource_providers/{provider['uuid']}/inventories", json=body)
    assert _code(refused.value) == "placement.concurrent_update"


def test_a_stale_consumer_generation_is_refused(site: Site, placement: Placement) -> None:
    adapter = Adapter(site.session(), service_type="placement", default_microversion="1.38")
    provider_id, _ = placement.providers()["host1"]
    placement.hold("consumer", {provider_id: {"VCPU": 1}}, "p", "u")
    body = {
        "allocations": {provider_id: {"resources": {"VCPU": 2}}},
        "project_id": "p",
        "user_id": "u",
        "consumer_generation": None,
        "consumer_type": "LEASE",
    }
    with pytest.raises(Conflict) as refused:
        adapter.put("/allocations/consumer", json=body)
    assert _code(refused.value) == "placement.concurrent_update"


def test_candidates_are_those_of_the_hosts_with_room(site: Site) -> None:
    adapter = Adapter(site.session(), service_type="placement", default_microversion="1.38")
    found = adapter.get("/allocation_candidates?resources=VCPU:1,MEMORY_MB:7680&limit=2").json()
    assert len(found["allocation_requests"]) == 2
    assert adapter.get("/allocation_candidates?resources=MEMORY_MB:7681").json()["allocation_requests"] == []


def test_members_are_refused(site: Site) -> None:
    with pytest.raises(Forbidden):
        Adapter(site.session("mallory", "physics"), service_type="placement").get("/resource_providers")
