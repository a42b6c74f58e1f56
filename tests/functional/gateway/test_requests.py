"""The REST interface of a gateway over simulated sites."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from oslo_config import cfg
from oslo_policy import policy
from werkzeug.test import TestResponse

from lease_scheduler.api.app import build_app
from lease_scheduler.api.dates import iso_date
from lease_scheduler.api.routes.gateway import gateway_routes
from lease_scheduler.api.settings import ApiSettings
from lease_scheduler.federation.answers import Bid, Refusal
from lease_scheduler.federation.asks import Ask, OnBehalfOf
from lease_scheduler.federation.members import Verb
from lease_scheduler.federation.negotiation.record import Mode, Stage
from lease_scheduler.service.gateway.projects import Projects, ProjectsMode
from lease_scheduler.service.gateway.requests import GatewayRequests
from lease_scheduler.service.gateway.sites import GatewaySites
from lease_scheduler.simulation.member import SimulatedMember
from tests.functional.gateway.world import BEGIN, HOSTS, HOUR, MAPPED, NAMES, World
from tests.unit.api.conftest import Client, check_answer

Document = dict[str, Any]

_ANYBODY = ApiSettings(auth="noauth")
#: A gateway that knows its peers, and the headers of one of these.
_WITH_PEERS = ApiSettings(auth="keystone", peer_role="peer", site="gateway")
_PEER = {"X-Identity-Status": "Confirmed", "X-Roles": "member,peer", "X-User-Name": "above", "X-Project-Id": "red"}


class Front:
    """A gateway and its REST interface.

    :ivar world: the sites behind it
    """

    def __init__(self, world: World, settings: ApiSettings = _ANYBODY) -> None:
        self.world = world
        self.gateway = gateway = world.gateway()
        requests = GatewayRequests(
            gateway.store, gateway.members, gateway.driver, gateway.router, world.clock, gateway.settings
        )
        conf = cfg.ConfigOpts()
        conf([], default_config_files=[])
        self.app = app = build_app(
            settings,
            requests,
            world.reader,
            world.clock,
            policy.Enforcer(conf),
            routes=gateway_routes(),
            sites=GatewaySites(gateway.members, gateway.store),
        )
        self.member = Client(app, "1.51", "member")

    def send(self, method: str, path: str, body: Document | None = None) -> TestResponse:
        """Send a request, and check that the answer has the form that the description of the interface says."""
        answer = self.member.send(method, path, body)
        check_answer(method, path, answer)
        return answer

    def good(self, method: str, path: str, body: Document | None = None) -> Document:
        """Return the body of an answer that must be no error."""
        answer = self.send(method, path, body)
        assert answer.status_code < 300, answer.text
        found: Document = answer.json or {}
        return found

    def created(self, count: int = 1, **terms: Any) -> Document:
        """Create a lease."""
        found: Document = self.good("POST", "/v1/leases", lease(count, **terms))["lease"]
        return found


def lease(count: int = 1, **terms: Any) -> Document:
    """Return the body of a request for hosts for two hours from tomorrow on."""
    return {
        "name": "mine",
        "start_date": iso_date(BEGIN + 24 * HOUR),
        "end_date": iso_date(BEGIN + 26 * HOUR),
        "nodes": [{"count": count, "resources": {"VCPU": 8}}],
        **terms,
    }


@pytest.fixture(params=Mode)
def front(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Front]:
    world = World(tmp_path / "world", request.param)
    yield Front(world)
    world.close()


def test_a_lease_is_created_at_a_site_and_names_it(front: Front) -> None:
    made = front.created()
    ((site, at_site),) = front.world.living()
    assert (made["site"], made["site_lease_id"], made["unreachable"]) == (site, at_site.lease_id, False)
    assert (made["state"], made["reason"]) == ("scheduled", f"granted by {site}")
    assert made["start_date"] == lease()["start_date"].removesuffix("Z") + ".000000"
    assert front.good("GET", f"/v1/leases/{made['id']}")["lease"]["site"] == site
    assert [each["id"] for each in front.good("GET", "/v1/leases")["leases"]] == [made["id"]]
    assert "site" not in (front.member.at("1.47").get(f"/v1/leases/{made['id']}").json or {})["lease"]
    history = front.good("GET", f"/v1/leases/{made['id']}/history")["history"]
    assert (history[0]["from"], history[0]["user_id"], history[-1]["to"]) == ("new", "eve", "scheduled")


def test_a_request_that_is_sent_again_makes_no_second_lease(front: Front) -> None:
    body = lease(id=str(uuid4()))
    first = front.good("POST", "/v1/leases", body)["lease"]
    again = front.good("POST", "/v1/leases", body)["lease"]
    assert first["id"] == again["id"] == body["id"]
    assert len(front.world.living()) == 1
    other = front.send("POST", "/v1/leases", {**body, "name": "other"})
    assert (other.status_code, (other.json or {})["reason_code"]) == (409, "id-taken")


def test_a_refusal_has_the_reasons_and_alternatives_of_all_sites(front: Front) -> None:
    for _ in NAMES:
        front.created(HOSTS)
    answer = front.send("POST", "/v1/leases", lease(HOSTS))
    said = answer.json or {}
    assert (answer.status_code, said["reason_code"]) == (409, "capacity")
    for name in NAMES:
        assert f"{name}: " in said["error_message"]
    assert said["alternatives"]
    assert {each["change"] for each in said["alternatives"]} <= {f"at {name}" for name in NAMES}
    assert len(front.good("GET", "/v1/leases")["leases"]) == len(NAMES)


def test_a_lease_is_changed_at_its_site(front: Front) -> None:
    made = front.created()
    longer = {"end_date": iso_date(BEGIN + 28 * HOUR), "name": "longer"}
    changed = front.good("PUT", f"/v1/leases/{made['id']}", longer)["lease"]
    assert changed["name"] == "longer"
    assert changed["end_date"] != made["end_date"]
    ((_, at_site),) = front.world.living()
    assert at_site.request.duration == 4 * HOUR
    extended = front.good("POST", f"/v1/leases/{made['id']}/action", {"extend": {"by": "1h"}})["lease"]
    assert extended["site"] == made["site"]
    ((_, at_site),) = front.world.living()
    assert at_site.request.duration == 5 * HOUR


def test_a_change_that_its_site_refuses_changes_nothing(front: Front) -> None:
    made = front.created(HOSTS)
    site = front.world.sites[made["site"]]
    blocked = front.world.ask(7, HOSTS).terms
    site.decide(replace(blocked, start=BEGIN + 26 * HOUR))
    answer = front.send("PUT", f"/v1/leases/{made['id']}", {"end_date": iso_date(BEGIN + 27 * HOUR)})
    said = answer.json or {}
    assert answer.status_code == 409
    assert said["error_message"].startswith(f"{made['site']}: ")
    assert front.good("GET", f"/v1/leases/{made['id']}")["lease"]["end_date"] == made["end_date"]


def test_a_lease_that_is_deleted_is_gone_here_and_there(front: Front) -> None:
    made = front.created()
    assert front.send("DELETE", f"/v1/leases/{made['id']}").status_code == 204
    assert front.world.living() == []
    assert front.good("GET", "/v1/leases")["leases"] == []
    assert front.send("DELETE", f"/v1/leases/{made['id']}").status_code == 404


def test_a_lease_that_is_ended_stays_in_lists(front: Front) -> None:
    made = front.created()
    ended = front.good("POST", f"/v1/leases/{made['id']}/action", {"end": {}})["lease"]
    assert ended["state"] == "cancelled"
    assert front.world.living() == []
    assert len(front.good("GET", "/v1/leases")["leases"]) == 1


def test_a_quote_asks_all_sites_and_says_who_did_not_answer(front: Front) -> None:
    front.world.moody["west"].is_away = True
    quote = front.good("POST", "/v1/quotes", lease())["quote"]
    assert quote["granted"]
    assert quote["site"] in ("north", "south")
    assert quote["unanswered"] == ["west"]
    assert front.world.living() == []
    for name in ("north", "south"):
        assert Verb.QUOTE in front.world.moody[name].calls
    refused = front.good("POST", "/v1/quotes", lease(HOSTS + 1))["quote"]
    assert (refused["granted"], refused["site"], refused["unanswered"]) == (False, None, ["west"])
    assert "west: did not answer" in refused["reason"]


@pytest.mark.parametrize(
    ("more", "field"),
    [
        ({"servers": [{"name": "web", "image_id": "a", "flavor_id": "b"}]}, "servers"),
        ({"on_end": "keep"}, "on_end"),
        ({"before_end_date": iso_date(BEGIN + 25 * HOUR)}, "before_end"),
        ({"nodes": [{"count": 1, "resources": {"VCPU": 1}, "properties": "a == b"}]}, "nodes[0].properties"),
    ],
)
def test_what_cannot_be_passed_on_is_refused_before_anybody_is_asked(front: Front, more: Document, field: str) -> None:
    answer = front.send("POST", "/v1/leases", lease(**more))
    assert answer.status_code == 400, answer.text
    assert (answer.json or {})["field"].startswith(field)
    assert not any(moody.calls for moody in front.world.moody.values())


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("GET", "/v1/os-hosts", None),
        ("POST", "/v1/os-hosts", {"name": "compute-1"}),
        ("GET", "/v1/pools", None),
        ("GET", "/v1/maintenances", None),
        ("GET", "/v1/usage", None),
    ],
)
def test_what_only_sites_have_says_so(front: Front, method: str, path: str, body: Document | None) -> None:
    answer = front.app.test_client().open(path, method=method, json=body, headers=front.member.headers)
    assert answer.status_code == 404
    assert "a gateway does not offer this" in (answer.json or {})["error_message"]


def test_actions_that_only_sites_have_say_so(front: Front) -> None:
    made = front.created()
    answer = front.send("POST", f"/v1/leases/{made['id']}/action", {"accept": {}})
    assert answer.status_code == 400
    assert "a gateway does not offer this (accept lease)" in (answer.json or {})["error_message"]
    held = front.send("POST", "/v1/quotes", lease(hold=True))
    assert held.status_code == 400
    assert "ask the site itself" in (held.json or {})["error_message"]


def test_a_gateway_says_what_it_can_be_asked(front: Front) -> None:
    shown = front.good("GET", "/v1/member")["member"]
    assert sorted(shown["verbs"]) == ["change", "end", "events", "quote", "show", "submit"]
    assert (shown["capacity"], shown["load"]) == (None, None)


def test_sites_are_told_who_passed_a_request_on_and_for_whom(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    front = Front(World(tmp_path / "world"), _WITH_PEERS)
    asked: list[Ask] = []
    quote = SimulatedMember.quote

    def noted(member: SimulatedMember, ask: Ask) -> Bid | Refusal:
        asked.append(ask)
        return quote(member, ask)

    monkeypatch.setattr(SimulatedMember, "quote", noted)
    body = lease(path=["above"], on_behalf_of={"project": "physics", "user": "eve"})
    assert front.member.post("/v1/quotes", body, headers=_PEER).status_code == 200
    assert {(each.path, each.on_behalf_of) for each in asked} == {
        (("above", "gateway"), OnBehalfOf("physics", "eve")),
    }
    assert len(asked) == len(NAMES)
    # Without a word of whom it is for, it is for the project that asks.
    front.member.post("/v1/quotes", lease(), headers=_PEER)
    assert asked[-1].path == ("gateway",)
    assert asked[-1].on_behalf_of == OnBehalfOf("red", "eve")
    front.world.close()


def test_a_request_that_comes_back_is_refused(tmp_path: Path) -> None:
    front = Front(World(tmp_path / "world"), _WITH_PEERS)
    answer = front.member.post("/v1/leases", lease(path=["gateway", "above"]), headers=_PEER)
    assert (answer.status_code, (answer.json or {})["reason_code"]) == (409, "loop")
    assert not front.world.living()
    front.world.close()


@pytest.mark.parametrize("mode", Mode)
def test_a_lease_belongs_to_the_project_of_its_tenant_at_the_site(tmp_path: Path, mode: Mode) -> None:
    front = Front(World(tmp_path / "world", mode, MAPPED))
    made = front.created()
    ((site, at_site),) = front.world.living()
    assert (made["project_id"], made["site_project_id"], at_site.request.user) == (
        "red",
        f"red at {site}",
        f"red at {site}",
    )
    assert "site_project_id" not in (front.member.at("1.49").get(f"/v1/leases/{made['id']}").json or {})["lease"]
    longer = {"end_date": iso_date(BEGIN + 28 * HOUR)}
    front.good("PUT", f"/v1/leases/{made['id']}", longer)
    ((_, at_site),) = front.world.living()
    assert (at_site.request.user, at_site.request.duration) == (f"red at {site}", 4 * HOUR)
    front.world.close()


def test_with_one_keystone_projects_have_the_same_id_everywhere(tmp_path: Path) -> None:
    front = Front(World(tmp_path / "world", projects=Projects(ProjectsMode.OWN)))
    assert front.created()["site_project_id"] == "red"
    other = Client(front.app, "1.50", "member", project="blue").post("/v1/leases", lease())
    assert (other.json or {})["lease"]["site_project_id"] == "blue"
    assert {each.request.user for _, each in front.world.living()} == {"red", "blue"}
    front.world.close()


def test_without_it_leases_are_in_the_project_of_the_gateway(front: Front) -> None:
    assert front.created()["site_project_id"] is None


@pytest.mark.parametrize("mode", Mode)
def test_a_project_that_no_site_maps_is_refused_and_nobody_is_asked(tmp_path: Path, mode: Mode) -> None:
    front = Front(World(tmp_path / "world", mode, MAPPED))
    stranger = Client(front.app, "1.50", "member", project="violet")
    answer = stranger.post("/v1/leases", lease())
    body = answer.json or {}
    assert (answer.status_code, body["reason_code"]) == (409, "project")
    for name in NAMES:
        assert f"{name}: has no project for yours" in body["error_message"]
    quote = (stranger.post("/v1/quotes", lease()).json or {})["quote"]
    assert (quote["granted"], quote["reason_code"], quote["unanswered"]) == (False, "project", [])
    assert not any(moody.calls for moody in front.world.moody.values())
    front.world.close()


@pytest.mark.parametrize("mode", Mode)
def test_only_sites_that_map_a_project_are_asked(tmp_path: Path, mode: Mode) -> None:
    front = Front(World(tmp_path / "world", mode, Projects(ProjectsMode.MAPPED, {"south": {"red": "rosso"}})))
    made = front.created()
    assert (made["site"], made["site_project_id"]) == ("south", "rosso")
    assert (front.good("POST", "/v1/quotes", lease())["quote"])["site"] == "south"
    refused = front.send("POST", "/v1/leases", lease(HOSTS)).json or {}
    assert "north: has no project for yours" in refused["error_message"]
    assert "south: " in refused["error_message"]
    for name in ("north", "west"):
        assert front.world.moody[name].calls == []
    front.world.close()


def test_a_site_that_does_not_lease_to_the_project_is_passed_over(tmp_path: Path) -> None:
    front = Front(World(tmp_path / "world", projects=MAPPED))
    front.world.moody["north"].inner = SimulatedMember("north", front.world.sites["north"], projects=["violet"])
    assert front.created()["site"] == "south"
    ((site, _),) = front.world.living()
    assert site == "south"
    front.world.close()


def test_the_project_is_that_of_the_token_whatever_a_peer_says(tmp_path: Path) -> None:
    """A peer of the gateway is a tenant as any other; it cannot make the gateway lease for a project that it names."""
    front = Front(World(tmp_path / "world", projects=Projects(ProjectsMode.OWN)), _WITH_PEERS)
    body = lease(on_behalf_of={"project": "violet", "user": "eve"})
    assert front.member.post("/v1/leases", body, headers=_PEER).status_code == 201
    assert {each.request.user for _, each in front.world.living()} == {"red"}
    named = lease(on_behalf_of={"project": "violet", "project_id": "violet"})
    for path in ("/v1/leases", "/v1/quotes"):
        answer = front.member.post(path, named, headers=_PEER)
        assert answer.status_code == 400
        assert "a gateway does not offer this (check project)" in (answer.json or {})["error_message"]
    assert {each.request.user for _, each in front.world.living()} == {"red"}
    front.world.close()


def test_a_change_of_the_configuration_does_not_move_a_lease(tmp_path: Path) -> None:
    """What was asked for is written, so that a repeated call asks for the same."""
    world = World(tmp_path / "world", projects=MAPPED)
    ask = world.ask(patience=600)
    world.moody["north"].is_mute = {Verb.SUBMIT, Verb.ACCEPT}
    before = world.gateway()
    assert world.create(before, ask).negotiation.stage is Stage.UNSETTLED
    world.projects = Projects()
    world.moody["north"].is_mute = set()
    after = world.gateway()
    world.pass_time([after], 600)
    record = world.lease(after, ask)
    assert (record.negotiation.stage, record.document.site_project_id) == (Stage.PLACED, "project at north")
    assert [each.request.user for _, each in world.living()] == ["project at north"]
    world.close()
