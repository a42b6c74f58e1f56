"""The embedded service on the loopback address of IPv6: requests, page, and the URLs that it gives."""

from __future__ import annotations

import socket

import pytest
import requests

from tests.functional.embedded.conftest import Make
from tests.functional.embedded.rest import HEADERS, LIMIT, Rest
from tests.servers.base import free_port
from tests.servers.reservation import ReservationService

_SETTINGS = """
[simulated_cloud]
hosts = 4
[service]
max_feeds = 2
[api]
maximum_limit = 1
[metrics]
enabled = true
host = ::1
"""


@pytest.fixture
def service(make: Make) -> ReservationService:
    running = make(["--fill-pool"], f"{_SETTINGS}api_port = {free_port()}\nengine_port = {free_port()}\n", host="::1")
    running.start()
    return running


def test_it_serves_api_and_page_at_a_bracketed_address(service: ReservationService) -> None:
    assert service.url == f"http://[::1]:{service.port}"
    printed = f"calendar page: {service.url}/   API: {service.url}/v1 "
    assert printed in service.log.read_text()
    page = requests.get(f"{service.url}/", headers={"Accept": "text/html"}, timeout=LIMIT)
    assert "<h1>Lease calendar</h1>" in page.text
    assert requests.get(f"{service.url}/main.js", timeout=LIMIT).status_code == 200
    assert requests.get(f"{service.url}/v1/calendar", headers=HEADERS | {"Origin": service.url}, timeout=LIMIT).ok
    with pytest.raises(requests.ConnectionError):
        requests.get(f"http://127.0.0.1:{service.port}/", timeout=LIMIT)


def test_links_are_bracketed_and_can_be_followed(service: ReservationService) -> None:
    rest = Rest(service)
    for name in ("first", "second"):
        rest.lease(name, "reservation", start_date="2027-06-01 00:00", duration="1h")
    root = requests.get(f"{service.url}/", headers={"Accept": "application/json"}, timeout=LIMIT).json()
    assert root["versions"][0]["links"][0]["href"] == f"{service.url}/v1"
    (link,) = rest.get("leases?limit=1")["leases_links"]
    assert link["href"].startswith(f"{service.url}/v1/leases?")
    (second,) = requests.get(link["href"], headers=HEADERS, timeout=LIMIT).json()["leases"]
    assert second["name"] == "second"
    address = rest.post("feeds", {"name": "phone"})["feed"]["url"]
    assert address.startswith(f"{service.url}/")
    assert requests.get(address, timeout=LIMIT).status_code == 200


def test_links_are_bracketed_for_clients_that_name_no_host(service: ReservationService) -> None:
    with socket.create_connection(("::1", service.port), timeout=LIMIT) as connection:
        connection.sendall(b"GET / HTTP/1.0\r\nAccept: application/json\r\n\r\n")
        answer = b"".join(iter(lambda: connection.recv(65_536), b""))
    assert f'"http://[::1]:{service.port}/v1"'.encode() in answer
