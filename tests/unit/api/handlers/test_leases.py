"""Leases as Blazar's clients know them."""

from __future__ import annotations

from typing import Any

import pytest
from flask import Flask

from lease_scheduler.api.interfaces import EngineUnavailableError, RefusedError
from tests.unit.api.conftest import Client
from tests.unit.api.fakes import HOUR, MINUTE, NOW, FixedClock, Site

DATES = {"start_date": "2030-02-01 00:00", "end_date": "2030-02-02 00:00"}
HOSTS = {
    "resource_type": "physical:host",
    "min": 1,
    "max": 2,
    "hypervisor_properties": "[]",
    "resource_properties": '["==", "$gpu", "yes"]',
}
INSTANCES = {
    "resource_type": "virtual:instance",
    "vcpus": 2,
    "memory_mb": 2048,
    "disk_gb": 0,
    "amount": 3,
    "affinity": "None",
    "resource_properties": "",
}
FLAVOR = {"resource_type": "flavor:instance", "flavor_id": "m1", "amount": 1, "affinity": None}
ADDRESSES = {"resource_type": "virtual:floatingip", "network_id": "net", "amount": 2}


def body(*reservations: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"name": "mine", **DATES, "reservations": list(reservations), "events": [], **more}


def made(client: Client, *reservations: dict[str, Any], **more: Any) -> dict[str, Any]:
    answer = client.post("/v1/leases", body(*reservations, **more))
    assert answer.status_code == 201, answer.json
    lease: dict[str, Any] = answer.json["lease"]  # type: ignore[index]
    return lease


def refused(answer: Any) -> tuple[int, str]:
    assert answer.json["error_code"] == answer.json["error_name"] == answer.status_code
    return answer.status_code, answer.json["error_message"]


def test_what_the_client_sends_becomes_a_lease(member: Client, site: Site) -> None:
    lease = made(member, HOSTS, INSTANCES, ADDRESSES, before_end_date=None)
    assert lease["status"] == "PENDING"
    assert lease["start_date"] == "2030-02-01T00:00:00.000000"
    assert lease["end_date"] == "2030-02-02T00:00:00.000000"
    assert lease["created_at"] == "2030-01-31 12:00:30"
    assert lease["updated_at"] is None
    assert (lease["user_id"], lease["project_id"], lease["degraded"]) == ("eve", "red", False)
    assert [event["event_type"] for event in lease["events"]] == ["start_lease", "end_lease"]
    hosts, instances, addresses = lease["reservations"]
    assert (hosts["min"], hosts["max"], hosts["before_end"], hosts["lease_id"]) == (1, 2, "default", lease["id"])
    assert (instances["affinity"], instances["flavor_id"], instances["server_group_id"]) == (
        None,
        instances["id"],
        None,
    )
    assert addresses["required_floatingips"] == []
    ((_, context, document),) = site.calls
    assert context == {
        "user_id": "eve",
        "project_id": "red",
        "roles": ["member", "reader"],
        "is_admin": False,
        "sees_site": False,
        "origin": None,
        "request_id": context["request_id"],
    }
    assert (document["kind"], document["start"], document["end"]) == ("reservation", 1_896_134_400, 1_896_220_800)
    assert (document["duration"], document["deadline"], document["before_end"]) == (None, None, None)
    assert document["reservations"][1]["affinity"] is None


def test_a_lease_without_reservations_is_accepted(member: Client) -> None:
    assert member.post("/v1/leases", {"name": "empty", **DATES}).status_code == 201


def test_now_is_the_present_minute(member: Client, site: Site) -> None:
    made(member, start_date="now")
    assert site.calls[-1][2]["start"] == MINUTE


def test_a_lease_is_listed_shown_and_deleted(member: Client, site: Site) -> None:
    lease = made(member, HOSTS)
    assert member.get("/v1/leases").json == {"leases": [lease]}
    assert member.get(f"/v1/leases/{lease['id']}").json == {"lease": lease}
    answer = member.delete(f"/v1/leases/{lease['id']}")
    assert (answer.status_code, answer.data) == (204, b"")
    assert member.get("/v1/leases").json == {"leases": []}
    assert refused(member.get(f"/v1/leases/{lease['id']}")) == (
        404,
        f"Object with {{'lease_id': '{lease['id']}'}} not found",
    )
    assert site.calls[-1][0] == "delete_lease"


def test_every_route_is_also_there_with_the_suffix_json(member: Client) -> None:
    lease_id = made(member)["id"]
    assert member.get("/v1/leases.json").json["leases"][0]["id"] == lease_id  # type: ignore[index]
    assert member.get(f"/v1/leases/{lease_id}.json").status_code == 200
    assert member.delete(f"/v1/leases/{lease_id}.json").status_code == 204


def test_leases_of_other_projects_are_hidden_and_refused(app: Flask, member: Client) -> None:
    lease_id = made(member)["id"]
    stranger = Client(app, roles="member", project="blue")
    assert stranger.get("/v1/leases").json == {"leases": []}
    for method in ("GET", "DELETE"):
        answer = stranger.send(method, f"/v1/leases/{lease_id}")
        assert answer.status_code == 403
        assert "Policy doesn't allow reservation:leases:" in answer.json["error_message"]  # type: ignore[index]
    assert stranger.put(f"/v1/leases/{lease_id}", {"name": "stolen"}).status_code == 403
    administrator = Client(app, roles="admin", project="blue")
    assert len(administrator.get("/v1/leases").json["leases"]) == 1  # type: ignore[index]
    assert administrator.put(f"/v1/leases/{lease_id}", {"name": "ours"}).status_code == 200


@pytest.mark.parametrize(
    ("sent", "code", "message"),
    [
        ({"start_date": "now"}, 400, "Missing parameter name, end_date"),
        ({"name": "a", "start_date": "now"}, 400, "Missing parameter end_date"),
        (
            {"name": "a", **DATES, "reservations": [{"min": 1}]},
            400,
            "Missing parameter resource_type in reservations[0]",
        ),
        # Errors in dates are reported before errors inside a reservation, but after an unknown type of it.
        (
            body({**HOSTS, "min": "x"}, start_date="Bogus-date 13:13"),
            400,
            "Bogus-date 13:13 is an invalid date. Required format: %Y-%m-%d %H:%M",
        ),
        (body({"min": 1}, start_date="Bogus-date 13:13"), 400, "Missing parameter resource_type in reservations[0]"),
        (
            body(end_date="2030-02-02"),
            400,
            "2030-02-02 is an invalid date. Required format: %Y-%m-%d %H:%M",
        ),
        (body(end_date="2030-02-01T00:00:00+00:00"), 400, "is an invalid date"),
        (body(start_date="2030-01-31 11:59"), 400, "Start date must be later than current date"),
        (body(end_date="2030-02-01 00:00"), 400, "End date must be later than start date."),
        (body(start_date="2030-01-31 11:59", end_date="bogus"), 400, "bogus is an invalid date"),
        (body(before_end_date="2030-02-02 00:00"), 403, "Datetime is out of lease limits"),
        (body(before_end_date="2030-02-01 00:00"), 403, "Datetime is out of lease limits"),
        (body(before_end_date="soon"), 400, "soon is an invalid date"),
        (body({**HOSTS, "resource_type": "moon"}), 400, "The moon resource type is not supported"),
        (body({**HOSTS, "resource_type": 3}), 400, "The 3 resource type is not supported"),
        (
            body({**HOSTS, "min": 3}),
            400,
            "Invalid values for min/max of hosts. Max must be equal to or larger than min.",
        ),
        (body({**HOSTS, "min": "one"}), 400, 'reservations[0].min: must be an integer, not "one"'),
        (body({**HOSTS, "max": 1.5}), 400, "reservations[0].max: must be an integer, not 1.5"),
        (body({**HOSTS, "max": True}), 400, "reservations[0].max: must be an integer, not true"),
        (body({**HOSTS, "min": 0}), 400, "reservations[0].min: must be at least 1, not 0"),
        (body({**HOSTS, "max": 10**30}), 400, "reservations[0].max: must be at most 100000"),
        (
            body({key: HOSTS[key] for key in HOSTS if key not in ("min", "max")}),
            400,
            "Missing parameter min, max in reservations[0]",
        ),
        (
            body({**HOSTS, "before_end": "email"}),
            400,
            'reservations[0].before_end: must be one of "", "default", "snap',
        ),
        (body({**HOSTS, "vcpus": 1}), 400, "reservations[0].vcpus: is not a known key; known are before_end, hyper"),
        (body({**HOSTS, "mim": 1}), 400, "reservations[0].mim: is not a known key; perhaps min is meant"),
        (
            body({**HOSTS, "resource_properties": '["==", "$a", true]'}),
            400,
            'Malformed requirements ["==", "$a", true]: ',
        ),
        (body({**HOSTS, "hypervisor_properties": "gpu"}), 400, "Malformed requirements gpu: not valid JSON"),
        (body({**INSTANCES, "affinity": "perhaps"}), 400, "reservations[0].affinity: must be true, false or null"),
        (body({**FLAVOR, "affinity": True}), 409, "reservations[0].affinity: a flavor:instance reservation has none"),
        (
            body({**ADDRESSES, "required_floatingips": ["10.0.0.1", "10.0.0.2", "10.0.0.3"]}),
            400,
            "reservations[0].required_floatingips: must have at most amount = 2 addresses",
        ),
        (body({**ADDRESSES, "required_floatingips": ["10.0.0"]}), 400, "IP address 10.0.0 is invalid"),
        (body({**ADDRESSES, "required_floatingips": ["10.0.0.1"] * 2}), 400, "must not hold an address twice"),
        (body(5), 400, "reservations[0]: must be a JSON object, not 5"),  # type: ignore[arg-type]
        (body(reservations={}), 400, "reservations: must be a JSON array, not {}"),
        (body(name=""), 400, "name: must have 1 to 255 characters, not 0"),
        (body(name=None), 400, "name: must be a text, not null"),
        (body(project_id="blue"), 400, "project_id: is not a known key"),
        (body(degraded=True), 400, "degraded: is not a known key"),
        (body(kind="best-effort"), 400, "kind: needs the header OpenStack-API-Version: reservation 1.2"),
        ([], 400, "body: must be a JSON object, not []"),
    ],
)
def test_a_wrong_lease_is_refused(member: Client, site: Site, sent: Any, code: int, message: str) -> None:
    answer = member.post("/v1/leases", sent)
    assert refused(answer)[0] == code
    assert message in refused(answer)[1]
    assert set(answer.json or {}) == {"error_code", "error_message", "error_name"}
    assert site.calls == []


def test_the_field_is_named_from_1_1_on(member: Client) -> None:
    answer = member.at("1.1").post("/v1/leases", body({**HOSTS, "min": "x"}))
    assert (answer.json or {})["field"] == "reservations[0].min"


@pytest.mark.parametrize("affinity", [True, "True", "true", "TRUE"])
def test_affinity_may_be_text(member: Client, site: Site, affinity: Any) -> None:
    made(member, {**INSTANCES, "affinity": affinity})
    assert site.calls[-1][2]["reservations"][0]["affinity"] is True


def test_the_body_that_warre_sends_is_accepted(member: Client, site: Site) -> None:
    """NeCTAR's Warre books with the keys that NeCTAR's Blazar takes beside those of Blazar."""
    sent = {**INSTANCES, "ephemeral_gb": 0, "extra_specs": {}, "affinity": None}
    made(member, sent)
    assert site.calls[-1][2]["reservations"][0] | sent == site.calls[-1][2]["reservations"][0]
    made(member, {**sent, "ephemeral_gb": None, "extra_specs": None})
    assert site.calls[-1][2]["reservations"][0] | sent == site.calls[-1][2]["reservations"][0]
    asked = {"ephemeral_gb": 20, "extra_specs": {"resources:VGPU": 1, "trait:HW_CPU_X86_AVX2": "required"}}
    made(member, {**sent, **asked})
    assert site.calls[-1][2]["reservations"][0] | asked == site.calls[-1][2]["reservations"][0]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"ephemeral_gb": -1}, "reservations[0].ephemeral_gb: must be at least 0, not -1"),
        ({"extra_specs": {"hw:cpu_policy": "dedicated"}}, "Extra specs of a request are resources:CLASS"),
        ({"extra_specs": {"aggregate_instance_extra_specs:reservation": "x"}}, "Extra specs of a request"),
        ({"extra_specs": {"trait:HW": True}}, "reservations[0].extra_specs.trait:HW"),
    ],
)
def test_extra_specs_for_operators_are_refused(
    member: Client, site: Site, change: dict[str, Any], message: str
) -> None:
    answer = member.post("/v1/leases", body({**INSTANCES, **change}))
    assert refused(answer)[0] == 400
    assert message in refused(answer)[1]
    assert site.calls == []


def test_a_flavor_reservation_shows_the_flavor_of_the_reservation(member: Client, site: Site) -> None:
    lease = made(member, {**FLAVOR, "resource_properties": '["==", "$anything", "goes"]'})
    assert lease["reservations"][0]["flavor_id"] == lease["reservations"][0]["id"]
    assert site.calls[-1][2]["reservations"][0]["flavor_id"] == "m1"


def test_too_few_hosts_are_a_conflict_with_alternatives(member: Client, site: Site) -> None:
    alternative = {"change": "start", "start": NOW, "end": NOW + HOUR, "count": 2}
    site.refusal = RefusedError(409, "Not enough hosts available", "start_date", [alternative])
    assert refused(member.post("/v1/leases", body(HOSTS))) == (409, "Not enough hosts available")
    site.refusal = RefusedError(409, "Not enough hosts available", "start_date", [alternative])
    answer = member.at("1.1").post("/v1/leases", body(HOSTS)).json or {}
    assert answer["field"] == "start_date"
    assert answer["alternatives"] == [
        {"change": "start", "start": "2030-01-31T12:00:30Z", "end": "2030-01-31T13:00:30Z", "count": 2}
    ]


def test_without_an_engine_the_answer_is_503(member: Client, site: Site) -> None:
    site.refusal = EngineUnavailableError()
    answer = member.post("/v1/leases", body(HOSTS))
    assert answer.status_code == 503
    assert answer.headers["Retry-After"] == "5"


class TestUpdate:
    @pytest.fixture
    def lease(self, member: Client) -> dict[str, Any]:
        return made(member, HOSTS, INSTANCES)

    @pytest.fixture
    def path(self, lease: dict[str, Any]) -> str:
        return f"/v1/leases/{lease['id']}"

    @staticmethod
    def start(site: Site, lease: dict[str, Any], at: int) -> None:
        site.views[lease["id"]].update(state="active", start=at, started=at)

    def test_a_lease_is_renamed(self, member: Client, site: Site, path: str) -> None:
        answer = member.put(path, {"name": "yours"})
        assert (answer.json or {})["lease"]["name"] == "yours"
        assert site.calls[-1][3] == {"name": "yours"}

    def test_an_empty_change_does_not_reach_the_engine(self, member: Client, site: Site, path: str) -> None:
        assert member.put(path, {}).status_code == 200
        assert len(site.calls) == 1

    def test_dates_are_changed(self, member: Client, site: Site, path: str) -> None:
        sent = {"start_date": "2030-02-01 01:00", "end_date": "2030-02-03 00:00", "before_end_date": "2030-02-02 23:00"}
        answer = member.put(path, sent)
        assert (answer.json or {})["lease"]["end_date"] == "2030-02-03T00:00:00.000000"
        assert site.calls[-1][3] == {"start": 1_896_138_000, "end": 1_896_307_200, "before_end": 1_896_303_600}

    def test_a_change_of_a_reservation_has_only_what_differs(
        self, member: Client, site: Site, path: str, lease: dict[str, Any]
    ) -> None:
        hosts, instances = lease["reservations"]
        sent = {"reservations": [{"id": hosts["id"], "max": 5, "resource_type": "physical:host"}]}
        assert (member.put(path, sent).json or {})["lease"]["reservations"][0]["max"] == 5
        assert site.calls[-1][3] == {"reservations": [{"id": hosts["id"], "max": 5}]}
        sent = {"reservations": [{"id": instances["id"], "amount": 4, "affinity": "False"}]}
        assert member.put(path, sent).status_code == 200
        assert site.calls[-1][3] == {"reservations": [{"id": instances["id"], "amount": 4, "affinity": False}]}

    @pytest.mark.parametrize(
        ("change", "code", "message"),
        [
            ({"max": 1}, 400, "Missing parameter id in reservations[0]"),
            ({"id": "other"}, 400, "reservations[0].id: there is no reservation other in this lease"),
            ({"id": 0, "resource_type": "virtual:instance"}, 409, "Can't update resource_type"),
            ({"id": 0, "min": 3}, 400, "Max must be equal to or larger than min."),
            ({"id": 0, "amount": 3}, 400, "reservations[0].amount: a physical:host has before_end, hypervisor_prop"),
            ({"id": 0, "resource_properties": "x"}, 400, "Malformed requirements x"),
            ({"id": 0, "state": "active"}, 400, "reservations[0].state: is not a known key"),
            ({"id": 1, "affinity": 3}, 400, "reservations[0].affinity: must be true, false or null"),
        ],
    )
    def test_a_wrong_change_of_a_reservation_is_refused(
        self,
        member: Client,
        site: Site,
        path: str,
        lease: dict[str, Any],
        change: dict[str, Any],
        code: int,
        message: str,
    ) -> None:
        if isinstance(change.get("id"), int):
            change = {**change, "id": lease["reservations"][change["id"]]["id"]}
        answer = member.put(path, {"reservations": [change]})
        assert refused(answer)[0] == code
        assert message in refused(answer)[1]
        assert len(site.calls) == 1

    def test_a_flavor_reservation_cannot_be_changed(self, member: Client) -> None:
        lease = made(member, FLAVOR)
        sent = {"reservations": [{"id": lease["reservations"][0]["id"], "amount": 2}]}
        assert member.put(f"/v1/leases/{lease['id']}", sent).status_code == 409

    def test_a_started_lease_keeps_its_start(
        self, member: Client, site: Site, path: str, lease: dict[str, Any]
    ) -> None:
        self.start(site, lease, NOW - HOUR)
        assert refused(member.put(path, {"start_date": "2030-02-01 01:00"})) == (
            400,
            "Cannot modify the start date of already started leases",
        )
        # Clients send the start along, in minutes.
        assert member.put(path, {"start_date": "2030-01-31 11:00", "end_date": "2030-02-05 00:00"}).status_code == 200
        assert site.calls[-1][3] == {"end": 1_896_480_000}

    @pytest.mark.parametrize(
        ("sent", "message"),
        [
            ({"start_date": "2030-01-31 11:00"}, "Start date must be later than current date"),
            ({"end_date": "2030-01-31 11:00"}, "End date must be later than current and start date"),
            ({"end_date": "2030-01-31 23:59"}, "End date must be later than current and start date"),
            ({"start_date": "2030-03-01 00:00"}, "End date must be later than current and start date"),
            ({"end_date": "bogus"}, "bogus is an invalid date. Required format: %Y-%m-%d %H:%M"),
            ({"project_id": "blue"}, "project_id: is not a known key"),
            ({"name": 3}, "name: must be a text, not 3"),
        ],
    )
    def test_a_wrong_change_is_refused(
        self, member: Client, site: Site, path: str, sent: dict[str, Any], message: str
    ) -> None:
        answer = member.put(path, sent)
        assert refused(answer)[0] == 400
        assert message in refused(answer)[1]
        assert len(site.calls) == 1

    def test_before_end_must_be_within_the_lease(self, member: Client, path: str) -> None:
        assert refused(member.put(path, {"before_end_date": "2030-02-09 00:00"})) == (
            403,
            "Datetime is out of lease limits",
        )

    def test_an_end_in_the_present_minute_ends_a_lease(
        self, member: Client, site: Site, path: str, lease: dict[str, Any]
    ) -> None:
        self.start(site, lease, NOW - HOUR)
        answer = member.put(path, {"end_date": "2030-01-31 12:00", "name": "over"})
        assert (answer.json or {})["lease"]["status"] == "TERMINATED"
        assert [call[0] for call in site.calls[1:]] == ["update_lease", "end_lease"]
        assert site.calls[1][3] == {"name": "over"}

    def test_a_terminated_lease_can_only_be_renamed(
        self, member: Client, site: Site, path: str, lease: dict[str, Any], clock: FixedClock
    ) -> None:
        site.views[lease["id"]].update(state="done", started=NOW, ended=NOW + HOUR, end=NOW + HOUR)
        clock.instant = NOW + 2 * HOUR
        assert refused(member.put(path, {"end_date": "2030-02-09 00:00"})) == (
            400,
            "Terminated leases can only be renamed",
        )
        assert member.put(path, {"name": "old"}).status_code == 200


@pytest.mark.parametrize(
    ("state", "operation", "started", "expected"),
    [
        ("scheduled", None, None, "PENDING"),
        ("queued", None, None, "PENDING"),
        ("preparing", None, None, "PENDING"),
        ("ready", "start", None, "STARTING"),
        ("active", None, NOW, "ACTIVE"),
        ("suspending", "suspend", NOW, "ACTIVE"),
        ("suspended-queued", None, NOW, "ACTIVE"),
        ("resuming", "resume", NOW, "ACTIVE"),
        ("queued", None, NOW, "PENDING"),
        ("active", "stop", NOW, "TERMINATING"),
        ("done", None, NOW, "TERMINATED"),
        ("cancelled", None, NOW, "TERMINATED"),
        ("failed", None, NOW, "ERROR"),
        ("rejected", None, None, "ERROR"),
    ],
)
def test_states_are_shown_as_statuses_of_blazar(
    member: Client, site: Site, state: str, operation: str | None, started: int | None, expected: str
) -> None:
    lease = made(member, HOSTS)
    site.views[lease["id"]].update(state=state, operation=operation, started=started)
    assert (member.get(f"/v1/leases/{lease['id']}").json or {})["lease"]["status"] == expected
    found = member.at("1.1").get(f"/v1/leases?status={expected}").json or {}
    assert [each["id"] for each in found["leases"]] == [lease["id"]]
    others = {"PENDING", "STARTING", "ACTIVE", "TERMINATING", "TERMINATED", "ERROR"} - {expected}
    for other in others:
        assert (member.at("1.1").get(f"/v1/leases?status={other}").json or {})["leases"] == []
