"""Status codes, error bodies and headers of microversion 1.0, checked without a client.

What needs a real Nova is tested in ``tests/functional/lab`` and ``tests/in_nova``: hosts in the aggregate ``freepool``,
an aggregate named by the reservation, servers deleted with their lease, the aggregate of a lease that is over, server
groups.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import requests

from tests.compat.shell import END, SENT_DATE, START, TOKEN, ReservationService, sent
from tests.servers.base import wait_until
from tests.servers.reservation import ReservationService as Server

LEASE = {"name": "x", "start_date": sent(START), "end_date": sent(END), "reservations": [], "events": []}
HOSTS = {
    "resource_type": "physical:host",
    "min": 1,
    "max": 1,
    "hypervisor_properties": "[]",
    "resource_properties": "",
}
INSTANCE = {
    "resource_type": "virtual:instance",
    "vcpus": 1,
    "memory_mb": 512,
    "disk_gb": 1,
    "amount": 1,
    "affinity": None,
    "resource_properties": "",
}
NOBODY = "00000000-0000-4000-8000-000000000000"


class Rest:
    """The API without a client."""

    def __init__(self, url: str) -> None:
        self._url = url

    def __call__(self, method: str, path: str, body: Any = None, **headers: str) -> requests.Response:
        given = {"X-Auth-Token": TOKEN, **{name.replace("_", "-"): value for name, value in headers.items()}}
        return requests.request(method, f"{self._url}/v1/{path}", json=body, headers=given, timeout=60)

    def refused(self, method: str, path: str, body: Any = None) -> tuple[int, str]:
        """Return status and text of a refusal, which must have Blazar's form."""
        answer = self(method, path, body)
        found = answer.json()
        assert found["error_code"] == found["error_name"] == answer.status_code
        return answer.status_code, found["error_message"]

    def lease(self, *reservations: dict[str, Any], **changed: Any) -> tuple[int, str]:
        """Return the refusal of a request for a lease."""
        return self.refused("POST", "leases", {**LEASE, "reservations": list(reservations), **changed})


@pytest.fixture
def rest(reservation_service: ReservationService) -> Rest:
    return Rest(reservation_service.url)


def test_leases_are_refused_in_the_order_and_words_of_blazar(rest: Rest) -> None:
    assert rest("POST", "os-hosts", {"name": "compute-1"}).status_code == 201
    early = {"start_date": "2001-01-01 00:00"}
    for key in ("name", "start_date", "end_date"):
        body = {name: value for name, value in LEASE.items() if name != key}
        assert rest.refused("POST", "leases", body) == (400, f"Missing parameter {key}")
    assert rest.lease({"min": 1}, end_date="Bogus-date 13:13")[0] == 400
    bogus = "Bogus-date 13:13 is an invalid date. Required format: %Y-%m-%d %H:%M"
    assert rest.lease(end_date="Bogus-date 13:13", **early) == (400, bogus)
    assert rest.lease(**early) == (400, "Start date must be later than current date")
    backwards = {"start_date": sent(END), "end_date": sent(START)}
    assert rest.lease({**HOSTS, "min": "two"}, **backwards) == (400, "End date must be later than start date.")
    assert rest.lease(before_end_date=sent(END)) == (403, "Datetime is out of lease limits")
    for key in ("min", "max", "hypervisor_properties", "resource_properties"):
        status, text = rest.lease({name: value for name, value in HOSTS.items() if name != key})
        assert (status, key in text) == (400, True)
    for key in INSTANCE:
        status, text = rest.lease({name: value for name, value in INSTANCE.items() if name != key})
        assert (status, key in text) == (400, True)
    status, text = rest.lease({**HOSTS, "min": 2, "max": 2})
    assert (status, text.startswith("Not enough hosts available")) == (409, True)
    status, text = rest.lease({"resource_type": "virtual:castle"})
    assert (status, "virtual:castle" in text or "resource_type" in text) == (400, True)
    flavor = {"resource_type": "flavor:instance", "flavor_id": "1", "amount": 1, "affinity": True}
    assert rest.lease({**flavor, "resource_properties": ""})[0] == 409
    assert rest("GET", "leases").json() == {"leases": []}
    query = '["==", "$hypervisor_hostname", "compute-1"]'
    assert (
        rest("POST", "leases", {**LEASE, "reservations": [{**HOSTS, "resource_properties": query}]}).status_code == 201
    )


def test_a_lease_can_not_be_taken_over(rest: Rest) -> None:
    lease = rest("POST", "leases", LEASE).json()["lease"]
    for key, value in (("project_id", "other"), ("degraded", True), ("status", "ACTIVE")):
        status, text = rest.refused("PUT", f"leases/{lease['id']}", {key: value})
        assert (status, key in text) == (400, True)
    assert rest("GET", f"leases/{lease['id']}").json() == {"lease": lease}
    status, _ = rest.refused("PUT", f"leases/{lease['id']}", {"reservations": [{"id": NOBODY, "min": 1}]})
    assert status == 400
    answer = rest("DELETE", f"leases/{lease['id']}")
    assert (answer.status_code, answer.content) == (204, b"")


def test_what_is_not_there(rest: Rest) -> None:
    for path in (f"leases/{NOBODY}", "os-hosts/4711", f"floatingips/{NOBODY}"):
        for method in ("GET", "DELETE"):
            assert rest.refused(method, path)[0] == 404
    answer = rest("GET", "castles")
    assert (answer.status_code, answer.json()["error"]) == (404, 404)
    assert rest("PATCH", "leases").status_code == 405


def test_hosts(rest: Rest) -> None:
    status, text = rest.refused("POST", "os-hosts", {"name": "compute-1", "k" * 65: "x"})
    assert (status, text.startswith("Extra capability key too long")) == (400, True)
    host = rest("POST", "os-hosts", {"name": "compute-1", "gpu": "yes"}).json()["host"]
    assert (host["reservable"], host["status"]) == (True, None)
    assert rest.refused("PUT", f"os-hosts/{host['id']}", {})[0] == 400
    made = rest(
        "POST", "leases", {**LEASE, "reservations": [{**HOSTS, "resource_properties": '["==", "$gpu", "yes"]'}]}
    )
    assert made.status_code == 201
    assert rest.refused("PUT", f"os-hosts/{host['id']}", {"gpu": "no"})[0] == 409
    assert rest.refused("DELETE", f"os-hosts/{host['id']}")[0] == 409
    assert rest("DELETE", f"leases/{made.json()['lease']['id']}").status_code == 204
    assert rest("DELETE", f"os-hosts/{host['id']}").status_code == 204
    assert rest("GET", "os-hosts").json() == {"hosts": []}


@pytest.mark.parametrize("named", [{"id": "2"}, {"id": 2}], ids=["text", "number"])
def test_hosts_by_the_id_of_the_hypervisor(rest: Rest, named: dict[str, Any]) -> None:
    made = rest("POST", "os-hosts", {**named, "gpu": "yes"})
    assert made.status_code == 201, made.text
    host = made.json()["host"]
    assert (host["hypervisor_hostname"], host["gpu"]) == ("compute-2", "yes")
    assert rest.refused("POST", "os-hosts", named)[0] == 409
    assert rest.refused("POST", "os-hosts", {"name": "compute-2"})[0] == 409
    assert rest.refused("POST", "os-hosts", {"id": "99"})[0] == 404
    # A name takes precedence over an id.
    assert rest("POST", "os-hosts", {"name": "compute-1", "id": "99"}).json()["host"]["hypervisor_hostname"] == (
        "compute-1"
    )


@pytest.fixture
def active(rest: Rest) -> dict[str, Any]:
    """An active lease of one instance, on a site of two hosts."""
    for number in (1, 2):
        assert rest("POST", "os-hosts", {"name": f"compute-{number}"}).status_code == 201
    end = (datetime.now(UTC) + timedelta(hours=6)).strftime(SENT_DATE)
    made = rest("POST", "leases", {**LEASE, "start_date": "now", "end_date": end, "reservations": [INSTANCE]})
    assert made.status_code == 201, made.text
    path = f"leases/{made.json()['lease']['id']}"
    assert wait_until(lambda: rest("GET", path).json()["lease"]["status"] == "ACTIVE", 60)
    return dict(rest("GET", path).json()["lease"])


def test_instances_are_added_while_the_lease_is_active(rest: Rest, active: dict[str, Any]) -> None:
    """Blazar lets the amount of an active reservation grow; no other size may change."""
    path, (whole,) = f"leases/{active['id']}", active["reservations"]
    assert whole["aggregate_id"] is not None
    grown = rest("PUT", path, {"reservations": [{**whole, "amount": 3}]})
    assert grown.status_code == 200, grown.text
    (changed,) = grown.json()["lease"]["reservations"]
    assert (changed["id"], changed["amount"], changed["status"]) == (whole["id"], 3, "active")
    holdings = rest("GET", path, OpenStack_API_Version="reservation 1.17").json()["lease"]["holdings"]
    assert [len(each["hosts"]) for each in holdings] == [3]
    too_many = rest("PUT", path, {"reservations": [{**changed, "amount": 1_000}]})
    assert too_many.status_code == 409
    assert rest("GET", path).json()["lease"]["reservations"][0]["amount"] == 3
    for key, value in (("vcpus", 2), ("memory_mb", 256), ("disk_gb", 0), ("affinity", False)):
        refused = rest("PUT", path, {"reservations": [{**changed, key: value}]})
        assert (refused.status_code, key in refused.text) == (409, True), refused.text


def test_reservations_that_are_sent_back_whole(rest: Rest, active: dict[str, Any]) -> None:
    """Clients that prolong a lease send back all that they were shown of its reservations."""
    path = f"leases/{active['id']}"
    end = (datetime.now(UTC) + timedelta(hours=8)).strftime(SENT_DATE)
    for _ in range(2):
        shown = rest("GET", path).json()["lease"]["reservations"]
        changed = rest("PUT", path, {"end_date": end, "reservations": shown})
        assert changed.status_code == 200, changed.text
        lease = changed.json()["lease"]
        assert lease["end_date"].startswith(end.replace(" ", "T"))
        kept = [{**each, "updated_at": None} for each in lease["reservations"]]
        assert kept == [{**each, "updated_at": None} for each in shown]


def test_headers(rest: Rest) -> None:
    request_id = "req-0a1b2c3d-0000-4000-8000-000000000000"
    answer = rest("GET", "leases", X_Openstack_Request_Id=request_id)
    assert answer.headers["X-Openstack-Request-Id"]
    assert answer.headers["OpenStack-API-Version"] == "reservation 1.0"
    assert "OpenStack-API-Version" in answer.headers["Vary"]
    assert rest("GET", "leases", OpenStack_API_Version="reservation 1.999").status_code == 406
    assert rest("GET", "leases", OpenStack_API_Version="reservation x").status_code == 400
    assert rest("GET", "leases", Accept="text/html").status_code == 406


def test_a_lease_that_is_over_stays_readable(tmp_path: Path) -> None:
    """Only what concerns the lease itself; the clock runs fast and starts at a known instant."""
    begin = datetime(2040, 3, 1, tzinfo=UTC)
    clock = f"hosts = 1\nclock_speed = 600\nclock_start = {int(begin.timestamp())}\n"
    service = Server(tmp_path, configuration=f"[simulated_cloud]\n{clock}")
    service.start()
    try:
        rest = Rest(service.url)
        assert rest("POST", "os-hosts", {"name": "compute-1"}).status_code == 201
        dates = {"start_date": "now", "end_date": "2040-03-01 06:00"}
        made = rest("POST", "leases", {**LEASE, **dates, "reservations": [HOSTS]})
        assert made.status_code == 201, made.text
        lease = made.json()["lease"]
        path = f"leases/{lease['id']}"
        assert wait_until(lambda: rest("GET", path).json()["lease"]["status"] == "TERMINATED", 90)
        over = rest("GET", path).json()["lease"]
        assert [each["status"] for each in over["reservations"]] == ["deleted"]
        assert {each["event_type"]: each["status"] for each in over["events"]} == {
            "start_lease": "DONE",
            "before_end_lease": "DONE",
            "end_lease": "DONE",
        }
        assert [each["id"] for each in rest("GET", "leases").json()["leases"]] == [lease["id"]]
    finally:
        service.kill()
