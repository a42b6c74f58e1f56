"""The Python calls of python-blazarclient, and the answers byte by byte where its users rely on them."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from blazarclient import client as blazar
from blazarclient import exception
from keystoneauth1 import discover, session, token_endpoint

from tests.compat.shell import END, SENT_DATE, START, TOKEN, ReservationService, sent, shown

HOSTS = {
    "resource_type": "physical:host",
    "min": 1,
    "max": 1,
    "hypervisor_properties": "",
    "resource_properties": "",
}
LEASE_KEYS = {
    *("id", "name", "user_id", "project_id", "trust_id", "start_date", "end_date", "status", "degraded"),
    *("created_at", "updated_at", "reservations", "events"),
}
HOST_KEYS = {
    *("id", "hypervisor_hostname", "hypervisor_type", "hypervisor_version", "vcpus", "cpu_info", "memory_mb"),
    *("local_gb", "service_name", "availability_zone", "reservable", "status", "trust_id", "created_at", "updated_at"),
}
COMMON_RESERVATION_KEYS = {
    *("id", "lease_id", "resource_id", "resource_type", "status", "missing_resources", "resources_changed"),
    *("created_at", "updated_at"),
}
DATE = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}")
ROW_DATE = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d")


@pytest.fixture
def client(reservation_service: ReservationService) -> Any:
    login = session.Session(auth=token_endpoint.Token(f"{reservation_service.url}/v1", TOKEN))
    return blazar.Client("1", session=login)


def create_lease(client: Any, name: str, *reservations: dict[str, Any]) -> Any:
    return client.lease.create(name, sent(START), sent(END), list(reservations), [])


def test_a_lease_looks_as_blazar_shows_it(client: Any) -> None:
    client.host.create("compute-1")
    lease = create_lease(client, "first", HOSTS)
    assert set(lease) == LEASE_KEYS
    assert lease["start_date"] == "2040-03-01T10:00:00.000000"
    assert DATE.fullmatch(lease["end_date"])
    assert ROW_DATE.fullmatch(lease["created_at"])
    assert (lease["status"], lease["degraded"]) == ("PENDING", False)
    (reservation,) = lease["reservations"]
    own = {"min", "max", "hypervisor_properties", "resource_properties", "before_end"}
    assert set(reservation) == COMMON_RESERVATION_KEYS | own
    assert reservation["lease_id"] == lease["id"]
    assert (reservation["status"], reservation["before_end"]) == ("pending", "default")
    events = {event["event_type"]: event for event in lease["events"]}
    assert set(events) == {"start_lease", "end_lease", "before_end_lease"}
    assert all(event["status"] == "UNDONE" and event["lease_id"] == lease["id"] for event in events.values())
    assert events["before_end_lease"]["time"] == "2040-03-01T13:00:00.000000"
    assert client.lease.get(lease["id"]) == lease
    assert client.lease.list() == [lease]


def test_hosts_are_fit_for_the_dashboard(client: Any) -> None:
    host = client.host.create("compute-1", gpu="yes")
    assert set(host) == HOST_KEYS | {"gpu"}
    assert isinstance(host["id"], str)
    assert host["id"].isdigit()
    assert host["reservable"] is True
    assert host["status"] is None
    assert isinstance(json.loads(host["cpu_info"]), dict)
    assert client.host.get(host["id"]) == host
    assert client.host.update(host["id"], {"gpu": None, "rack": "7"})["rack"] == "7"
    assert "gpu" not in client.host.get(host["id"])
    client.host.delete(host["id"])
    assert client.host.list() == []


def test_every_type_of_reservation_has_its_keys(client: Any) -> None:
    for name in ("compute-1", "compute-2"):
        client.host.create(name)
    client.floatingip.create("external", "192.0.2.7")
    instance = {"vcpus": 1, "memory_mb": 512, "disk_gb": 1, "amount": 2, "affinity": None, "resource_properties": ""}
    asked: list[dict[str, Any]] = [
        {"resource_type": "virtual:instance", **instance},
        {
            "resource_type": "flavor:instance",
            "flavor_id": "1",
            "amount": 1,
            "affinity": None,
            "resource_properties": "",
        },
        {"resource_type": "virtual:floatingip", "network_id": "external", "amount": 1, "required_floatingips": []},
    ]
    made = create_lease(client, "all", *asked)["reservations"]
    by_type = {reservation["resource_type"]: reservation for reservation in made}
    created = {"flavor_id", "server_group_id", "aggregate_id"}
    for kind in ("virtual:instance", "flavor:instance"):
        assert set(by_type[kind]) == COMMON_RESERVATION_KEYS | set(instance) | created
        assert by_type[kind]["flavor_id"] == by_type[kind]["id"]
        assert by_type[kind]["server_group_id"] is None
    source_flavor = json.loads(by_type["flavor:instance"]["resource_properties"])
    assert isinstance(source_flavor, dict)
    addresses = {"network_id", "amount", "required_floatingips"}
    assert set(by_type["virtual:floatingip"]) == COMMON_RESERVATION_KEYS | addresses


def test_a_lease_is_changed(client: Any) -> None:
    client.host.create("compute-1")
    lease = create_lease(client, "first", HOSTS)
    changed = client.lease.update(lease["id"], name="second", prolong_for="1h")
    assert (changed["name"], changed["end_date"]) == ("second", "2040-03-01T15:00:00.000000")
    (before_end,) = [event for event in changed["events"] if event["event_type"] == "before_end_lease"]
    assert before_end["time"] == "2040-03-01T14:00:00.000000", "it keeps its distance to the end"
    client.lease.delete(lease["id"])
    with pytest.raises(exception.BlazarClientException) as caught:
        client.lease.get(lease["id"])
    assert caught.value.kwargs["code"] == 404


def test_the_end_may_move_to_the_present_minute(client: Any) -> None:
    """Tempest ends leases early in this way."""
    client.host.create("compute-1")
    tomorrow = datetime.now(UTC) + timedelta(days=1)
    lease = client.lease.create("short", "now", sent(tomorrow), [HOSTS], [])
    soon = sent(datetime.now(UTC) + timedelta(minutes=1))
    changed = client.lease.update(lease["id"], end_date=soon)
    minute = datetime.strptime(soon, SENT_DATE)
    # If that minute has started meanwhile, the lease ends at once.
    late = timedelta(seconds=10) if datetime.now(UTC).replace(tzinfo=None) >= minute else timedelta(0)
    assert abs(shown(changed["end_date"]) - minute) <= late


def test_properties_allocations_and_addresses(client: Any) -> None:
    host = client.host.create("compute-1", gpu="yes")
    lease = create_lease(client, "first", HOSTS)
    assert client.host.list_properties() == [{"property": "gpu"}]
    assert client.host.get_property("gpu")["property_values"] == ["yes"]
    assert client.host.set_property("gpu", True)["private"] is True
    assert client.host.list_properties() == []
    (allocation,) = client.allocation.list("os-hosts")
    assert allocation["resource_id"] == host["id"]
    (reservation,) = allocation["reservations"]
    assert set(reservation) == {"id", "lease_id", "start_date", "end_date"}
    assert (reservation["lease_id"], reservation["id"]) == (lease["id"], lease["reservations"][0]["id"])
    assert client.allocation.get("os-hosts", host["id"]) == allocation
    address = client.floatingip.create("external", "192.0.2.7")
    keys = {"id", "floating_network_id", "subnet_id", "floating_ip_address", "reservable", "created_at", "updated_at"}
    assert set(address) == keys
    assert client.floatingip.get(address["id"]) == address
    client.floatingip.delete(address["id"])
    assert client.floatingip.list() == []


def test_errors_are_those_of_blazar(client: Any) -> None:
    def refused(name: str, start: str, end: str, *reservations: dict[str, Any]) -> tuple[int, str]:
        with pytest.raises(exception.BlazarClientException) as caught:
            client.lease.create(name, start, end, list(reservations), [])
        return caught.value.kwargs["code"], str(caught.value)

    assert refused("x", sent(END), sent(START)) == (400, "ERROR: End date must be later than start date.")
    assert refused("x", "2001-01-01 00:00", sent(END)) == (400, "ERROR: Start date must be later than current date")
    bogus = "ERROR: Bogus-date 13:13 is an invalid date. Required format: %Y-%m-%d %H:%M"
    assert refused("x", "Bogus-date 13:13", sent(END)) == (400, bogus)
    code, message = refused("x", sent(START), sent(END), HOSTS)
    assert (code, "Not enough hosts available" in message) == (409, True)
    code, message = refused("x", sent(START), sent(END), {**HOSTS, "min": "two"})
    assert code == 400
    assert "min" in message


def test_the_way_without_a_session_works_too(reservation_service: ReservationService) -> None:
    client = blazar.Client("1", blazar_url=f"{reservation_service.url}/v1", auth_token=TOKEN)
    lease = client.lease.create("empty", sent(START), sent(END), [], [])
    assert lease["reservations"] == []
    assert client.lease.list() == [lease]


def test_the_version_document_leads_to_the_endpoint(reservation_service: ReservationService) -> None:
    found = discover.Discover(session.Session(), f"{reservation_service.url}/")
    assert found.url_for("1") == f"{reservation_service.url}/v1"
