from __future__ import annotations

import contextlib
import threading
from concurrent.futures import ThreadPoolExecutor

from tests.servers.base import wait_until

from .conftest import Start
from .outside import Answer, Decider, Keystone, Request

_PATIENCE = 20.0


def _group(decider: Decider, *lines: str) -> str:
    return "\n".join(
        [
            "[enforcement]",
            "enabled_filters = ExternalServiceFilter",
            f"external_service_endpoint = {decider.url}/credits/",
            *lines,
            "",
        ]
    )


def test_the_external_service_is_asked_and_told_as_blazar_does_it(start: Start, decider: Decider) -> None:
    client = start(
        _group(
            decider,
            "external_service_token = fixed",
            "external_service_auth_url = https://keystone/v3",
            "external_service_region_name = north",
        )
    )
    made = client.create("physics", count=2)
    assert made.status_code == 201, made.text
    lease = made.json()["lease"]
    (asked,) = decider.asked("/credits/check-create")
    assert decider.requests[0].headers["X-Auth-Token"] == "fixed"
    assert asked["context"] == {
        "user_id": "admin",
        "project_id": "physics",
        "auth_url": "https://keystone/v3",
        "region_name": "north",
    }
    assert asked["lease"]["id"] == lease["id"]
    assert asked["lease"]["start_date"] <= asked["lease"]["end_date"]
    (reservation,) = asked["lease"]["reservations"]
    assert reservation["resource_type"] == "physical:host"
    names = [host["hypervisor_hostname"] for host in reservation["allocations"]]
    assert len(set(names)) == 2
    assert {host["vcpus"] for host in reservation["allocations"]} == {8}

    assert client.ask("PUT", f"leases/{lease['id']}", "physics", json={"name": "other"}).status_code == 200
    assert decider.asked("check-update") == []
    longer = client.ask("PUT", f"leases/{lease['id']}", "physics", json={"duration": 7_200})
    assert longer.status_code == 200, longer.text
    (update,) = decider.asked("/credits/check-update")
    assert set(update) == {"context", "lease", "current_lease"}
    assert set(update["lease"]) == {"end_date"}
    assert update["current_lease"]["end_date"] < update["lease"]["end_date"]
    (reservation,) = update["current_lease"]["reservations"]
    assert [host["hypervisor_hostname"] for host in reservation["allocations"]] == names

    assert client.ask("DELETE", f"leases/{lease['id']}", "physics").status_code == 204
    assert decider.hears("/credits/on-end", lease["id"])
    (end,) = decider.asked("on-end")
    assert end["context"]["project_id"] == "physics"
    assert end["lease"]["state"] == "cancelled"
    assert end["lease"]["ended_at"]
    assert [host["hypervisor_hostname"] for host in end["lease"]["reservations"][0]["allocations"]] == names


def test_a_refusal_is_passed_on_in_the_words_of_the_service(start: Start, decider: Decider) -> None:
    client = start(_group(decider))
    lease_id = client.create().json()["lease"]["id"]
    decider.answer = lambda request: (403, {"message": "no credits left"})
    refused = client.create()
    assert (refused.status_code, refused.json()["error_message"]) == (403, "no credits left")
    refused = client.ask("PUT", f"leases/{lease_id}", json={"duration": 7_200})
    assert (refused.status_code, refused.json()["error_message"]) == (403, "no credits left")
    decider.answer = lambda request: (404, None)
    refused = client.create()
    assert refused.status_code == 403
    assert "404" in refused.json()["error_message"]
    # The refused lease does not exist, so no end of it is reported. The end of the other lease is reported later.
    decider.answer = lambda request: (204, None)
    assert client.ask("DELETE", f"leases/{lease_id}").status_code == 204
    assert decider.hears("on-end", lease_id)
    assert [body["lease"]["id"] for body in decider.asked("on-end")] == [lease_id]


def test_what_was_allowed_and_then_failed_is_told(start: Start, decider: Decider) -> None:
    client = start(_group(decider))
    is_asked, may_answer = threading.Event(), threading.Event()

    def answer(request: Request) -> Answer:
        if request.path.endswith("check-create") and request.body["context"]["project_id"] == "slow":
            is_asked.set()
            may_answer.wait(_PATIENCE)
        return 204, None

    decider.answer = answer
    with ThreadPoolExecutor() as pool:
        slow = pool.submit(client.create, "slow", 4)
        assert is_asked.wait(_PATIENCE)
        # Another project does not have to wait, and takes a host in the meantime.
        assert client.create("quick").status_code == 201
        may_answer.set()
        assert slow.result(_PATIENCE).status_code == 409
    (asked,) = [body for body in decider.asked("check-create") if body["context"]["project_id"] == "slow"]
    assert decider.hears("on-end", asked["lease"]["id"])
    assert len(decider.asked("on-end")) == 1
    assert client.lease_count("slow") == 0


def test_two_leases_do_not_share_the_rest_of_a_limit_while_the_first_is_being_checked(
    start: Start, decider: Decider
) -> None:
    filters = "enabled_filters = QuotaFilter, ExternalServiceFilter\nlimit_leases = 1"
    client = start(_group(decider).replace("enabled_filters = ExternalServiceFilter", filters))
    # Each waits a while for the other, so that both would pass the quota if nothing serialized them.
    together = threading.Barrier(2)

    def answer(request: Request) -> Answer:
        with contextlib.suppress(threading.BrokenBarrierError):
            together.wait(1)
        return 204, None

    decider.answer = answer
    with ThreadPoolExecutor() as pool:
        answers = list(pool.map(lambda _: client.create(), range(2)))
    assert sorted(each.status_code for each in answers) == [201, 403]
    assert client.lease_count() == 1


def test_an_end_is_told_after_an_outage_and_a_crash(start: Start, decider: Decider) -> None:
    client = start(_group(decider))
    lease_id = client.create().json()["lease"]["id"]
    decider.stop()
    assert client.ask("DELETE", f"leases/{lease_id}").status_code == 204
    refused = client.create()
    assert refused.status_code == 503
    assert "external service" in refused.json()["error_message"]
    assert refused.headers["Retry-After"]
    assert client.lease_count() == 0
    client.service.kill()
    decider.start()
    client.service.start()
    assert decider.hears("on-end", lease_id)


def test_a_lease_that_was_asked_about_when_the_engine_died_is_told_to_be_over(start: Start, decider: Decider) -> None:
    client = start(_group(decider))
    made = client.create().json()["lease"]["id"]
    may_answer = threading.Event()

    def answer(request: Request) -> Answer:
        if request.path.endswith("check-create"):
            may_answer.wait(_PATIENCE)
        return 204, None

    decider.answer = answer
    with ThreadPoolExecutor() as pool:
        broken = pool.submit(client.create)
        assert wait_until(lambda: len(decider.asked("check-create")) == 2, _PATIENCE)
        client.service.kill()
        may_answer.set()
        assert broken.exception(_PATIENCE) is not None
    client.service.start()
    lost = decider.asked("check-create")[1]["lease"]["id"]
    assert decider.hears("on-end", lost)
    assert client.lease_count() == 1
    assert decider.asked("on-end", made) == []


def test_what_ends_by_itself_is_told_once_and_an_answer_that_says_no_is_not_the_last_word(
    start: Start, decider: Decider
) -> None:
    statuses = iter([500, 400])
    decider.answer = lambda request: (next(statuses, 204), None) if request.path.endswith("on-end") else (204, None)
    client = start(_group(decider) + "[simulated_cloud]\nclock_speed = 1800\n")
    lease_id = client.create(duration=1_800).json()["lease"]["id"]
    assert wait_until(lambda: len(decider.asked("on-end", lease_id)) == 3, _PATIENCE)
    assert decider.asked("on-end")[-1]["lease"]["state"] == "done"
    other = client.create(duration=1_800).json()["lease"]["id"]
    assert decider.hears("on-end", other)
    assert len(decider.asked("on-end", lease_id)) == 3


def test_an_operator_may_let_everything_through_while_the_service_is_away(start: Start, decider: Decider) -> None:
    client = start(_group(decider, "external_service_unreachable = allow"))
    decider.answer = lambda request: (503, None)
    assert client.create().status_code == 201
    decider.stop()
    made = client.create()
    assert made.status_code == 201
    decider.answer = lambda request: (403, {"message": "no"})
    decider.start()
    longer = client.ask("PUT", f"leases/{made.json()['lease']['id']}", json={"duration": 7_200})
    assert longer.status_code == 403


def test_a_service_that_does_not_answer_in_time_is_away(start: Start, decider: Decider) -> None:
    client = start(_group(decider, "external_service_timeout = 0.3"))
    may_answer = threading.Event()
    decider.answer = lambda request: (204 if may_answer.wait(_PATIENCE) else 500, None)
    assert client.create().status_code == 503
    may_answer.set()
    # It may have counted the lease, so it is told that the lease was not created.
    assert decider.hears("on-end", decider.asked("check-create")[0]["lease"]["id"])


def test_the_token_comes_from_keystone(start: Start, decider: Decider, keystone: Keystone) -> None:
    client = start(_group(decider) + keystone.credentials())
    assert client.create().status_code == 201
    assert decider.requests[0].headers["X-Auth-Token"] == "token-of-the-service"
    passwords = [request for request in keystone.requests if request.path == "/v3/auth/tokens"]
    assert passwords[0].body["auth"]["identity"]["password"]["user"]["name"] == "scheduler"
