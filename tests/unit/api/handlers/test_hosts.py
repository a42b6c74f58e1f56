"""Hosts, allocations, properties and floating IP addresses."""

from __future__ import annotations

from typing import Any

import pytest
from flask import Flask

from tests.unit.api.conftest import Client
from tests.unit.api.fakes import Site
from tests.unit.api.handlers.test_leases import HOSTS, made, refused


def test_a_host_is_created_listed_changed_and_deleted(admin: Client, site: Site) -> None:
    answer = admin.post("/v1/os-hosts", {"name": "host-1", "gpu": "yes", "slots": 4, "fast": True})
    assert answer.status_code == 201
    host = (answer.json or {})["host"]
    assert (host["id"], host["hypervisor_hostname"], host["status"], host["reservable"]) == ("1", "host-1", None, True)
    assert (host["gpu"], host["slots"], host["fast"]) == ("yes", "4", "True")
    assert host["created_at"] == "2030-01-31 12:00:30"
    assert admin.get("/v1/os-hosts").json == {"hosts": [host]}
    assert admin.get("/v1/os-hosts/1").json == {"host": host}
    changed = (admin.put("/v1/os-hosts/1", {"gpu": "no", "slots": None}).json or {})["host"]
    assert changed["gpu"] == "no"
    assert "slots" not in changed
    assert admin.delete("/v1/os-hosts/1").status_code == 204
    assert admin.get("/v1/os-hosts").json == {"hosts": []}


def test_a_host_that_is_out_of_service_is_not_reservable(admin: Client, site: Site) -> None:
    """As Blazar's clients expect; the host is reservable again when it is back."""
    admin.post("/v1/os-hosts", {"name": "host-1"})
    for out_until, reservable in ((site.clock.now() + 600, False), (None, True)):
        site.host_rows["1"]["out_until"] = out_until
        assert (admin.get("/v1/os-hosts/1").json or {})["host"]["reservable"] is reservable


@pytest.mark.parametrize(
    ("method", "path", "sent", "code", "message"),
    [
        ("POST", "/v1/os-hosts", {"name": "h", "x" * 65: "y"}, 400, "Extra capability key too long"),
        ("POST", "/v1/os-hosts", {"name": "h", "": "y"}, 400, "Extra capability key too long"),
        ("POST", "/v1/os-hosts", {"gpu": "yes"}, 403, "Invalid values for host"),
        ("POST", "/v1/os-hosts", {"name": "h", "gpu": ["a"]}, 400, "gpu: must be a text, a number, true or false"),
        ("POST", "/v1/os-hosts", {"name": 3}, 400, "name: must be a text, not 3"),
        ("PUT", "/v1/os-hosts/1", {}, 400, "No data to update"),
        ("PUT", "/v1/os-hosts/1", {"vcpus": "3"}, 400, "vcpus: is a fact of the host"),
        ("PUT", "/v1/os-hosts/1", {"name": "3"}, 400, "name: is a fact of the host"),
        ("PUT", "/v1/os-hosts/1", {"gpu": {}}, 400, "gpu: must be a text, a number or null"),
        ("PUT", "/v1/os-hosts/9", {"gpu": "yes"}, 404, "Object with {'host_id': '9'} not found"),
        ("GET", "/v1/os-hosts/host-1", None, 404, "Object with {'host_id': 'host-1'} not found"),
        ("GET", "/v1/os-hosts/9/allocation", None, 404, "Object with {'host_id': '9'} not found"),
        ("DELETE", "/v1/os-hosts/9", None, 404, "Object with {'host_id': '9'} not found"),
        ("PATCH", "/v1/os-hosts/properties/gpu", {"private": "yes"}, 400, "private: must be true or false"),
        ("PATCH", "/v1/os-hosts/properties/gpu", {}, 400, "Missing parameter private"),
        ("PATCH", "/v1/os-hosts/properties/x", {"private": True}, 404, "Object with {'property_name': 'x'} not found"),
        ("POST", "/v1/floatingips", {"floating_network_id": "n"}, 400, "Missing parameter floating_ip_address"),
        (
            "POST",
            "/v1/floatingips",
            {"floating_network_id": "n", "floating_ip_address": "here"},
            400,
            "IP address here is invalid (floating_ip_address)",
        ),
        ("GET", "/v1/floatingips/x", None, 404, "Object with {'floatingip_id': 'x'} not found"),
        ("DELETE", "/v1/floatingips/x", None, 404, "Object with {'floatingip_id': 'x'} not found"),
    ],
)
def test_wrong_requests_are_refused(
    admin: Client, site: Site, method: str, path: str, sent: Any, code: int, message: str
) -> None:
    site.add_host("host-1", {"gpu": "yes"})
    answer = admin.send(method, path, sent)
    assert refused(answer)[0] == code
    assert message in refused(answer)[1]
    assert site.calls == []


def test_a_capability_never_hides_a_fact(admin: Client, site: Site) -> None:
    site.add_host("host-1", {"vcpus": "many"})
    assert (admin.get("/v1/os-hosts/1").json or {})["host"]["vcpus"] == 16


def test_allocations_list_the_leases_of_each_host(admin: Client, site: Site) -> None:
    site.add_host("host-1")
    site.add_host("host-2")
    first, second = made(admin, HOSTS), made(admin, HOSTS)
    shown = {
        "id": first["reservations"][0]["id"],
        "lease_id": first["id"],
        "start_date": "2030-02-01T00:00:00.000000",
        "end_date": "2030-02-02T00:00:00.000000",
    }
    both = (admin.get("/v1/os-hosts/allocations").json or {})["allocations"]
    assert [each["resource_id"] for each in both] == ["1", "2"]
    assert [each["lease_id"] for each in both[0]["reservations"]] == [first["id"], second["id"]]
    one = admin.get(f"/v1/os-hosts/allocations?lease_id={first['id']}").json or {}
    assert one["allocations"][0] == {"resource_id": "1", "reservations": [shown]}
    of_host = admin.get(f"/v1/os-hosts/1/allocation?reservation_id={shown['id']}").json
    assert of_host == {"allocation": {"resource_id": "1", "reservations": [shown]}}
    assert admin.get("/v1/os-hosts/2/allocation").json == {"allocation": {"resource_id": "2", "reservations": []}}


def test_private_properties_are_listed_on_request_only(admin: Client, site: Site) -> None:
    site.add_host("host-1", {"gpu": "yes", "rack": "7"})
    site.private.add("rack")
    path = "/v1/os-hosts/properties"
    assert admin.get(path).json == {"resource_properties": [{"property": "gpu"}]}
    assert admin.get(f"{path}?all=True").json == {"resource_properties": [{"property": "gpu"}, {"property": "rack"}]}
    assert admin.get(f"{path}?detail=True&all=True").json == {
        "resource_properties": [
            {"property": "gpu", "private": False, "values": ["yes"]},
            {"property": "rack", "private": True, "values": ["7"]},
        ]
    }
    answer = admin.patch(f"{path}/gpu", {"private": True}).json
    assert answer == {"resource_property": {"resource_type": "physical:host", "property_name": "gpu", "private": True}}
    assert admin.get(path).json == {"resource_properties": []}


def test_a_floating_ip_is_created_listed_and_deleted(admin: Client, member: Client) -> None:
    answer = admin.post("/v1/floatingips", {"floating_network_id": "net", "floating_ip_address": "10.0.0.1"})
    address = (answer.json or {})["floatingip"]
    assert (answer.status_code, address["floating_ip_address"], address["reservable"]) == (201, "10.0.0.1", True)
    assert member.get("/v1/floatingips").json == {"floatingips": [address]}
    assert member.get(f"/v1/floatingips/{address['id']}").json == {"floatingip": address}
    assert admin.delete(f"/v1/floatingips/{address['id']}").status_code == 204
    assert member.get("/v1/floatingips").json == {"floatingips": []}


def test_nested_providers_are_shown_to_clients_that_know_them(admin: Client) -> None:
    """Issue 18."""
    admin.post("/v1/os-hosts", {"name": "host-1"})
    assert "providers" not in (admin.get("/v1/os-hosts/1").json or {})["host"]
    host = (admin.at("1.24").get("/v1/os-hosts/1").json or {})["host"]
    assert host["providers"] == [{"name": "host-1_gpu", "resources": {"VGPU": 4}, "traits": ["CUSTOM_A100"]}]
    assert (host["resources"], host["traits"]) == ({}, ["HW_CPU_X86_VMX"])


def test_administrators_put_hosts_to_sleep_and_wake_them(app: Flask) -> None:
    """Microversion 1.27; a property of the host takes precedence over the configured watts."""
    old, new = (Client(app, version, "admin") for version in ("1.26", "1.27"))
    created = new.post("/v1/os-hosts", {"name": "host-9", "watts_awake": "200", "power_state": "mine"})
    host = (created.json or {})["host"]
    assert (host["power_state"], host["power_since"], host["energy_saved_wh"]) == ("awake", None, 0.0)
    path = f"/v1/os-hosts/{host['id']}"
    slept = (new.post(f"{path}/action", {"sleep": {}}).json or {})["host"]
    assert (slept["power_state"], slept["energy_saved_wh"]) == ("asleep", 0.0)
    assert slept["power_since"] is not None
    woken = (new.post(f"{path}/action", {"wake": {}}).json or {})["host"]
    assert (woken["power_state"], woken["energy_saved_wh"]) == ("awake", 400.0)
    assert (old.get(path).json or {})["host"]["power_state"] == "mine"
    assert old.post(f"{path}/action", {"wake": {}}).status_code == 404
