"""Lease kinds, nodes and their attributes, from microversion 1.2 on."""

from __future__ import annotations

from typing import Any, ClassVar

import pytest

from lease_scheduler.model.errors import EngineUnavailableError, RefusedError
from lease_scheduler.model.lease import UNLIMITED
from lease_scheduler.model.progress import Progress
from tests.unit.api.conftest import Client
from tests.unit.api.fakes import HOUR, MINUTE, NOW, Site, Trusts
from tests.unit.api.handlers.test_leases import DATES, HOSTS, refused

NODES = [{"count": 2, "resources": {"VCPU": 2, "MEMORY_MB": 1024}}]
DAY = 24 * HOUR


@pytest.fixture
def client(member: Client) -> Client:
    return member.at("1.2")


def lease(**more: Any) -> dict[str, Any]:
    return {"name": "mine", "nodes": NODES, **more}


@pytest.mark.parametrize(
    ("sent", "expected"),
    [
        ({**DATES}, {"kind": "reservation", "start": 1_896_134_400, "end": 1_896_220_800, "duration": None}),
        (
            {"start_date": "now", "duration": "2h"},
            {"kind": "reservation", "start": NOW, "end": NOW + 2 * HOUR, "duration": 2 * HOUR},
        ),
        (
            {"start_date": "now", "end_date": "2030-01-31 13:00"},
            {"kind": "reservation", "start": MINUTE, "end": MINUTE + HOUR, "duration": None},
        ),
        ({"kind": "immediate", "duration": "1d"}, {"start": None, "end": None, "duration": DAY}),
        ({"kind": "immediate", "start_date": "now", "duration": 60}, {"duration": 60}),
        ({"kind": "immediate", "end_date": "2030-01-31 13:00"}, {"start": None, "end": None, "duration": HOUR - 30}),
        (
            {"kind": "deadline", "duration": 90, "deadline": "2030-02-01 00:00"},
            {"start": None, "duration": 90, "deadline": 1_896_134_400, "preemptible": True},
        ),
        (
            {"kind": "deadline", "start_date": "2030-02-01 00:00", "duration": "PT1H", "deadline": "2030-02-01 01:00"},
            {"start": 1_896_134_400, "duration": HOUR, "deadline": 1_896_138_000, "end": None},
        ),
        ({"kind": "best-effort"}, {"duration": None, "preemptible": True, "preemption_mode": "shelve"}),
        ({"kind": "best-effort", "duration": "2h30m"}, {"duration": 9_000}),
        (
            {"kind": "best-effort", "preemptible": False},
            {"preemptible": False, "preemption_mode": "none"},
        ),
        ({"kind": "best-effort", "preemption_mode": "delete"}, {"preemption_mode": "delete"}),
        ({**DATES, "extras": {"team": "a"}}, {"extras": {"team": "a"}, "preemptible": False}),
        ({**DATES, "before_end_date": "2030-02-01T12:00:00+01:00"}, {"before_end": 1_896_174_000}),
        (
            {"start_date": "2030-02-01T01:00:00+01:00", "end_date": "2030-02-02T00:00:00Z"},
            {"start": 1_896_134_400, "end": 1_896_220_800},
        ),
    ],
)
def test_the_request_becomes_terms_of_its_kind(
    client: Client, site: Site, sent: dict[str, Any], expected: dict[str, Any]
) -> None:
    answer = client.post("/v1/leases", lease(**sent))
    assert answer.status_code == 201, answer.json
    document = site.calls[-1][2]
    assert {key: document[key] for key in expected} == expected


@pytest.mark.parametrize(
    ("sent", "field", "message"),
    [
        ({}, "start_date", "Missing parameter start_date, end_date"),
        ({"duration": 5}, "start_date", "Missing parameter start_date"),
        ({**DATES, "duration": 5}, "duration", "give end_date or duration, not both"),
        ({**DATES, "deadline": "2030-03-01 00:00"}, "deadline", "a lease of kind reservation has none"),
        ({"kind": "immediate"}, "duration", "Missing parameter duration"),
        ({"kind": "immediate", "duration": 5, "start_date": "2030-02-01 00:00"}, "start_date", 'starts "now"'),
        ({"kind": "deadline", "duration": 5}, "deadline", "Missing parameter deadline"),
        ({"kind": "deadline"}, "duration", "Missing parameter duration, deadline"),
        (
            {"kind": "deadline", "duration": "1h", "deadline": "2030-01-31 13:00"},
            "deadline",
            "must be 2030-01-31T13:00:30Z or later",
        ),
        ({"kind": "deadline", **DATES}, "end_date", "a lease of kind deadline has none"),
        ({"kind": "best-effort", "start_date": "now"}, "start_date", "a lease of kind best-effort has none"),
        ({"kind": "best-effort", "before_end_date": "2030-03-01 00:00"}, "before_end_date", "with a fixed end"),
        ({"kind": "best-effort", "nodes": []}, "nodes", "must have 1 to 64 elements"),
        ({"kind": "moon"}, "kind", "must be one of"),
        ({**DATES, "duration": "soon", "end_date": None}, "end_date", "must be a text"),
        ({"start_date": "now", "duration": "soon"}, "duration", "soon is not a duration"),
        ({"start_date": "now", "duration": 0}, "duration", "must be a duration like"),
        ({"start_date": "now", "duration": "0s"}, "duration", "must be between 1 s and 36500 d"),
        ({"start_date": "now", "duration": UNLIMITED + 1}, "duration", "must be between 1 s and 36500 d"),
        ({"start_date": "2030-02-01T00:00", "end_date": "x"}, "end_date", "or ISO 8601 like"),
        ({**DATES, "reservations": [HOSTS]}, "nodes", "give reservations or nodes, not both"),
        ({**DATES, "preemptible": 1}, "preemptible", "must be true or false, not 1"),
        ({**DATES, "preemption_mode": "shoot"}, "preemption_mode", "must be one of"),
        ({**DATES, "extras": {"a": 1}}, "extras.a", "must be a text, not 1"),
        ({**DATES, "servers": []}, "servers", "needs the header OpenStack-API-Version: reservation 1.3"),
        ({**DATES, "nodes": [{"count": 1}]}, "nodes[0].resources", "is needed for nodes that are not exclusive"),
        ({**DATES, "nodes": [{"count": 0, "resources": {"VCPU": 1}}]}, "nodes[0].count", "must be at least 1"),
        ({**DATES, "nodes": [{"count": 1, "resources": {}}]}, "nodes[0].resources", "must have 1 to 32 keys"),
        ({**DATES, "nodes": [{"count": 1, "resources": {"vcpu": 1}}]}, "nodes[0].resources", "capital letters"),
        ({**DATES, "nodes": [{"count": 1, "resources": {"VCPU": 0}}]}, "nodes[0].resources.VCPU", "at least 1"),
        (
            {**DATES, "nodes": [{**NODES[0], "properties": '["near", "$a", "1"]'}]},
            "nodes[0].properties",
            "near is not an operator",
        ),
        ({**DATES, "nodes": [{**NODES[0], "traits": ["a"]}]}, "nodes[0].traits[0]", "must look like"),
        ({**DATES, "nodes": [{**NODES[0], "color": 1}]}, "nodes[0].color", "is not a known key"),
    ],
)
def test_what_is_wrong(client: Client, site: Site, sent: dict[str, Any], field: str, message: str) -> None:
    answer = client.post("/v1/leases", lease(**sent))
    code, text = refused(answer)
    assert code == 400
    assert message in text
    assert (answer.json or {})["field"] == field
    assert site.calls == []


def test_nodes_become_reservations(client: Client, site: Site) -> None:
    nodes = [
        {**NODES[0], "traits": ["B", "A"], "properties": '["or", ["==", "$gpu", 1], "$trait:C"]', "per_host": 1},
        {"count": 3, "resources": {"VCPU": 1}, "exclusive": True},
    ]
    answer = client.post("/v1/leases", lease(**DATES, nodes=nodes))
    instances, hosts = site.calls[-1][2]["reservations"]
    assert instances["resource_type"] == "virtual:instance"
    assert (instances["amount"], instances["vcpus"], instances["memory_mb"], instances["disk_gb"]) == (2, 2, 1024, 0)
    assert instances["nodes"] == [
        {
            "count": 2,
            "resources": {"VCPU": 2, "MEMORY_MB": 1024},
            "least_resources": None,
            "traits": ["A", "B"],
            "properties": '["or", ["==", "$gpu", 1], "$trait:C"]',
            "exclusive": False,
            "per_host": 1,
        }
    ]
    assert (hosts["resource_type"], hosts["min"], hosts["max"]) == ("physical:host", 3, 3)
    shown = (answer.json or {})["lease"]["reservations"]
    assert (shown[0]["resources"], shown[0]["traits"], shown[0]["per_host"]) == (
        {"VCPU": 2, "MEMORY_MB": 1024},
        ["A", "B"],
        1,
    )


def test_elastic_nodes_from_microversion_1_23_on(member: Client, site: Site) -> None:
    """shirako F21: the smallest size that suffices goes to the engine; leases and quotes show what was granted."""
    elastic = [{**NODES[0], "least_resources": {"VCPU": 1}}]
    code, text = refused(member.at("1.22").post("/v1/leases", lease(**DATES, nodes=elastic)))
    assert (code, "least_resources" in text) == (400, True)

    client = member.at("1.23")
    shown = (client.post("/v1/leases", lease(**DATES, nodes=elastic)).json or {})["lease"]["reservations"][0]
    assert site.calls[-1][2]["reservations"][0]["nodes"][0]["least_resources"] == {"VCPU": 1}
    assert (shown["resources"]["VCPU"], shown["least_resources"], shown["granted_resources"]) == (2, {"VCPU": 1}, None)

    granted = [{"count": 2, "resources": {"VCPU": 1, "MEMORY_MB": 1024}}]
    site.quote = {**site.quote, "nodes": granted}
    assert (client.post("/v1/quotes", lease(**DATES, nodes=elastic)).json or {})["quote"]["nodes"] == granted


@pytest.mark.parametrize(
    ("least", "message"),
    [({"VCPU": 3}, "VCPU: must be at most 2"), ({"PCPU": 1}, "PCPU: is not in resources"), ({"VCPU": 0}, "VCPU")],
)
def test_a_smallest_size_must_be_within_the_resources(
    member: Client, site: Site, least: dict[str, int], message: str
) -> None:
    nodes = [{**NODES[0], "least_resources": least}]
    answer = member.at("1.23").post("/v1/leases", lease(**DATES, nodes=nodes))
    code, text = refused(answer)
    assert (code, message in text) == (400, True), text
    assert (answer.json or {})["field"].startswith("nodes[0].least_resources")
    assert site.calls == []


@pytest.mark.parametrize(
    ("assurance", "message"),
    [(1, "assurance: must be less than 1, not 1"), (0, "assurance: must be more than 0, not 0")],
)
def test_an_assurance_is_between_0_and_1(member: Client, site: Site, assurance: float, message: str) -> None:
    terms = lease(kind="best-effort", duration="1h", min_lifetime="30m", assurance=assurance)
    assert refused(member.at("1.30").post("/v1/leases", terms)) == (400, message)
    assert site.calls == []


def test_clients_of_blazar_see_a_best_effort_lease_with_dates(client: Client, member: Client) -> None:
    """These clients need a start and an end; the nearest equivalents are shown."""
    answer = client.post("/v1/leases", lease(kind="best-effort", duration="1h"))
    shown = (answer.json or {})["lease"]
    lease_id = shown["id"]
    assert (shown["start_date"], shown["end_date"], shown["kind"], shown["state"]) == (
        None,
        None,
        "best-effort",
        "queued",
    )
    assert shown["submitted_at"] == "2030-01-31T12:00:30Z"
    plain = (member.get(f"/v1/leases/{lease_id}").json or {})["lease"]
    assert plain["start_date"] == "2030-01-31T12:00:30.000000"
    assert plain["end_date"] == "2030-01-31T13:00:30.000000"
    assert plain["status"] == "PENDING"
    assert "kind" not in plain


def test_holdings_are_shown_and_a_duration_may_be_infinite(client: Client, site: Site) -> None:
    shown = (client.post("/v1/leases", lease(**DATES)).json or {})["lease"]
    assert shown["holdings"] == [
        {
            "start": "2030-02-01T00:00:00Z",
            "run_start": "2030-02-01T00:00:00Z",
            "run_end": "2030-02-02T00:00:00Z",
            "end": "2030-02-02T00:00:00Z",
            "closing": "stop",
            "hosts": ["1"],
        }
    ]
    shown = (client.post("/v1/leases", lease(kind="best-effort")).json or {})["lease"]
    assert shown["duration"] is None


def test_a_lease_with_servers_has_a_trust(member: Client, site: Site, trusts: Trusts) -> None:
    """The trust is deleted at once if the lease is refused, and decided about later if the outcome is unknown."""
    client = member.at("1.3")
    ada: dict[str, Any] = {"environ_overrides": {"keystone.token_auth": "ada"}}
    servers = [{"name": "web", "image_id": "cirros"}]
    made = client.post("/v1/leases", lease(**DATES, servers=servers), **ada)
    assert (made.json or {})["lease"]["trust_id"] == "trust-0-of-ada"
    without = client.post("/v1/leases", lease(**DATES))
    assert (without.json or {})["lease"]["trust_id"] is None
    assert trusts.given == ["trust-0-of-ada"]
    for refusal, left in ((RefusedError(409, "full"), 1), (EngineUnavailableError("no answer"), 2)):
        site.refusal = refusal
        body = lease(**DATES, servers=servers)
        answer = client.post("/v1/leases", body, **ada)
        assert answer.status_code in (409, 503)
        assert len(trusts.given) == left
    assert trusts.doubtful == trusts.given[1:]


def test_servers_and_on_end_are_accepted_from_1_3_on(member: Client, site: Site) -> None:
    server = {"name": "web", "image_id": "cirros", "networks": [{"network_id": "net"}], "metadata": {"a": "b"}}
    answer = member.at("1.3").post("/v1/leases", lease(**DATES, servers=[server], on_end="shelve"))
    assert (answer.json or {})["lease"]["servers"] == [server]
    assert (site.calls[-1][2]["on_end"], site.calls[-1][2]["servers"]) == ("shelve", [server])
    answer = member.at("1.3").post("/v1/leases", lease(**DATES, servers=[{"name": "web", "image": "x"}]))
    assert refused(answer)[1] == "Missing parameter image_id in servers[0]"


class TestChanges:
    def path(self, client: Client, **terms: Any) -> str:
        return f"/v1/leases/{(client.post('/v1/leases', lease(**terms)).json or {})['lease']['id']}"

    def test_dates_of_a_best_effort_lease_cannot_be_changed(self, client: Client, site: Site) -> None:
        path = self.path(client, kind="best-effort", duration="1h")
        assert client.put(path, {"duration": "3h", "preemption_mode": "delete", "version": 1}).status_code == 200
        assert site.calls[-1][3] == {"duration": 3 * HOUR, "preemption_mode": "delete", "version": 1}
        for sent, field in (
            ({"start_date": "now"}, "start_date"),
            ({"end_date": "2030-03-01 00:00"}, "end_date"),
            ({"deadline": "2030-03-01 00:00"}, "deadline"),
            ({"before_end_date": "2030-03-01 00:00"}, "before_end_date"),
        ):
            answer = client.put(path, sent)
            assert (answer.status_code, (answer.json or {})["field"]) == (400, field)

    def test_a_deadline_must_not_lie_in_the_past(self, client: Client, site: Site) -> None:
        path = self.path(client, kind="deadline", duration="1h", deadline="2030-03-01 00:00")
        assert client.put(path, {"deadline": "2030-04-01 00:00"}).status_code == 200
        assert site.calls[-1][3] == {"deadline": 1_901_232_000}
        assert "must not lie in the past" in refused(client.put(path, {"deadline": "2030-01-01 00:00"}))[1]

    def test_changing_the_duration_of_a_reservation_changes_its_end(self, client: Client, site: Site) -> None:
        path = self.path(client, **DATES)
        assert client.put(path, {"duration": "1h"}).status_code == 200
        assert site.calls[-1][3] == {"end": 1_896_138_000}
        assert refused(client.put(path, {"duration": "1h", "end_date": "2030-03-01 00:00"}))[0] == 400

    def test_a_reservation_that_is_moved_to_now_has_its_whole_duration(self, client: Client, site: Site) -> None:
        path = self.path(client, **DATES)
        assert client.put(path, {"start_date": "now", "duration": "1h"}).status_code == 200
        assert site.calls[-1][3] == {"start": NOW, "end": NOW + HOUR, "duration": HOUR}


class TestSeconds:
    """A date with seconds is taken at its word. One in whole minutes, as Blazar's clients send it, is not."""

    MOVED: ClassVar[dict[str, Any]] = {"start_date": "2030-02-01T00:00:45Z", "end_date": "2030-02-02T00:00:45Z"}
    TERMS: ClassVar[dict[str, int]] = {"start": 1_896_134_445, "end": 1_896_220_845}

    @pytest.fixture
    def client(self, member: Client) -> Client:
        return member.at("latest")

    def path(self, client: Client, site: Site, **terms: Any) -> str:
        found: str = (client.post("/v1/leases", lease(**terms)).json or {})["lease"]["id"]
        site.calls.clear()
        return f"/v1/leases/{found}"

    def test_a_start_in_the_same_minute_is_another_start(self, client: Client, site: Site) -> None:
        path = self.path(client, site, **DATES)
        assert client.put(path, self.MOVED).status_code == 200
        back = {"start_date": "2030-02-01T00:00:00Z", "end_date": "2030-02-02T00:00:00Z"}
        assert client.put(path, back).status_code == 200
        assert [call[3] for call in site.calls] == [self.TERMS, {"start": 1_896_134_400, "end": 1_896_220_800}]

    def test_seconds_count_in_moves_quotes_and_counters_too(self, client: Client, site: Site) -> None:
        path = self.path(client, site, **DATES)
        assert client.post(f"{path}/quote", {"change": self.MOVED}).status_code == 200
        assert client.post(f"{path}/action", {"counter": self.MOVED}).status_code == 200
        assert client.post(f"{path}/action", {"move": self.MOVED}).status_code == 200
        assert [call[3] for call in site.calls] == [self.TERMS] * 3

    def test_a_start_with_seconds_and_a_duration_is_exact(self, client: Client, site: Site) -> None:
        path = self.path(client, site, **DATES)
        assert client.put(path, {"start_date": "2030-02-01T00:00:45Z", "duration": "1h"}).status_code == 200
        assert site.calls[-1][3] == {"start": 1_896_134_445, "end": 1_896_138_045}

    def test_seconds_count_in_maintenances_too(self, admin: Client, site: Site) -> None:
        site.add_host("host-1", {})
        made = admin.at("latest").post("/v1/maintenances", {"name": "fans", "hosts": ["host-1"], **DATES}).json or {}
        assert admin.at("latest").put(f"/v1/leases/{made['maintenance']['id']}", self.MOVED).status_code == 200
        assert site.calls[-1][3] == self.TERMS

    @pytest.mark.parametrize("same", ["2030-02-01 00:00", "2030-02-01T00:00Z", "2030-02-01T01:00+01:00"])
    def test_whole_minutes_of_the_present_start_change_nothing(self, client: Client, site: Site, same: str) -> None:
        path = self.path(client, site, **(DATES | self.MOVED))
        assert client.put(path, {"start_date": same, "end_date": "2030-02-03 00:00"}).status_code == 200
        assert site.calls[-1][3] == {"end": 1_896_307_200}

    @pytest.mark.parametrize("same", ["2030-02-02 00:00", "2030-02-02T00:00Z", "2030-02-02T01:00+01:00"])
    def test_whole_minutes_of_the_present_end_change_nothing(self, client: Client, site: Site, same: str) -> None:
        path = self.path(client, site, **(DATES | self.MOVED))
        assert client.put(path, {"end_date": same}).status_code == 200
        assert client.put(path, {"start_date": "2030-02-01 00:00", "end_date": same}).status_code == 200
        assert client.post(f"{path}/action", {"move": {"end_date": same}}).status_code == 200
        assert site.calls == []
        assert client.put(path, {"start_date": "2030-02-01 01:00", "end_date": same}).status_code == 200
        assert site.calls[-1][3] == {"start": 1_896_138_000}
        assert refused(client.post(f"{path}/action", {"shrink": {"end_date": same}}))[1] == (
            "shrink: the new end must be earlier than the old one"
        )
        assert refused(client.post(f"{path}/action", {"counter": {"end_date": same}}))[0] == 400
        site.calls.clear()
        assert client.post(f"{path}/quote", {"change": {"end_date": same}}).status_code == 200
        assert site.calls[-1][3] == {}

    def test_an_end_with_seconds_is_exact(self, client: Client, site: Site) -> None:
        path = self.path(client, site, **(DATES | self.MOVED))
        assert client.put(path, {"end_date": "2030-02-02T00:00:00Z"}).status_code == 200
        assert site.calls[-1][3] == {"end": 1_896_220_800}
        assert client.put(path, {"end_date": "2030-02-02T00:00:45Z"}).status_code == 200
        assert site.calls[-1][3] == {"end": 1_896_220_845}

    def test_an_end_in_an_earlier_minute_is_a_change(self, client: Client, site: Site) -> None:
        path = self.path(client, site, **(DATES | self.MOVED))
        assert client.put(path, {"end_date": "2030-02-01 23:59"}).status_code == 200
        assert site.calls[-1][3] == {"end": 1_896_220_740}

    def test_an_end_now_is_now_although_it_names_no_seconds(self, client: Client, site: Site) -> None:
        path = self.path(client, site, **DATES)
        site.views[path.rpartition("/")[2]].update(state="active", start=NOW - HOUR, started=NOW - HOUR, end=NOW + 10)
        assert client.put(path, {"end_date": "2030-01-31 12:00"}).status_code == 200
        assert site.calls == []
        assert client.put(path, {"end_date": "now"}).status_code == 200
        assert [call[0] for call in site.calls] == ["end_lease"]

    def test_a_start_after_the_unchanged_end_is_refused(self, client: Client, site: Site) -> None:
        path = self.path(client, site, **(DATES | self.MOVED))
        moved = {"start_date": "2030-02-02T00:00:50Z", "end_date": "2030-02-02 00:00"}
        assert refused(client.put(path, moved)) == (400, "End date must be later than current and start date")

    def test_whole_minutes_of_other_dates_keep_their_seconds(self, client: Client, site: Site) -> None:
        path = self.path(client, site, **(DATES | {"before_end_date": "2030-02-01T12:00:45Z"}))
        changes = {"end_date": "2030-02-03 00:00", "before_end_date": "2030-02-01 12:00"}
        assert client.put(path, changes).status_code == 200
        assert site.calls[-1][3] == {"end": 1_896_307_200, "before_end": 1_896_177_645}
        path = self.path(client, site, kind="deadline", duration="1h", deadline="2030-03-01T00:00:45Z")
        assert client.put(path, {"deadline": "2030-03-01 00:00", "duration": "2h"}).status_code == 200
        assert site.calls[-1][3] == {"deadline": 1_898_553_645, "duration": 2 * HOUR}
        assert client.put(path, {"deadline": "2030-03-01T00:00:00Z"}).status_code == 200
        assert site.calls[-1][3] == {"deadline": 1_898_553_600}

    def test_the_start_of_a_started_lease_stays_to_the_second(self, client: Client, site: Site) -> None:
        path = self.path(client, site, **(DATES | self.MOVED))
        site.views[path.rpartition("/")[2]].update(state="active", started=1_896_134_445)
        assert client.put(path, {"start_date": "2030-02-01T00:00:45.000000"}).status_code == 200
        assert refused(client.put(path, {"start_date": "2030-02-01T00:00:46Z"}))[1] == (
            "Cannot modify the start date of already started leases"
        )

    def test_an_end_before_the_start_in_the_same_minute_is_refused(self, client: Client, site: Site) -> None:
        path = self.path(client, site, **DATES)
        answer = client.put(path, {"start_date": "2030-02-01T00:00:45Z", "end_date": "2030-02-01T00:00:30Z"})
        assert refused(answer) == (400, "End date must be later than current and start date")

    def test_the_planned_start_of_a_deadline_lease_can_become_its_earliest(self, client: Client, site: Site) -> None:
        path = self.path(client, site, kind="deadline", duration="1h", deadline="2030-03-01 00:00")
        lease_id = path.rpartition("/")[2]
        site.views[lease_id].update(state="scheduled", start=1_896_134_400)
        assert client.put(path, {"start_date": "2030-02-01 00:00"}).status_code == 200
        assert site.calls == [], "clients of Blazar send back what they were shown"
        assert client.put(path, {"start_date": "2030-02-01T00:00:00Z"}).status_code == 200
        assert site.calls[-1][3] == {"start": 1_896_134_400}
        assert client.put(path, {"start_date": "2030-02-01T00:00:01Z"}).status_code == 200
        assert site.calls[-1][3] == {"start": 1_896_134_401}


class TestActions:
    @pytest.fixture
    def client(self, member: Client) -> Client:
        return member.at("1.7")

    @pytest.fixture
    def lease_id(self, client: Client, site: Site) -> str:
        found: str = (client.post("/v1/leases", lease(**DATES)).json or {})["lease"]["id"]
        site.calls.clear()
        return found

    @pytest.mark.parametrize(
        ("action", "call"),
        [
            ({"extend": {"by": "1h"}}, ("update_lease", {"end": 1_896_224_400})),
            ({"extend": {"end_date": "2030-02-03 00:00"}}, ("update_lease", {"end": 1_896_307_200})),
            ({"extend": {"duration": "2d"}}, ("update_lease", {"end": 1_896_307_200})),
            ({"shrink": {"by": "1h"}}, ("update_lease", {"end": 1_896_217_200})),
            ({"shrink": {"end_date": "2030-02-01T12:00:00Z"}}, ("update_lease", {"end": 1_896_177_600})),
            ({"move": {"hosts_away": ["1"]}}, ("move_lease", ["1"])),
            (
                {"move": {"start_date": "2030-02-01 01:00", "end_date": "2030-02-03 00:00"}},
                ("update_lease", {"start": 1_896_138_000, "end": 1_896_307_200}),
            ),
            # The lease of a day keeps its length.
            (
                {"move": {"start_date": "2030-02-01 01:00"}},
                ("update_lease", {"start": 1_896_138_000, "end": 1_896_224_400}),
            ),
            ({"move": {"end_date": "2030-02-03 00:00"}}, ("update_lease", {"end": 1_896_307_200})),
            ({"end": {}}, ("end_lease",)),
            ({"cancel": {}}, ("delete_lease", "cancelled by its project")),
            ({"cancel": {"reason": "no need"}}, ("delete_lease", "no need")),
        ],
    )
    def test_each_action_becomes_a_call_of_the_engine(
        self, client: Client, site: Site, lease_id: str, action: dict[str, Any], call: tuple[Any, ...]
    ) -> None:
        answer = client.post(f"/v1/leases/{lease_id}/action", action)
        assert answer.status_code == 200, answer.json
        ((name, _, called_id, *arguments),) = site.calls
        assert (name, called_id, *arguments) == (call[0], lease_id, *call[1:])
        assert (answer.json or {})["lease"]["id"] == lease_id

    @pytest.mark.parametrize(
        ("action", "code", "message"),
        [
            ({}, 400, "body: must have 1 to 1 keys, not 0"),
            ({"end": {}, "cancel": {}}, 400, "body: must have 1 to 1 keys, not 2"),
            ({"explode": {}}, 400, "explode: is not a known key"),
            ({"end": {"now": True}}, 400, "end.now: is not a known key"),
            ({"extend": {}}, 400, "extend: must have 1 to 1 keys, not 0"),
            ({"extend": {"by": "-1h"}}, 400, "extend.by: -1h is not a duration"),
            ({"extend": {"end_date": "2030-02-01 12:00"}}, 400, "extend: the new end must be later than the old one"),
            ({"shrink": {"end_date": "2030-02-03 00:00"}}, 400, "shrink: the new end must be earlier than the old one"),
            ({"shrink": {"by": "2d"}}, 400, "End date must be later than current and start date"),
            ({"move": {}}, 400, "move: must have 1 to any number of keys, not 0"),
            ({"move": {"hosts_away": ["1"], "end_date": "now"}}, 400, "move: give hosts_away without other terms"),
            ({"move": {"hosts_away": []}}, 400, "move.hosts_away: must have 1 to 1000 elements"),
        ],
    )
    def test_wrong_actions_are_refused(
        self, client: Client, site: Site, lease_id: str, action: dict[str, Any], code: int, message: str
    ) -> None:
        answer = client.post(f"/v1/leases/{lease_id}/action", action)
        assert refused(answer)[0] == code
        assert message in refused(answer)[1]
        assert site.calls == []

    def test_shrinking_to_fewer_instances_changes_the_nodes(self, client: Client, site: Site, lease_id: str) -> None:
        reservation_id = site.views[lease_id]["reservations"][0]["id"]
        sent = {"shrink": {"reservations": [{"id": reservation_id, "amount": 1}]}}
        assert client.post(f"/v1/leases/{lease_id}/action", sent).status_code == 200
        (change,) = site.calls[-1][3]["reservations"]
        assert (change["id"], change["amount"]) == (reservation_id, 1)
        assert [node["count"] for node in change["nodes"]] == [1]

    def test_extending_a_best_effort_lease_changes_its_duration(self, client: Client, site: Site) -> None:
        made = (client.post("/v1/leases", lease(kind="best-effort", duration="2h")).json or {})["lease"]
        path = f"/v1/leases/{made['id']}/action"
        assert client.post(path, {"extend": {"by": "1h"}}).status_code == 200
        assert site.calls[-1][3] == {"duration": 3 * HOUR}
        assert client.post(path, {"shrink": {"by": "2h"}}).status_code == 200
        assert site.calls[-1][3] == {"duration": HOUR}
        assert client.post(path, {"shrink": {"by": "1h"}}).status_code == 400

    def test_a_lease_is_ready_to_be_preempted_from_1_29_on(self, client: Client, site: Site, lease_id: str) -> None:
        path = f"/v1/leases/{lease_id}/action"
        assert client.at("1.28").post(path, {"ready": {}}).status_code == 400
        assert client.at("1.29").post(path, {"ready": {"server": "1"}}).status_code == 400
        assert client.at("1.29").post(path, {"ready": {}}).status_code == 200
        ((name, _, *arguments),) = site.calls
        assert (name, *arguments) == ("ready_lease", lease_id)

    def test_shrinking_a_running_lease_to_the_past_ends_it(self, client: Client, site: Site, lease_id: str) -> None:
        site.views[lease_id].update(state="active", start=NOW - HOUR, started=NOW - HOUR, end=NOW + HOUR)
        answer = client.post(f"/v1/leases/{lease_id}/action", {"shrink": {"end_date": "2030-01-31 12:00"}})
        assert answer.status_code == 200
        assert [call[0] for call in site.calls] == ["end_lease"]

    def test_the_hosts_of_a_lease_are_listed(self, client: Client, site: Site, lease_id: str) -> None:
        reservation_id = site.views[lease_id]["reservations"][0]["id"]
        assert client.get(f"/v1/leases/{lease_id}/hosts").json == {
            "hosts": [
                {"hypervisor_hostname": "host-1", "reservation_id": reservation_id},
                {"hypervisor_hostname": "host-2", "reservation_id": reservation_id},
            ]
        }


def test_deleted_leases_and_their_history_are_shown_on_request(member: Client) -> None:
    client = member.at("1.4")
    lease_id = (client.post("/v1/leases", lease(**DATES)).json or {})["lease"]["id"]
    client.delete(f"/v1/leases/{lease_id}")
    assert client.get(f"/v1/leases/{lease_id}").status_code == 404
    assert client.get(f"/v1/leases/{lease_id}?deleted=true").status_code == 200
    assert (client.get("/v1/leases").json or {})["leases"] == []
    assert len((client.get("/v1/leases?deleted=true").json or {})["leases"]) == 1
    assert client.get(f"/v1/leases/{lease_id}/history").json == {
        "history": [{"time": "2030-01-31T12:00:30Z", "from": "new", "to": "cancelled", "reason": "because"}] * 3
    }


def test_entries_of_the_history_have_the_numbers_of_events(member: Client) -> None:
    lease_id = (member.at("1.47").post("/v1/leases", lease(**DATES)).json or {})["lease"]["id"]
    for version, numbers in (("1.46", [None] * 3), ("1.47", [7, 8, 9])):
        found = member.at(version).get(f"/v1/leases/{lease_id}/history").json or {}
        assert [each.get("sequence") for each in found["history"]] == numbers


def test_who_asked_for_it_is_in_the_history(member: Client, admin: Client) -> None:
    """A project learns that an operator did something, and not which one."""
    client = member.at("1.37")
    lease_id = (client.post("/v1/leases", lease(**DATES)).json or {})["lease"]["id"]

    def shown(caller: Client) -> list[tuple[object, ...]]:
        found = caller.at("1.37").get(f"/v1/leases/{lease_id}/history").json or {}
        return [(each["user_id"], each["project_id"], each["by_operator"]) for each in found["history"]]

    (own, *others) = shown(client)
    assert own[::2] == ("ada", False)
    assert own[1] is not None
    assert others == [(None, None, True), (None, None, False)]
    assert shown(admin) == [own, ("root", "operators", True), (None, None, False)]


def test_a_lease_shows_since_when_it_is_idle(member: Client, site: Site) -> None:
    made = member.at("latest").post("/v1/leases", {"name": "x", "kind": "best-effort", "nodes": NODES})
    path = f"/v1/leases/{made.get_json()['lease']['id']}"
    assert member.at("1.21").get(path).get_json()["lease"]["idle_since"] is None
    site.views[made.get_json()["lease"]["id"]]["idle_since"] = 3_600
    assert member.at("1.21").get(path).get_json()["lease"]["idle_since"] == "1970-01-01T01:00:00Z"
    assert "idle_since" not in member.at("1.20").get(path).get_json()["lease"]


def test_a_fluid_lease_shows_its_yield_virtual_time_and_stretch(member: Client, site: Site) -> None:
    """At present, and at its end; null before it has run."""
    asked = {"name": "x", "kind": "best-effort", "nodes": NODES, "min_yield": 0.25}
    made = member.at("latest").post("/v1/leases", asked).get_json()["lease"]
    names = ("min_yield", "yield", "virtual_time", "stretch")
    assert [made[name] for name in names] == [0.25, None, None, None]
    view = site.views[made["id"]]
    view |= {"submitted": NOW - 400, "progress": Progress(50_000, 500, NOW - 100)}

    def shown(version: str = "1.34") -> dict[str, Any]:
        found: dict[str, Any] = member.at(version).get(f"/v1/leases/{made['id']}").get_json()["lease"]
        return found

    assert [shown()[name] for name in names] == [0.25, 0.5, 100, 4]
    view |= {"ended": NOW - 50, "progress": Progress(50_000, 0, NOW - 50)}
    assert [shown()[name] for name in names] == [0.25, 0, 50, 7]
    assert not set(names) & shown("1.33").keys()


def test_a_lease_without_end_says_so(member: Client, site: Site) -> None:
    """The planner's internal end is not shown; Blazar's clients know only leases with an end."""
    made = member.at("latest").post("/v1/leases", {"name": "x", "kind": "best-effort", "nodes": NODES})
    lease_id = made.get_json()["lease"]["id"]
    holding = {"start": 0, "run_start": 0, "closing": "shutdown", "hosts": ["1"]}
    until = {**holding, "run_end": UNLIMITED, "end": UNLIMITED}
    put_away = {**holding, "run_end": 3_600, "end": 3_700, "closing": "suspend"}
    site.views[lease_id] |= {"state": "active", "start": 0, "end": UNLIMITED, "holdings": [put_away, until]}
    shown = member.at("latest").get(f"/v1/leases/{lease_id}").get_json()["lease"]
    assert (shown["duration"], shown["end_date"]) == (None, None)
    assert [(each["run_end"], each["end"]) for each in shown["holdings"]] == [
        ("1970-01-01T01:00:00Z", "1970-01-01T01:01:40Z"),
        (None, None),
    ]
    assert member.at("1.0").get(f"/v1/leases/{lease_id}").get_json()["lease"]["end_date"].startswith("2069-")
    site.views[lease_id] |= {"state": "done", "end": 7_200, "ended": 7_200}
    over = member.at("latest").get(f"/v1/leases/{lease_id}").get_json()["lease"]
    assert over["end_date"] == "1970-01-01T02:00:00.000000"
