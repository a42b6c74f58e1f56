"""Availability, quotes, maintenances, series, usage, calendar and feed."""

from __future__ import annotations

from datetime import timedelta, timezone
from typing import Any

import pytest
from flask import Flask
from icalendar import Calendar

from lease_scheduler.api.interfaces import EngineUnavailableError, RefusedError
from lease_scheduler.api.settings import ApiSettings
from lease_scheduler.model.documents import Document
from lease_scheduler.model.lease import UNLIMITED
from tests.unit.api.conftest import Build, Client
from tests.unit.api.fakes import HOUR, NOW, Site, Trusts
from tests.unit.api.handlers.test_leases import DATES, HOSTS, made, refused

DAY = 24 * HOUR


@pytest.fixture
def latest(member: Client) -> Client:
    return member.at("latest")


class TestAvailability:
    def test_the_engine_gets_the_defaults(self, latest: Client, site: Site) -> None:
        answer = latest.get("/v1/availability?vcpus=2")
        assert site.calls[-1][2] == {
            "nodes": {
                "count": 1,
                "resources": {"VCPU": 2},
                "traits": [],
                "properties": "",
                "exclusive": False,
                "per_host": None,
            },
            "start": NOW,
            "end": NOW + 7 * DAY,
            "duration": HOUR,
            "count": 1,
        }
        window = {"start": "2030-01-31T12:00:30Z", "end": "2030-02-07T12:00:30Z", "count": 1}
        free = {**window, "start": "2030-01-31T12:01:30Z"}
        assert answer.json == {
            "availability": {
                "windows": [{**window, "preempted_kinds": {"best-effort": 3}}],
                "earliest": "2030-01-31T12:00:30Z",
                "free": {"windows": [free], "earliest": "2030-01-31T12:01:30Z"},
            }
        }
        # Older clients are still told what a reservation would be granted.
        assert latest.at("1.16").get("/v1/availability?vcpus=2").json == {
            "availability": {"windows": [window], "earliest": "2030-01-31T12:00:30Z"}
        }

    def test_groups_are_parsed(self, latest: Client, site: Site) -> None:
        latest.get("/v1/availability?vcpus=1&groups=VGPU:1@CUSTOM_A/CUSTOM_B,NET_OUT:5/NET_IN:6")
        assert site.calls[-1][2]["nodes"]["groups"] == [
            {"resources": {"VGPU": 1}, "traits": ["CUSTOM_A", "CUSTOM_B"]},
            {"resources": {"NET_OUT": 5, "NET_IN": 6}, "traits": []},
        ]
        for wrong in ("VGPU", "VGPU:0", "VGPU:1@", "@CUSTOM_A", "VGPU:1@a"):
            answer = latest.get(f"/v1/availability?vcpus=1&groups={wrong}")
            assert (answer.status_code, (answer.json or {})["field"]) == (400, "groups")
        assert latest.at("1.23").get("/v1/availability?vcpus=1&groups=VGPU:1").status_code == 400

    def test_the_engine_gets_all_parameters(self, latest: Client, site: Site) -> None:
        query = (
            "start=2030-02-01T00:00:00Z&end=2030-02-02 00:00&duration=2h&count=3&memory_mb=10&disk_gb=5&per_host=1"
            '&resources=PCPU:2,CUSTOM_GPU:1&traits=B, A&properties=["in","$a",["1"]]&exclusive=true'
        )
        assert latest.get(f"/v1/availability?{query}").status_code == 200
        asked = site.calls[-1][2]
        assert (asked["start"], asked["end"], asked["duration"], asked["count"]) == (
            1_896_134_400,
            1_896_220_800,
            2 * HOUR,
            3,
        )
        assert asked["nodes"] == {
            "count": 3,
            "resources": {"PCPU": 2, "CUSTOM_GPU": 1, "MEMORY_MB": 10, "DISK_GB": 5},
            "traits": ["A", "B"],
            "properties": '["in","$a",["1"]]',
            "exclusive": True,
            "per_host": 1,
        }

    @pytest.mark.parametrize(
        ("query", "field"),
        [
            ("", "vcpus"),
            ("vcpus=0", "vcpus"),
            ("vcpus=1&start=soon", "start"),
            ("vcpus=1&end=2030-01-01 00:00", "end"),
            ("vcpus=1&duration=long", "duration"),
            ("resources=PCPU", "resources"),
            ("resources=PCPU:0", "resources"),
            ("resources=PCPU:99999999999", "resources"),
            ("vcpus=1&traits=a-b", "traits"),
            ("vcpus=1&properties=gpu", "properties"),
            ("vcpus=1&count=0", "count"),
        ],
    )
    def test_wrong_parameters_are_named(self, latest: Client, site: Site, query: str, field: str) -> None:
        answer = latest.get(f"/v1/availability?{query}")
        assert (answer.status_code, (answer.json or {})["field"]) == (400, field)
        assert site.calls == []


class TestQuotes:
    @pytest.mark.parametrize(("privacy", "members"), [(True, None), (False, ["1", "2"])])
    def test_hosts_are_for_those_who_see_the_site(
        self, build: Build, site: Site, privacy: bool, members: list[str] | None
    ) -> None:
        """With privacy, a project does not learn by quotes which hosts are free."""
        site.quote = {"granted": True, "reason": "", "start": NOW, "end": NOW + HOUR, "hosts": [1, 2], "preempts": []}
        app = build(ApiSettings(auth="noauth", privacy=privacy))
        for role, shown in (("member", members), ("admin", ["1", "2"])):
            answer = Client(app, roles=role).at("latest").post("/v1/quotes", {"name": "a", **DATES})
            assert (answer.json or {})["quote"].get("hosts") == shown

    def test_a_granted_quote_hides_leases_of_others(self, latest: Client, app: Flask, site: Site) -> None:
        mine = made(latest, HOSTS)
        other = made(Client(app, roles="member", project="blue"), HOSTS)
        site.quote = {
            "granted": True,
            "reason": "",
            "start": NOW,
            "end": NOW + HOUR,
            "hosts": [1, 2],
            "preempts": [mine["id"], other["id"]],
            "preempted_kinds": {"best-effort": 2},
            "alternatives": [],
            "queue_position": None,
            "price": 2.5,
            "pool": "gpu",
            "promise": None,
            "preempted_at": NOW + HOUR // 2,
            "latest_end": None,
            "budget": None,
        }
        assert latest.post("/v1/quotes", {"name": "a", **DATES}).json == {
            "quote": {
                "preempted_at": "2030-01-31T12:30:30Z",
                "latest_end": None,
                "granted": True,
                "reason": "",
                "start": "2030-01-31T12:00:30Z",
                "end": "2030-01-31T13:00:30Z",
                # Leases of other projects are counted, not named.
                "preempts": [mine["id"]],
                "preempted": 2,
                "preempted_kinds": {"best-effort": 2},
                "alternatives": [],
                "queue_position": None,
                "price": 2.5,
                "lease_id": None,
                "expires_at": None,
                "negotiation_id": None,
                "counter_offers": [],
                "nodes": [],
                "pool": "gpu",
                "promise": None,
                "budget": None,
                "approval": None,
                "reason_code": None,
                "site": None,
                "unanswered": [],
            }
        }
        assert len(site.views) == 2

    def test_a_refused_quote_has_a_reason_and_alternatives(self, latest: Client, site: Site) -> None:
        site.refusal = RefusedError(409, "Not enough hosts available", None, [{"start": NOW, "end": None, "count": 1}])
        quote = (latest.post("/v1/quotes", {"name": "a", **DATES}).json or {})["quote"]
        assert (quote["granted"], quote["reason"]) == (False, "Not enough hosts available")
        assert quote["alternatives"] == [
            {"start": "2030-01-31T12:00:30Z", "end": None, "count": 1, "preempted_kinds": {}}
        ]

    def test_older_clients_are_told_the_nearest_alternative_of_each_change(self, latest: Client, site: Site) -> None:
        """These clients could not tell which alternatives need preemption; for a reservation they all may."""
        more = {"change": "nodes", "start": NOW, "end": None, "count": 35, "preempted": {"best-effort": 20}}
        fewer = {**more, "count": 15, "preempted": {}}
        site.refusal = RefusedError(409, "Not enough hosts available", None, [more, fewer])
        body = {"name": "a", **DATES}
        shown = (latest.post("/v1/quotes", body).json or {})["quote"]["alternatives"]
        assert [(each["count"], each["preempted_kinds"]) for each in shown] == [(35, {"best-effort": 20}), (15, {})]
        for path in ("/v1/quotes", "/v1/leases"):
            site.refusal = RefusedError(409, "Not enough hosts available", None, [more, fewer])
            answer = latest.at("1.16").post(path, body)
            document = answer.json or {}
            (only,) = document.get("quote", document)["alternatives"]
            assert only == {"change": "nodes", "start": "2030-01-31T12:00:30Z", "end": None, "count": 35}

    def test_a_held_quote_is_a_lease_with_price_and_expiry(self, latest: Client, site: Site, trusts: Trusts) -> None:
        """A lease that waits for its project's answer is shown with its price and how long it is held."""
        servers = [{"name": "web", "image_id": "i"}]
        body = {"name": "a", **DATES, "max_price": 3, "servers": servers, "hold": True}
        quote = (latest.post("/v1/quotes", body).json or {})["quote"]
        assert (quote["price"], quote["expires_at"]) == (2.5, "2030-01-31T12:05:30Z")
        name, _, asked = site.calls[-1]
        assert (name, asked["max_price"], asked["trust_id"]) == ("offer_lease", 3, trusts.given[0])
        path = f"/v1/leases/{quote['lease_id']}"
        lease = (latest.get(path).json or {})["lease"]
        shown = {key: lease[key] for key in ("state", "price", "max_price", "expires_at")}
        assert shown == {"state": "ready", "price": 2.5, "max_price": 3, "expires_at": "2030-01-31T12:05:30Z"}
        assert not {"price", "max_price", "expires_at"} & set((latest.at("1.11").get(path).json or {})["lease"])
        accepted = (latest.post(f"{path}/action", {"accept": {}}).json or {})["lease"]
        assert accepted["expires_at"] is None
        assert (latest.post(f"{path}/action", {"reject": {}}).json or {})["lease"]["state"] == "rejected-by-user"
        assert [call[0] for call in site.calls[-2:]] == ["accept_lease", "reject_lease"]

    def test_accepting_a_replacement_offer_creates_another_trust(
        self, app: Flask, latest: Client, site: Site, trusts: Trusts
    ) -> None:
        """haizea F95: the lost lease's trust has ended, so accepting creates another one; a refusal leaves none."""
        body = {"name": "a", **DATES, "servers": [{"name": "web", "image_id": "i"}], "hold": True}
        held = (latest.post("/v1/quotes", body).json or {})["quote"]["lease_id"]
        path = f"/v1/leases/{held}"
        site.views[held]["trust_id"] = None
        trusts.given.clear()
        refusal = refused(Client(app, "latest", project="blue").post(f"{path}/action", {"accept": {}}))
        assert (refusal[0], "a token of the lease's project" in refusal[1]) == (403, True)
        site.refusal = RefusedError(409, "it is not an open quote")
        assert latest.post(f"{path}/action", {"accept": {}}).status_code == 409
        assert trusts.given == []
        assert latest.post(f"{path}/action", {"accept": {}}).status_code == 200
        assert site.calls[-1][0] == "accept_lease"
        assert [site.views[held]["trust_id"]] == trusts.given

    def test_before_1_45_only_reservations_and_deadline_leases_can_be_held(
        self, latest: Client, site: Site, trusts: Trusts
    ) -> None:
        nodes = {"name": "a", "nodes": [{"count": 1, "resources": {"VCPU": 1}}], "duration": "1h"}
        for kind in ("best-effort", "immediate"):
            answer = latest.at("1.44").post("/v1/quotes", {**nodes, "kind": kind, "hold": True})
            assert (answer.status_code, (answer.json or {})["field"]) == (400, "hold")
            assert kind in refused(answer)[1]
        assert site.calls == []
        servers = [{"name": "web", "image_id": "i"}]
        site.refusal = RefusedError(409, "its price is 4, and max_price is 3", "max_price")
        quote = (latest.post("/v1/quotes", {"name": "a", **DATES, "servers": servers, "hold": True}).json or {})[
            "quote"
        ]
        assert (quote["granted"], quote["reason"], quote["lease_id"]) == (
            False,
            "its price is 4, and max_price is 3",
            None,
        )
        assert trusts.given == []

    def test_each_counter_offer_has_its_own_trust(self, latest: Client, site: Site, trusts: Trusts) -> None:
        """haizea F8: counter-offers, each with a trust of its own; the engine gets instants and seconds."""
        offer: dict[str, Any] = {"lease_id": "o", "change": "nodes", "count": 1, "duration": HOUR, "price": 1.0}
        offer["expires_at"] = NOW + 300
        counter = {**offer, "start": NOW + HOUR, "end": NOW + 2 * HOUR, "hosts": []}
        site.quote = {**site.quote, "granted": False, "negotiation_id": "n", "counter_offers": [counter]}
        flexibility = {"latest_start": "2030-02-01T00:00:00Z", "fewest_nodes": 1, "shortest_duration": "30m"}
        body = {"name": "a", **DATES, "hold": True, "counter_offers": 2, "flexibility": flexibility}
        servers = [{"name": "web", "image_id": "i"}]
        quote = (latest.post("/v1/quotes", {**body, "servers": servers}).json or {})["quote"]
        assert quote["negotiation_id"] == "n"
        assert quote["counter_offers"] == [
            {
                **offer,
                "expires_at": "2030-01-31T12:05:30Z",
                "start": "2030-01-31T13:00:30Z",
                "end": "2030-01-31T14:00:30Z",
            }
        ]
        asked = site.calls[-1][2]
        assert asked["counter_offers"] == 2
        assert asked["flexibility"] == {"latest_start": 1_896_134_400, "fewest_nodes": 1, "shortest_duration": 1_800}
        assert asked["trust_id"] not in trusts.given
        assert trusts.given == asked["counter_trusts"][:1]

    def test_trusts_are_taken_back_where_nothing_is_offered(self, latest: Client, site: Site, trusts: Trusts) -> None:
        servers = [{"name": "web", "image_id": "i"}]
        body = {"name": "a", **DATES, "hold": True, "counter_offers": 3, "servers": servers}
        site.refusal = RefusedError(409, "no place")
        assert (latest.post("/v1/quotes", body).json or {})["quote"]["granted"] is False
        assert trusts.given == []
        site.refusal = EngineUnavailableError("no answer")
        assert latest.post("/v1/quotes", body).status_code == 503
        # Offers may exist, so it is decided later.
        assert len(trusts.given) == 4
        assert trusts.doubtful == trusts.given
        trusts.given.clear()
        assert latest.post("/v1/quotes", body).status_code == 200
        assert trusts.given == [site.calls[-1][2]["trust_id"]]

    @pytest.mark.parametrize(
        ("said", "field"),
        [
            ({"counter_offers": 2}, "counter_offers"),
            ({"flexibility": {}}, "flexibility"),
            ({"counter_offers": 17, "hold": True}, "counter_offers"),
            ({"counter_offers": True, "hold": True}, "counter_offers"),
            ({"flexibility": {"fewest_nodes": 0}, "hold": True}, "flexibility.fewest_nodes"),
            ({"flexibility": {"latest_start": "soon"}, "hold": True}, "flexibility.latest_start"),
            ({"flexibility": {"colour": "red"}, "hold": True}, "flexibility.colour"),
        ],
    )
    def test_wrong_parameters_of_counter_offers_are_named(
        self, latest: Client, site: Site, said: dict[str, Any], field: str
    ) -> None:
        answer = latest.post("/v1/quotes", {"name": "a", **DATES, **said})
        assert (answer.status_code, (answer.json or {})["field"]) == (400, field)
        assert site.calls == []
        assert latest.at("1.13").post("/v1/quotes", {"name": "a", **DATES, **said}).status_code == 400

    def test_a_counter_and_a_quote_of_a_change_reach_the_engine(self, latest: Client, site: Site) -> None:
        lease_id = made(latest, HOSTS)["id"]
        path = f"/v1/leases/{lease_id}"
        assert latest.post(f"{path}/action", {"counter": {"max_price": 4}}).status_code == 200
        assert (site.calls[-1][0], site.calls[-1][2:]) == ("counter_offer", (lease_id, {"max_price": 4}))
        for body in ({"extend": {"by": "1h", "max_price": 4}}, {"shrink": {"by": "1m"}}, {"change": {"max_price": 4}}):
            quote = (latest.post(f"{path}/quote", body).json or {})["quote"]
            assert (quote["granted"], quote["price"], quote["present_price"]) == (True, 3.5, 2.5)
            assert site.calls[-1][0] == "quote_change"
        assert latest.post(f"{path}/action", {"extend": {"by": "1h", "max_price": 4}}).status_code == 200
        assert (site.calls[-1][0], site.calls[-1][3]["max_price"]) == ("update_lease", 4)
        wrongs: list[dict[str, Any]] = [
            {"extend": {"max_price": 4}},
            {"extend": {"by": "1h", "duration": "2h"}},
            {"counter": {}},
        ]
        for each in wrongs:
            assert latest.post(f"{path}/action", each).status_code == 400
        before = latest.at("1.13")
        assert before.post(f"{path}/quote", {"extend": {"by": "1h"}}).status_code == 404
        assert before.post(f"{path}/action", {"counter": {"max_price": 4}}).status_code == 400
        assert before.post(f"{path}/action", {"extend": {"by": "1h", "max_price": 4}}).status_code == 400

    def test_holding_a_quote_needs_the_permission_to_create_leases(self, app: Flask, site: Site) -> None:
        reader = Client(app, "latest", "reader")
        assert reader.post("/v1/quotes", {"name": "a", **DATES, "hold": True}).status_code == 403
        assert site.calls == []

    def test_prices_are_not_known_before_their_microversion(self, latest: Client, site: Site) -> None:
        before = latest.at("1.11")
        for path, key in (("leases", "max_price"), ("quotes", "max_price"), ("quotes", "hold")):
            answer = before.post(f"/v1/{path}", {"name": "a", **DATES, key: 1})
            assert (answer.status_code, (answer.json or {})["field"]) == (400, key)
        lease_id = made(latest, HOSTS)["id"]
        assert before.post(f"/v1/leases/{lease_id}/action", {"accept": {}}).status_code == 400
        assert not {"price", "lease_id"} & set((before.post("/v1/quotes", {"name": "a", **DATES}).json or {})["quote"])

    @pytest.mark.parametrize("price", [-1, "3", None, 1e16])
    def test_a_max_price_must_be_a_number(self, latest: Client, price: object) -> None:
        answer = latest.post("/v1/leases", {"name": "a", **DATES, "max_price": price})
        assert (answer.status_code, (answer.json or {})["field"]) == (400, "max_price")

    def test_a_request_that_is_wrong_is_no_quote(self, latest: Client, site: Site) -> None:
        assert latest.post("/v1/quotes", {"name": "a"}).status_code == 400
        site.refusal = RefusedError(400, "no such flavor", "reservations[0].flavor_id")
        assert latest.post("/v1/quotes", {"name": "a", **DATES}).status_code == 400


def test_a_maintenance_is_a_reservation_of_the_named_hosts(admin: Client, site: Site) -> None:
    client = admin.at("latest")
    site.add_host("host-1")
    site.add_host("host-2")
    answer = client.post("/v1/maintenances", {"name": "disks", **DATES, "hosts": ["host-2", "1", "2"]})
    assert answer.status_code == 201
    document = site.calls[-1][2]
    assert (document["maintenance"], document["kind"]) == (True, "reservation")
    (reservation,) = document["reservations"]
    assert reservation["hosts"] == ["host-2", "host-1"]
    assert [node_set["hosts"] for node_set in reservation["nodes"]] == [["host-2"], ["host-1"]]
    made_lease = (answer.json or {})["maintenance"]
    assert made_lease["maintenance"] is True
    assert made_lease["reservations"][0]["hosts"] == ["host-2", "host-1"]
    assert client.get("/v1/maintenances").json == {"maintenances": [made_lease]}
    answer = client.post("/v1/maintenances", {"name": "disks", **DATES, "hosts": ["host-1", "host-9"]})
    assert (answer.json or {})["field"] == "hosts[1]"
    answer = client.post("/v1/maintenances", {"name": "disks", "start_date": "now", "hosts": ["host-1"]})
    assert refused(answer) == (400, "Missing parameter end_date")


WEEKLY = {"name": "weekly", **DATES, "before_end_date": "2030-02-01 23:00"}


class TestSeries:
    def test_a_series_is_created_listed_and_deleted(self, latest: Client, app: Flask, site: Site) -> None:
        answer = latest.post("/v1/series", {"rule": "FREQ=WEEKLY;COUNT=3", "lease": WEEKLY})
        assert answer.status_code == 201
        series = (answer.json or {})["series"]
        assert (series["name"], series["project_id"], series["refused"]) == ("weekly", "red", [])
        asked = site.calls[-1][2]
        week = 7 * DAY
        assert asked["starts"] == [1_896_134_400, 1_896_134_400 + week, 1_896_134_400 + 2 * week]
        assert (asked["lease"]["start"], asked["lease"]["series_id"]) == (1_896_134_400, series["id"])
        found = (latest.get(f"/v1/leases?series_id={series['id']}").json or {})["leases"]
        assert [lease["id"] for lease in found] == series["leases"]
        shown = (latest.get(f"/v1/series/{series['id']}").json or {})["series"]
        assert (shown["leases"], shown["rule"]) == (series["leases"], "FREQ=WEEKLY;COUNT=3")
        assert "time_zone" not in (latest.at("1.35").get(f"/v1/series/{series['id']}").json or {})["series"]
        assert len((latest.get("/v1/series").json or {})["series"]) == 1
        assert (Client(app, "latest", "member", "blue").get("/v1/series").json or {})["series"] == []
        assert len((Client(app, "latest", "admin", "blue").get("/v1/series").json or {})["series"]) == 1
        assert latest.delete(f"/v1/series/{series['id']}").status_code == 204
        assert latest.get(f"/v1/series/{series['id']}").status_code == 404

    def test_each_lease_has_a_trust_of_its_own(
        self, latest: Client, site: Site, trusts: Trusts, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """A trust ends with its lease; trusts without a lease are deleted."""
        ada: dict[str, Any] = {"environ_overrides": {"keystone.token_auth": "ada"}}
        body = {"rule": "FREQ=WEEKLY;COUNT=3", "lease": {**WEEKLY, "servers": [{"name": "web", "image_id": "i"}]}}
        assert latest.post("/v1/series", body, **ada).status_code == 201
        asked = site.calls[-1][2]
        assert asked["trusts"] == trusts.given == [f"trust-{number}-of-ada" for number in range(3)]
        trusts.given.clear()
        second = asked["starts"][1]
        create = site.create_series

        def refuse_one(context: Document, series: Document) -> Document:
            return {**create(context, series), "refused": [{"start": second, "message": "full"}]}

        monkeypatch.setattr(site, "create_series", refuse_one)
        assert latest.post("/v1/series", body, **ada).status_code == 201
        assert trusts.given == ["trust-0-of-ada", "trust-2-of-ada"]
        trusts.given.clear()
        monkeypatch.undo()
        site.refusal = RefusedError(409, "full")
        assert latest.post("/v1/series", body, **ada).status_code == 409
        assert trusts.given == []

    def test_a_series_follows_the_clocks_of_its_time_zone(self, latest: Client, site: Site) -> None:
        """Clocks in Berlin are set forward on 2030-03-31."""
        class_at_eight = {"name": "class", "start_date": "2030-03-30T08:00:00+01:00", "duration": "1h"}
        body = {"rule": "FREQ=DAILY;COUNT=2", "time_zone": "Europe/Berlin", "lease": class_at_eight}
        series = (latest.post("/v1/series", body).json or {})["series"]
        assert series["time_zone"] == "Europe/Berlin"
        first, second = site.calls[-1][2]["starts"]
        assert second - first == 23 * HOUR
        assert refused(latest.at("1.35").post("/v1/series", body)) == (
            400,
            "time_zone: needs the header OpenStack-API-Version: reservation 1.36",
        )
        answer = latest.post("/v1/series", {**body, "time_zone": "Mars/Olympus"})
        assert (answer.status_code, (answer.json or {})["field"]) == (400, "time_zone")

    def test_the_first_lease_may_be_later_than_the_dates(self, latest: Client, site: Site) -> None:
        """2030-02-01 is a Friday."""
        latest.post("/v1/series", {"name": "s", "rule": "FREQ=WEEKLY;BYDAY=MO;COUNT=2", "lease": WEEKLY})
        lease = site.calls[-1][2]["lease"]
        assert (lease["start"], lease["end"]) == (1_896_134_400 + 3 * DAY, 1_896_220_800 + 3 * DAY)
        assert lease["before_end"] == lease["end"] - HOUR

    @pytest.mark.parametrize(
        ("sent", "field", "message"),
        [
            ({"rule": "FREQ=WEEKLY"}, "rule", "must have an end"),
            ({"rule": "FREQ=HOURLY;COUNT=3"}, "rule", "would begin before the one before it has ended"),
            ({"rule": "FREQ=DAILY;COUNT=99"}, "rule", "must describe at most 10 leases"),
            ({"rule": "FREQ=YEARLY;COUNT=9"}, "rule", "only 1 of 9 leases lie within 60 days"),
            ({"lease": {"name": "a"}}, "lease.start_date", "Missing parameter start_date, end_date"),
            ({"lease": {"name": 3, **DATES}}, "lease.name", "lease.name: must be a text, not 3"),
            (
                {"lease": {"name": "a", "kind": "best-effort", "nodes": [{"count": 1, "resources": {"VCPU": 1}}]}},
                "lease.kind",
                "only leases of kind reservation can repeat",
            ),
            ({"color": 1}, "color", "is not a known key"),
        ],
    )
    def test_wrong_series_are_refused(
        self, build: Build, site: Site, sent: dict[str, Any], field: str, message: str
    ) -> None:
        settings = ApiSettings(auth="noauth", maximum_occurrences=10, series_days=60)
        client = Client(build(settings), "latest", "member")
        answer = client.post("/v1/series", {"rule": "FREQ=WEEKLY;COUNT=2", "lease": WEEKLY, **sent})
        assert refused(answer)[0] == 400
        assert message in refused(answer)[1]
        assert (answer.json or {})["field"] == field
        assert site.calls == []


_NOTHING_EARNED = {"earned": 0.0, "missed": {"undercharged": 0.0, "rejected": 0.0, "rejected_by_user": 0.0}}


class TestUsage:
    @pytest.fixture(autouse=True)
    def rows(self, site: Site) -> None:
        site.usage_rows = [
            {
                "project_id": project,
                "kind": kind,
                "phase": "run",
                "start": NOW - 30 * DAY,
                "node_seconds": seconds,
                "resource_seconds": {"VCPU": 2 * seconds},
            }
            for project, kind, seconds in (("red", "reservation", 7_200), ("red", "best-effort", 60), ("blue", "x", 1))
        ]
        missed = {"undercharged": 1.0, "rejected": 2.0, "rejected_by_user": 0.1}
        site.revenue_rows = [{"project_id": "red", "start": NOW - 30 * DAY, "earned": 7.5, **missed}]
        site.penalty_rows = [
            {"project_id": "red", "kind": "fewer-nodes", "count": 1, "node_seconds": 1_800, "penalty": 0.25},
            {"project_id": "red", "kind": "late-start", "count": 2, "node_seconds": 3_600, "penalty": 1.5},
        ]

    def test_a_project_sees_its_own_usage(self, member: Client) -> None:
        assert member.at("1.12").get("/v1/usage?start=2030-01-01 00:00&end=2030-01-31 00:00").json == {
            "start": "2030-01-01T00:00:00Z",
            "end": "2030-01-31T00:00:00Z",
            "usage": [
                {
                    "project_id": "red",
                    "node_hours": 2.0167,
                    "resource_hours": {"VCPU": 4.0333},
                    "kinds": {
                        "best-effort": {"node_hours": 0.0167, "resource_hours": {"VCPU": 0.0333}},
                        "reservation": {"node_hours": 2.0, "resource_hours": {"VCPU": 4.0}},
                    },
                    "revenue": {
                        "earned": 7.5,
                        "missed": {"undercharged": 1.0, "rejected": 2.0, "rejected_by_user": 0.1},
                    },
                }
            ],
        }

    def test_usage_has_breaches_and_net_revenue(self, latest: Client) -> None:
        (project,) = (latest.get("/v1/usage?start=2030-01-01 00:00&end=2030-01-31 00:00").json or {})["usage"]
        assert project["revenue"] == {
            "earned": 7.5,
            "missed": {"undercharged": 1.0, "rejected": 2.0, "rejected_by_user": 0.1},
            "penalties": 1.75,
            "net": 5.75,
        }
        assert project["breaches"] == {
            "fewer-nodes": {"count": 1, "node_hours": 0.5, "penalty": 0.25},
            "late-start": {"count": 2, "node_hours": 1.0, "penalty": 1.5},
        }

    def test_penalties_are_hidden_before_their_microversion(self, latest: Client, site: Site) -> None:
        (project,) = (latest.at("1.13").get("/v1/usage").json or {})["usage"]
        assert set(project["revenue"]) == {"earned", "missed"}
        assert "breaches" not in project
        assert not [call for call in site.calls if call[0] == "penalties"]

    def test_what_was_earned_in_this_second_counts(self, latest: Client, site: Site) -> None:
        assert latest.get("/v1/usage").status_code == 200
        assert site.calls[-2:] == [(what, "red", NOW - 30 * DAY, NOW + 1) for what in ("revenue", "penalties")]
        assert latest.get("/v1/usage?start=2030-01-01 00:00&end=2030-01-31 00:00").status_code == 200
        assert site.calls[-1] == ("penalties", "red", 1_893_456_000, 1_896_048_000)

    def test_administrators_see_the_usage_of_others(self, app: Flask, latest: Client) -> None:
        administrator = Client(app, "latest", "admin", "green")
        found = administrator.get("/v1/usage?all_projects=true").json or {}
        assert [each["project_id"] for each in found["usage"]] == ["blue", "red"]
        assert (administrator.get("/v1/usage").json or {})["usage"] == [
            {
                "project_id": "green",
                "node_hours": 0.0,
                "resource_hours": {},
                "kinds": {},
                "revenue": {**_NOTHING_EARNED, "penalties": 0.0, "net": 0.0},
                "breaches": {},
            }
        ]
        assert "revenue" not in (administrator.at("1.11").get("/v1/usage").json or {})["usage"][0]
        assert latest.get("/v1/usage?project_id=blue").status_code == 403
        assert latest.get("/v1/usage?all_projects=1").status_code == 403

    @pytest.mark.parametrize(
        ("query", "field"),
        [
            ("start=2030-02-01 00:00&end=2030-01-01 00:00", "end"),
            ("start=1960-01-01 00:00&end=1961-01-01 00:00", "end"),
            ("interval=week", "interval"),
            ("interval=0", "interval"),
            ("interval=60", "interval"),
        ],
    )
    def test_wrong_periods_are_refused(self, latest: Client, query: str, field: str) -> None:
        answer = latest.get(f"/v1/usage?{query}")
        assert (answer.status_code, (answer.json or {})["field"]) == (400, field)

    def test_usage_has_mean_waits_by_kind(self, latest: Client, site: Site) -> None:
        row = {"project_id": "red", "done": 3, "mean_wait": 1.23456, "mean_bounded_slowdown": 2.0}
        site.delay_rows = [
            {**row, "kind": "best-effort"},
            {**row, "kind": "deadline"},
            {**row, "kind": "reservation", "mean_wait": None, "mean_bounded_slowdown": None},
        ]
        (project,) = (latest.get("/v1/usage").json or {})["usage"]
        kinds = project["kinds"]
        assert (kinds["best-effort"]["done"], kinds["best-effort"]["mean_wait"]) == (3, 1.2346)
        assert kinds["reservation"]["mean_bounded_slowdown"] is None
        assert (kinds["deadline"]["node_hours"], kinds["deadline"]["done"]) == (0.0, 3)
        assert "history" not in project

    def test_usage_is_divided_into_steps(self, app: Flask, latest: Client, site: Site) -> None:
        start = 1_893_456_000
        for row, beginning in zip(site.usage_rows, (start + HOUR, start + DAY, start + DAY), strict=True):
            row["start"] = beginning
        # Earned in the very last second.
        site.revenue_rows[0]["start"] = start + 2 * DAY
        times = "start=2030-01-01 01:00&end=2030-01-03 00:00"
        body = latest.get(f"/v1/usage?{times}&interval=day").json or {}
        assert [call for call in site.calls if call[0] == "usage"] == [
            ("usage", "red", start + HOUR, start + 2 * DAY, NOW, DAY)
        ]
        assert (body["interval"], "history" in body) == (DAY, False)
        first, second = body["usage"][0]["history"]
        assert (first["start"], first["end"]) == ("2030-01-01T01:00:00Z", "2030-01-02T00:00:00Z")
        assert (first["node_hours"], first["revenue"]["earned"]) == (2.0, 0.0)
        assert (second["start"], second["end"]) == ("2030-01-02T00:00:00Z", "2030-01-03T00:00:00Z")
        assert (second["resource_hours"], second["revenue"]["earned"]) == ({"VCPU": 0.0333}, 7.5)
        site.capacity_rows = [
            {"start": start + HOUR, "end": start + DAY, "resource_seconds": {"VCPU": 23 * HOUR}},
            {"start": start + DAY, "end": start + 2 * DAY, "resource_seconds": {"VCPU": 24 * HOUR}},
        ]
        found = Client(app, "latest", "admin", "green").get(f"/v1/usage?{times}&interval=86400&all_projects=1").json
        steps = [(step["node_hours"], step["capacity_hours"]) for step in (found or {})["history"]]
        assert steps == [(2.0, {"VCPU": 23.0}), (0.0169, {"VCPU": 24.0})]

    def test_steps_are_refused_before_their_microversion(self, member: Client) -> None:
        assert member.at("1.13").get("/v1/usage?interval=day").status_code == 400
        (project,) = (member.at("1.13").get("/v1/usage").json or {})["usage"]
        assert set(project["kinds"]["reservation"]) == {"node_hours", "resource_hours"}


class TestCalendar:
    @pytest.fixture(autouse=True)
    def leases(self, site: Site) -> None:
        lease = {"id": "1", "name": "secret", "kind": "reservation", "state": "active", "reason": "why"}
        site.calendar_document["leases"] = [
            {**lease, "id": project, "project_id": project, "holdings": [], "past": [], "revision": 7}
            for project in ("red", "blue")
        ]
        site.calendar_document["hosts"] = [
            {"id": "1", "name": "host-1", "state": "up", "vcpus": 1, "memory_mb": 1},
        ]

    def test_the_calendar_names_the_own_project(self, build: Build, admin: Client) -> None:
        """It has a name for people; nobody has one if identity is not checked."""
        assert (admin.at("1.1").get("/v1/calendar").json or {})["project"] is None
        client = Client(build(ApiSettings(auth="keystone")), "1.1", "member")
        for name, shown in ((None, "red"), ("Röd", "Röd"), ("x" * 300, "red")):
            headers = {"X-Identity-Status": "Confirmed"} | ({} if name is None else {"X-Project-Name": name})
            found = client.get("/v1/calendar", headers=headers).json or {}
            assert found["project"] == {"id": "red", "name": shown}

    def test_other_projects_are_shown_as_busy_time_only(self, member: Client, admin: Client, site: Site) -> None:
        """No ids, no hosts except those of own leases, no numbers; two overlapping leases are one period."""
        held = {"run_start": 0, "run_end": 9, "closing": "shutdown"}
        mine, *_ = site.calendar_document["leases"]
        spans = [(NOW, NOW + 60, "2"), (NOW + 30, NOW + 90, "3"), (NOW + 200, NOW + 300, "2")]
        site.calendar_document["leases"] = [
            {**mine, "holdings": [{**held, "start": NOW, "end": NOW + 50, "hosts": ["1"]}]},
            *(
                {
                    **mine,
                    "id": f"foreign-{number}",
                    "project_id": "blue",
                    "holdings": [{**held, "start": start, "end": end, "hosts": [host]}],
                }
                for number, (start, end, host) in enumerate(spans)
            ),
        ]
        site.calendar_document["hosts"] = [
            {"id": n, "name": f"host-{n}", "state": "up", "vcpus": 1, "memory_mb": 1} for n in "123"
        ]
        answer = member.at("1.1").get("/v1/calendar?since=6")
        found = answer.json or {}
        assert (found["now"], found["complete"], found["removed"]) == (NOW, True, [])
        assert found["revision"] > 2**20, "it is not that of the site"
        assert [host["name"] for host in found["hosts"]] == ["host-1", "other projects", "Host 1", "Host 2"]
        assert [host["id"] for host in found["hosts"]] == ["1", "other projects", "unnamed-1", "unnamed-2"]
        assert found["use"] == {"held": 2, "usable": 3}
        assert [lease["name"] for lease in found["leases"]] == ["secret", "", ""]
        assert [(lease["start"], lease["end"]) for lease in found["leases"][1:]] == [
            (NOW, NOW + 90),
            (NOW + 200, NOW + 300),
        ]
        for secret in ("foreign", "host-2", "host-3", "blue"):
            assert secret not in answer.text
        assert ("lease_states", "red") in site.calls
        assert ("lease_states", None) not in site.calls
        assert found["states"] == {"active": 1}
        found = admin.at("1.1").get("/v1/calendar").json or {}
        assert [lease["name"] for lease in found["leases"]] == ["secret"] * 4

    def test_hosts_in_use_are_counted_as_of_now(self, member: Client, admin: Client, site: Site) -> None:
        """Whatever period is asked for. A host that is down counts while a lease holds it."""
        holding = {
            "start": NOW - 60,
            "run_start": NOW - 60,
            "run_end": NOW + 60,
            "end": NOW + 60,
            "closing": "shutdown",
        }
        site.calendar_document["leases"][1]["holdings"] = [{**holding, "hosts": ["1", "2"]}]
        site.calendar_document["hosts"] = [
            {"id": number, "name": f"host-{number}", "state": state, "vcpus": 1, "memory_mb": 1}
            for number, state in (("1", "up"), ("2", "down"), ("3", "up"), ("4", "disabled"))
        ]
        for client in (member, admin):
            for query in ("", f"?start={NOW + 10 * DAY}"):
                found = client.at("latest").get(f"/v1/calendar{query}").json or {}
                assert found["use"] == {"held": 2, "usable": 3}

    def test_without_privacy_leases_of_others_have_no_names(self, build: Build) -> None:
        app = build(ApiSettings(auth="noauth", privacy=False))
        found = Client(app, roles="member").at("1.1").get("/v1/calendar").json or {}
        assert (found["now"], found["revision"], found["complete"]) == (NOW, 7, True)
        assert [(lease["name"], lease["project_id"], lease["reason"]) for lease in found["leases"]] == [
            ("secret", "red", "why"),
            ("", "", ""),
        ]

    @pytest.mark.parametrize(
        ("query", "asked"),
        [
            ("", ("calendar_index", NOW - DAY, NOW + 6 * DAY)),
            (f"?start={NOW}&end={NOW + 60}&since=6", ("calendar_changes", 6, NOW, NOW + 60)),
            (f"?start={NOW}&end={NOW + 60}&since=8", ("calendar_index", NOW, NOW + 60)),
            ("?start=2030-02-01T00:00:00Z", ("calendar_index", 1_896_134_400, 1_896_134_400 + 7 * DAY)),
        ],
    )
    def test_the_reader_is_asked_for_the_interval_or_the_changes(
        self, admin: Client, site: Site, query: str, asked: tuple[Any, ...]
    ) -> None:
        assert admin.at("latest").get(f"/v1/calendar{query}").status_code == 200
        assert [call for call in site.calls if call[0] in ("calendar_index", "calendar_changes")] == [asked]

    def test_rights_follow_the_role(self, build: Build) -> None:
        """A member may book, and change the leases of their project; a reader may do neither; an admin may do all."""
        app = build(ApiSettings(auth="noauth", privacy=False))
        expected = {"reader": (False, [False, False]), "member": (True, [True, False]), "admin": (True, [True, True])}
        for role, rights in expected.items():
            found = Client(app, roles=role).at("1.1").get("/v1/calendar").json or {}
            assert (found["may_book"], [lease["may_change"] for lease in found["leases"]]) == rights
            assert found["may_approve"] is (role == "admin")

    def test_states_are_counted_when_something_has_changed(self, admin: Client, site: Site) -> None:
        """All leases are counted; while the revision stays the same, so do the numbers, and nothing is counted."""
        site.calendar_document["leases"][1]["state"] = "done"
        assert (admin.at("1.1").get("/v1/calendar").json or {})["states"] == {"active": 1, "done": 1}
        assert (admin.at("1.1").get("/v1/calendar?since=6").json or {})["states"] == {"active": 1, "done": 1}
        site.calls.clear()
        assert (admin.at("1.1").get("/v1/calendar?since=7").json or {})["states"] is None
        assert site.calls == [("site_version",)]

    @pytest.mark.parametrize("query", ["start=5&end=5", "start=0&end=99999999999", "start=x", "since=-1", "end=\u0661"])
    def test_wrong_intervals_are_refused(self, latest: Client, query: str) -> None:
        assert latest.get(f"/v1/calendar?{query}").status_code == 400


_FIRST, _LAST = -62_135_596_800, 253_402_300_799


@pytest.mark.parametrize(
    ("start", "end", "year"),
    [
        pytest.param(_LAST - 59, _LAST - 59 + DAY, 9999, id="ends after the last date"),
        pytest.param(_LAST, _LAST + 1, 9999, id="starts at the last date"),
        pytest.param(NOW, 2**60, 9999, id="ends when there are no dates any more"),
        pytest.param(2**60, 2**61, 9999, id="starts when there are no dates any more"),
        pytest.param(_FIRST - 1, NOW + DAY, 2030, id="starts before the first date"),
        pytest.param(-(2**60), NOW + DAY, 2030, id="starts long before the first date"),
    ],
)
@pytest.mark.parametrize("zone", [-12, 0, 14])
def test_events_beyond_the_last_date_are_cut(
    latest: Client, site: Site, start: int, end: int, year: int, zone: int
) -> None:
    """Such a lease does not remove the others, and has dates that every program can show."""
    made(latest, HOSTS, name="near")
    far = made(latest, HOSTS, name="far")
    site.views[far["id"]].update(start=start, end=end)
    answer = latest.get("/v1/leases.ics", headers={"Accept": "text/calendar"})
    assert answer.status_code == 200
    events = {str(event["summary"]): event for event in Calendar.from_ical(answer.data).walk("VEVENT")}
    assert sorted(events) == ["far", "near"]
    shown = [events["far"].decoded(name) for name in ("dtstart", "dtend")]
    local = [date.astimezone(timezone(timedelta(hours=zone))) for date in shown]
    assert local[0] < local[1]
    assert shown[1].year == year


def test_a_lease_without_an_end_has_none_in_the_feed(latest: Client, site: Site) -> None:
    """What the plan holds for it is not when it ends."""
    lease = made(latest, HOSTS, name="endless")
    site.views[lease["id"]].update(kind="best-effort", duration=UNLIMITED, state="active")

    def event() -> Any:
        answer = latest.get("/v1/leases.ics", headers={"Accept": "text/calendar"})
        (found,) = Calendar.from_ical(answer.data).walk("VEVENT")
        return found

    assert "dtstart" in event()
    assert "dtend" not in event()
    assert "until somebody ends it" in str(event()["description"])
    site.views[lease["id"]].update(state="done", ended=NOW)
    assert "dtend" in event()


@pytest.mark.parametrize(
    ("state", "started", "status"),
    [
        ("scheduled", None, "TENTATIVE"),
        ("active", NOW, "CONFIRMED"),
        ("suspended-queued", NOW, "CONFIRMED"),
        ("done", NOW, "CONFIRMED"),
        ("cancelled", NOW, "CONFIRMED"),
        ("cancelled", None, "CANCELLED"),
        ("done", None, "CANCELLED"),
        ("rejected", None, "CANCELLED"),
        ("rejected", NOW, "CANCELLED"),
        ("rejected-by-user", None, "CANCELLED"),
        ("failed", None, "CANCELLED"),
        ("failed", NOW, "CANCELLED"),
    ],
)
def test_bookings_that_came_to_nothing_are_cancelled_in_the_feed(
    latest: Client, site: Site, state: str, started: int | None, status: str
) -> None:
    lease = made(latest, HOSTS)

    def event() -> Any:
        answer = latest.get("/v1/leases.ics", headers={"Accept": "text/calendar"})
        (found,) = Calendar.from_ical(answer.data).walk("VEVENT")
        return found

    before = event()
    assert str(before["status"]) == "TENTATIVE"
    site.views[lease["id"]].update(state=state, started=started, version=2)
    after = event()
    assert str(after["status"]) == status
    assert after["uid"] == before["uid"]
    assert after["sequence"] > before["sequence"], "calendars that have the event take over the new one"


def test_a_deleted_lease_is_gone_from_the_feed(latest: Client) -> None:
    lease = made(latest, HOSTS)
    latest.delete(f"/v1/leases/{lease['id']}")
    answer = latest.get("/v1/leases.ics", headers={"Accept": "text/calendar"})
    assert not Calendar.from_ical(answer.data).walk("VEVENT")


def test_the_feed_has_the_present_leases_of_the_project(latest: Client, app: Flask, site: Site) -> None:
    lease = made(latest, HOSTS, name="Größe; 2, 3")
    made(Client(app, roles="member", project="blue"), HOSTS)
    latest.post("/v1/leases", {"name": "q", "kind": "best-effort", "nodes": [{"count": 1, "resources": {"VCPU": 1}}]})
    old = made(latest, HOSTS, name="old")
    site.views[old["id"]].update(state="done", start=NOW - 200 * DAY, end=NOW - 199 * DAY)
    answer = latest.get("/v1/leases.ics", headers={"Accept": "text/calendar"})
    assert (answer.status_code, answer.mimetype) == (200, "text/calendar")
    calendar = Calendar.from_ical(answer.data)
    (event,) = calendar.walk("VEVENT")
    assert str(event["summary"]) == "Größe; 2, 3"
    assert str(event["uid"]) == f"{lease['id']}@lease-scheduler"
    assert event.decoded("dtstart").timestamp() == 1_896_134_400
    assert event.decoded("dtend").timestamp() == 1_896_220_800
    assert str(event["status"]) == "TENTATIVE"
