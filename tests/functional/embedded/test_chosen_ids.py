"""A client that chooses the id of its lease can repeat the request until it gets an answer (issue 17)."""

from __future__ import annotations

import uuid
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.compat.inside import InsideShell
from tests.functional.embedded.conftest import Make, started
from tests.functional.embedded.rest import Document, Rest, date, until
from tests.servers.reservation import ReservationService

_SETTINGS = """
[simulated_cloud]
hosts = 2
clock_speed = 60
clock_start = 1800000000
"""


@pytest.fixture
def service(make: Make) -> ReservationService:
    return started(make, _SETTINGS, 2)


def _body(**others: object) -> Document:
    nodes = [{"count": 1, "resources": {"VCPU": 8}}]
    lease_id = str(uuid.uuid4())
    return {"id": lease_id, "name": "once", "kind": "best-effort", "duration": 7_200, "nodes": nodes} | others


def test_the_same_request_again_gives_the_same_lease(service: ReservationService) -> None:
    """Also if its start has passed, after a restart, and if the lease is over or deleted."""
    rest = Rest(service)
    start = rest.now() + 300
    body = _body(kind="reservation", start_date=date(start))
    path = f"leases/{body['id']}"
    first = rest.ask("POST", "leases", body)
    assert (first.status_code, first.json()["lease"]["id"]) == (201, body["id"])
    until(lambda: rest.get(path)["lease"]["state"] == "active" and rest.now() > start + 120)

    def check_again(state: str) -> None:
        # The same request with its keys in another order.
        again = rest.ask("POST", "leases", dict(reversed(body.items())))
        assert again.status_code == 201, again.text
        told = again.json()["lease"]
        assert (told["id"], told["number"], told["state"]) == (body["id"], first.json()["lease"]["number"], state)
        assert [each["id"] for each in told["reservations"]] == [
            each["id"] for each in first.json()["lease"]["reservations"]
        ]

    check_again("active")
    assert service.interrupt() == 0
    service.start()
    check_again("active")
    rest.post(f"{path}/action", {"end": {}})
    until(lambda: rest.get(path)["lease"]["state"] == "done")
    check_again("done")
    assert rest.ask("DELETE", path).status_code in (200, 204)
    check_again("done")
    assert rest.get("leases")["leases"] == []


def test_another_request_with_the_id_is_refused(service: ReservationService) -> None:
    """A request from another project is refused too, and learns only that the id is taken."""
    rest = Rest(service)
    body = _body()
    rest.post("leases", body)
    other = Rest(service, X_Project_Id="another", X_User_Id="another", X_Roles="member")
    # A lease that is created in another way, without a chosen id.
    plain = rest.lease("plain", "best-effort", duration=7_200)
    refused = [
        rest.ask("POST", "leases", {**body, "name": "other"}),
        rest.ask("POST", "leases", {**body, "duration": 7_201}),
        rest.ask("POST", "leases", {**body, "id": plain["id"]}),
        other.ask("POST", "leases", body),
        other.ask("POST", "leases", {**body, "name": "other"}),
    ]
    assert {each.status_code for each in refused} == {409}
    assert {each.json()["field"] for each in refused} == {"id"}
    assert {each.json()["error_message"] for each in refused} == {refused[0].json()["error_message"]}
    assert refused[0].json()["error_message"].startswith("id: is taken")
    assert len(rest.get("leases")["leases"]) == 2


def test_a_request_that_was_refused_is_tried_again(service: ReservationService) -> None:
    rest = Rest(service)
    start, end = rest.now() + 36_000, rest.now() + 72_000
    times = {"kind": "reservation", "start_date": date(start), "end_date": date(end)}
    blocking = rest.lease("blocking", count=2, **times)
    body = {key: value for key, value in _body(**times).items() if key != "duration"}
    assert rest.ask("POST", "leases", body).status_code == 409
    assert rest.ask("DELETE", f"leases/{blocking['id']}").status_code in (200, 204)
    again = rest.ask("POST", "leases", body)
    assert again.status_code == 201, again.text
    assert again.json()["lease"]["id"] == body["id"]


def test_requests_at_the_same_time_make_one_lease(service: ReservationService) -> None:
    rest = Rest(service)
    for _ in range(5):
        body = _body()
        with ThreadPoolExecutor(8) as pool:
            sent = [pool.submit(rest.ask, "POST", "leases", body) for _ in range(8)]
            answers = [each.result() for each in sent]
        assert {each.status_code for each in answers} == {201}, [each.text for each in answers]
        assert {each.json()["lease"]["id"] for each in answers} == {body["id"]}
        assert len({each.json()["lease"]["number"] for each in answers}) == 1
    assert len(rest.get("leases")["leases"]) == 5


def test_what_is_no_id(service: ReservationService) -> None:
    rest = Rest(service)
    for wrong in ("", "7", uuid.uuid4().hex, f"{uuid.uuid4()}\n", 7, None):
        answer = rest.ask("POST", "leases", _body(id=wrong))
        assert (answer.status_code, answer.json()["field"]) == (400, "id"), wrong


def test_only_new_leases_have_one_and_only_since_it_came(service: ReservationService) -> None:
    rest = Rest(service)
    body = _body()
    older = Rest(service, OpenStack_API_Version="reservation 1.17").ask("POST", "leases", body)
    assert (older.status_code, older.json()["field"]) == (400, "id")
    assert rest.ask("POST", "quotes", body).status_code == 400
    assert rest.ask("PUT", f"leases/{rest.post('leases', body)['lease']['id']}", {"id": body["id"]}).status_code == 400


def test_on_the_command_line(service: ReservationService) -> None:
    shell, lease_id = InsideShell(service), str(uuid.uuid4())
    words = ("lease", "create", "once", "--id", lease_id, "--kind", "best-effort", "--nodes", "count=1,vcpus=1")
    for _ in range(2):
        assert shell.openstack(*words, "--duration", "2h", "-f", "json").document["id"] == lease_id
    assert len(Rest(service).get("leases")["leases"]) == 1
