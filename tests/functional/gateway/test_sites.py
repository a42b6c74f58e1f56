"""The sites of a gateway: what it shows of them, and requests that name one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from lease_scheduler.federation.members import Verb
from lease_scheduler.federation.negotiation.record import Mode
from tests.functional.gateway.test_requests import Front, lease
from tests.functional.gateway.world import HOSTS, NAMES, VCPUS, World
from tests.unit.api.conftest import Client


@pytest.fixture(params=Mode)
def front(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Front]:
    world = World(tmp_path / "world", request.param)
    yield Front(world)
    world.close()


def test_sites_are_listed_with_how_they_answer_and_what_they_have(front: Front) -> None:
    assert [each["state"] for each in front.good("GET", "/v1/sites")["sites"]] == ["unknown"] * len(NAMES)
    made = front.created(site="south")
    front.world.moody["west"].is_away = True
    front.world.pass_time([front.gateway], 60)
    sites = {each["name"]: each for each in front.good("GET", "/v1/sites")["sites"]}
    assert list(sites) == list(NAMES)
    assert {name: each["leases"] for name, each in sites.items()} == {"north": 0, "south": 1, "west": 0}
    assert sites["north"]["state"] == sites["south"]["state"] == "answering"
    assert sites["south"]["last_answer_at"] is not None
    assert sites["south"]["capacity"] is None
    administrator = Client(front.app, "1.51", "admin")
    seen = (administrator.get("/v1/sites/south").json or {})["site"]
    assert seen["capacity"]["VCPU"] == HOSTS * VCPUS
    assert sites["west"]["state"] in ("failing", "paused")
    assert sites["west"]["unreachable_since"] is not None
    assert front.good("GET", "/v1/sites/west")["site"] == sites["west"]
    front.good("POST", f"/v1/leases/{made['id']}/action", {"end": {}})
    assert front.good("GET", "/v1/sites/south")["site"]["leases"] == 0


@pytest.mark.parametrize("name", NAMES)
def test_only_the_site_that_is_named_is_asked(front: Front, name: str) -> None:
    assert front.created(site=name)["site"] == name
    assert front.good("POST", "/v1/quotes", lease(site=name))["quote"]["site"] == name
    for other in NAMES:
        assert bool(front.world.moody[other].calls) is (other == name)


def test_what_the_named_site_refuses_goes_to_no_other(front: Front) -> None:
    front.created(HOSTS, site="north")
    answer = front.send("POST", "/v1/leases", lease(HOSTS, site="north"))
    said = answer.json or {}
    assert (answer.status_code, said["reason_code"]) == (409, "capacity")
    assert {each["change"] for each in said["alternatives"]} == {"at north"}
    refused = front.good("POST", "/v1/quotes", lease(HOSTS, site="north"))["quote"]
    assert (refused["granted"], refused["site"]) == (False, None)
    assert Verb.QUOTE not in front.world.moody["south"].calls
    assert front.good("POST", "/v1/quotes", lease(HOSTS))["quote"]["site"] == "south"


@pytest.mark.parametrize("path", ["/v1/leases", "/v1/quotes"])
def test_an_unknown_site_is_refused_with_the_names_of_all(front: Front, path: str) -> None:
    answer = front.send("POST", path, lease(site="east"))
    said = answer.json or {}
    assert (answer.status_code, said["field"]) == (400, "site")
    assert said["error_message"] == "site: there is no site east; the sites are: north, south, west"


def test_leases_are_filtered_by_site(front: Front) -> None:
    made = {name: front.created(site=name)["id"] for name in NAMES}
    assert [each["id"] for each in front.good("GET", "/v1/leases?site=west")["leases"]] == [made["west"]]
    assert front.good("GET", "/v1/leases?site=east")["leases"] == []
