"""What all requests have in common: versions, bodies, errors."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from io import BytesIO
from typing import Any

import pytest
from flask import Flask

from lease_scheduler.api.microversions import HISTORY, MAXIMUM
from lease_scheduler.api.request import Route
from lease_scheduler.api.routes import ROUTES
from lease_scheduler.api.settings import ApiSettings
from tests.unit.api.conftest import Build, Client
from tests.unit.api.fakes import Site
from tests.unit.api.handlers.test_leases import DATES, HOSTS, INSTANCES, body, made

JSON = {"Content-Type": "application/json"}


@pytest.mark.parametrize("path", ["/", "/versions"])
def test_the_versions_are_listed_with_300(member: Client, path: str) -> None:
    answer = member.get(path)
    assert answer.status_code == 300
    assert answer.json == {
        "versions": [
            {
                "id": "v1.0",
                "status": "CURRENT",
                "min_version": "1.0",
                "max_version": str(MAXIMUM),
                "links": [{"href": "http://localhost/v1", "rel": "self"}],
            }
        ]
    }


@pytest.mark.parametrize("path", ["/v1", "/v1/"])
def test_the_version_is_shown(member: Client, path: str) -> None:
    assert (member.get(path).json or {})["version"]["id"] == "v1.0"


def test_links_have_the_path_at_which_the_service_is_mounted(app: Flask) -> None:
    answer = app.test_client().get("/versions", base_url="https://cloud.example/reservation")
    assert (answer.json or {})["versions"][0]["links"][0]["href"] == "https://cloud.example/reservation/v1"


class TestMicroversions:
    @pytest.mark.parametrize(
        ("header", "code", "served"),
        [
            (None, 200, "1.0"),
            ("reservation 1.0", 200, "1.0"),
            ("reservation 1.1", 200, "1.1"),
            ("reservation latest", 200, str(MAXIMUM)),
            ("compute 2.90, reservation 1.2", 200, "1.2"),
            ("compute 2.90", 200, "1.0"),
            ("reservation 1.99", 406, "1.0"),
            ("reservation 2.0", 406, "1.0"),
            ("reservation x", 400, "1.0"),
            ("reservation 1.1.1", 400, "1.0"),
        ],
    )
    def test_the_requested_microversion_is_served(self, app: Flask, header: str | None, code: int, served: str) -> None:
        headers = {} if header is None else {"OpenStack-API-Version": header}
        answer = app.test_client().get("/v1/leases", headers=headers)
        assert answer.status_code == code
        assert answer.headers["OpenStack-API-Version"] == f"reservation {served}"
        assert "OpenStack-API-Version" in answer.headers["Vary"]
        if code != 200:
            assert (answer.json or {})["error"] == code

    @pytest.mark.parametrize("route", [route for route in ROUTES if str(route.since) != "1.0"], ids=lambda r: r.name)
    def test_a_route_is_404_before_its_microversion(self, app: Flask, route: Route) -> None:
        before = f"1.{route.since.minor - 1}"
        path = route.path.format(
            lease_id="x",
            series_id="x",
            subscription_id="x",
            feed_id="x",
            flow="x",
            host_id="x",
            peer="x",
            request_id="x",
            site="x",
        )
        answer = Client(app, before).send(route.method, path)
        assert answer.status_code == 404
        assert (answer.json or {})["error"] == 404

    def test_the_history_has_no_gap(self) -> None:
        assert list(HISTORY) == [f"1.{minor}" for minor in range(MAXIMUM.minor + 1)]


class TestFrameworkErrors:
    @pytest.mark.parametrize(
        ("method", "path", "code"),
        [
            ("GET", "/v1/nothing", 404),
            ("GET", "/v1/plugins", 404),
            ("GET", "/nothing", 404),
            ("GET", "//v1/leases", 404),
            ("GET", "/v1/leases/", 404),
            ("PATCH", "/v1/leases", 405),
            ("POST", "/v1/leases/x", 405),
            ("OPTIONS", "/v1/nothing", 404),
        ],
    )
    def test_framework_errors_have_their_own_form(self, member: Client, method: str, path: str, code: int) -> None:
        answer = member.send(method, path)
        assert answer.status_code == code
        assert set(answer.json or {}) == {"error", "error_message"}
        assert ("Allow" in answer.headers) is (code == 405)


class TestOptions:
    @pytest.mark.parametrize("path", sorted({route.path for route in ROUTES}))
    def test_options_lists_the_methods_of_the_path(self, app: Flask, path: str) -> None:
        methods = {route.method for route in ROUTES if route.path == path}
        names = (
            *("lease_id", "series_id", "subscription_id", "host_id", "property_name", "floatingip_id"),
            *("feed_id", "secret", "flow", "peer", "request_id", "site"),
        )
        there = path.format(**dict.fromkeys(names, "x"))
        answer = app.test_client().options(there, headers={"OpenStack-API-Version": "reservation latest"})
        assert (answer.status_code, answer.data) == (204, b"")
        also = {"OPTIONS", "HEAD"} if "GET" in methods else {"OPTIONS"}
        assert answer.headers["Allow"].split(", ") == sorted(methods | also)

    def test_options_lists_only_methods_of_the_microversion(self, app: Flask) -> None:
        client = app.test_client()
        assert client.options("/v1/series").status_code == 404
        assert client.options("/v1/leases.json").headers["Allow"] == "GET, HEAD, OPTIONS, POST"

    def test_other_methods_are_answered_with_405_and_the_same_list(self, app: Flask) -> None:
        """Every other method is answered with 405, which lists the same allowed methods."""
        refused = app.test_client().patch("/v1/leases")
        assert refused.status_code == 405
        assert set(refused.headers["Allow"].split(", ")) == {"GET", "HEAD", "OPTIONS", "POST"}


_RESERVED = {"kind": "reservation", "start_date": "2030-02-01 12:00", "duration": "1h", "nodes": [{"count": 1}]}
_SERVER = {"image_id": "tiny", "count": 1}
#: Requests with one name each, and where the name stands.
_NAMED = [
    ("POST", "/v1/leases", "name", lambda name: {**body(HOSTS), "name": name}),
    ("PUT", "/v1/leases/{lease_id}", "name", lambda name: {"name": name}),
    ("POST", "/v1/series", "name", lambda name: {"rule": "X", "lease": {**_RESERVED, "name": "a"}, "name": name}),
    ("POST", "/v1/series", "lease.name", lambda name: {"rule": "X", "lease": {**_RESERVED, "name": name}}),
    (
        "POST",
        "/v1/leases",
        "servers[0].name",
        lambda name: {**_RESERVED, "name": "a", "servers": [{"name": name, **_SERVER}]},
    ),
    ("POST", "/v1/maintenances", "name", lambda name: {"start_date": "2030-02-01 12:00", "hosts": ["a"], "name": name}),
    ("POST", "/v1/os-hosts", "", lambda name: {"name": "compute-1", name: "yes"}),
]


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        (" ", "blank"),
        ("\t", "control"),
        ("\u00a0\u2003", "blank"),
        ("\u200b\ufeff", "blank"),
        ("\u3164", "blank"),
        ("\u2800", "blank"),
        ("a\u202eb", "direction"),
        ("a\u2066b", "direction"),
        ("a\x1b[31mb", "control"),
        ("a\nb", "control"),
    ],
)
@pytest.mark.parametrize(("method", "path", "field", "ask"), _NAMED, ids=[f"{each[1]} {each[2]}" for each in _NAMED])
def test_unreadable_names_are_refused(
    admin: Client, site: Site, method: str, path: str, field: str, ask: Callable[[str], Any], name: str, problem: str
) -> None:
    latest = admin.at("latest")
    if "{" in path:
        path = path.format(lease_id=made(admin, HOSTS)["id"])
        site.calls.clear()
    answer = latest.send(method, path, ask(name))
    message = (answer.json or {})["error_message"]
    assert (answer.status_code, message.startswith(field), problem in message) == (400, True, True), message
    assert site.calls == []


@pytest.mark.parametrize("name", ["a b", "Prüfung", "مرحبا", "שלום", "日本語", "👩\u200d🔬", "-", "x" * 255])
def test_names_in_all_scripts_are_accepted(member: Client, name: str) -> None:
    answer = member.post("/v1/leases", {**body(HOSTS), "name": name})
    assert (answer.status_code, (answer.json or {}).get("error_message")) == (201, None)


@pytest.mark.parametrize(
    ("accept", "code"),
    [
        ("application/json", 200),
        ("*/*", 200),
        ("text/html, */*;q=0.8", 200),
        ("application/*", 200),
        ("text/html", 406),
        ("application/xml", 406),
    ],
)
def test_an_accept_header_that_rules_json_out_is_refused(member: Client, accept: str, code: int) -> None:
    answer = member.get("/v1/leases", headers={"Accept": accept})
    assert answer.status_code == code
    if code == 406:
        assert "Accept: " in (answer.json or {})["error_message"]


@pytest.mark.parametrize("encoding", ["gzip", "br", "identity, gzip"])
def test_compressed_bodies_are_refused(member: Client, site: Site, encoding: str) -> None:
    answer = member.post("/v1/leases", body(HOSTS), headers={"Content-Encoding": encoding})
    assert (answer.status_code, site.calls) == (415, [])
    assert "Content-Encoding: " in (answer.json or {})["error_message"]
    assert member.post("/v1/leases", body(HOSTS), headers={"Content-Encoding": "identity"}).status_code == 201


def test_a_change_with_an_etag_is_refused(member: Client, site: Site) -> None:
    lease = made(member, HOSTS)
    path = f"/v1/leases/{lease['id']}"
    for method, sent in (("PUT", {"name": "x"}), ("DELETE", None)):
        answer = member.send(method, path, sent, headers={"If-Match": '"abc"'})
        assert (answer.status_code, len(site.calls)) == (412, 1)
        assert "send its version" in (answer.json or {})["error_message"]
    assert member.put(path, {"name": "x"}, headers={"If-Match": "*"}).status_code == 200


def deep(depth: int) -> bytes:
    return b'{"name":' + b"[" * depth + b"]" * depth + b"}"


@pytest.mark.parametrize(
    ("data", "headers", "message"),
    [
        (b"", JSON, "The body is missing"),
        (b" \n", JSON, "The body is missing"),
        (b"{}", {"Content-Type": "text/plain"}, "Content-Type: must be application/json, not text/plain"),
        (b"{}", {}, "Content-Type: must be application/json, not missing"),
        (b"{", JSON, "The body is not JSON: "),
        (b'{"name": NaN}', JSON, "The body is not JSON: NaN is not a JSON number"),
        (b'{"name": 1e999}', JSON, "The body is not JSON: 1e999 is too large"),
        (b'{"name": ' + b"9" * 5_000 + b"}", JSON, "The body is not JSON: "),
        (b'{"name": "a", "name": "b"}', JSON, "The body is not JSON: the key 'name' is there twice"),
        (b'{"name": "\xff"}', JSON, "The body is not UTF-8: byte 10"),
        (b'{"name": "\\u0000"}', JSON, "name: must not hold NUL characters or lone surrogates"),
        (b'{"reservations": [{"resource_type": "\\ud800"}]}', JSON, "reservations[0].resource_type: must not hold NUL"),
        (b'{"a\\u0000b": 1}', JSON, "a\\x00b: must not hold NUL characters"),
        (deep(40), JSON, "nested deeper than 32"),
        (deep(200_000), JSON, "body: nested deeper than 32"),
        (b"null", JSON, "body: must be a JSON object, not null"),
        (b"3", JSON, "body: must be a JSON object, not 3"),
        (b'"text"', JSON, 'body: must be a JSON object, not "text"'),
        (json.dumps({"name": "a", **DATES, "k" * 10_000: 1}).encode(), JSON, "kkkk"),
        (json.dumps({**DATES, "name": ["x" * 10_000]}).encode(), JSON, 'name: must be a text, not ["xxx'),
    ],
)
def test_invalid_bodies_are_refused(
    member: Client, site: Site, data: bytes, headers: dict[str, str], message: str
) -> None:
    answer = member.send("POST", "/v1/leases", headers=headers, data=data)
    assert answer.status_code == 400
    text = (answer.json or {})["error_message"]
    assert message in text
    assert len(text) <= 1_100
    assert site.calls == []


def test_a_body_that_is_too_large_is_refused(member: Client) -> None:
    for size in (1_048_577, 10_000_000):
        answer = member.send("POST", "/v1/leases", headers=JSON, data=b" " * size)
        assert answer.status_code == 413
        assert "1048576 bytes" in (answer.json or {})["error_message"]


def test_a_large_body_without_a_length_is_refused(app: Flask) -> None:
    answer = app.test_client().post(
        "/v1/leases",
        headers=JSON,
        input_stream=BytesIO(b" " * 2_000_000),
        environ_overrides={"wsgi.input_terminated": True},
    )
    assert answer.status_code == 413


def test_a_body_of_the_maximum_size_is_accepted(build: Build) -> None:
    data = json.dumps({"name": "a", **DATES}).encode()
    for maximum, code in ((len(data), 201), (len(data) - 1, 413)):
        client = build(ApiSettings(auth="noauth", maximum_body=maximum)).test_client()
        assert client.post("/v1/leases", headers=JSON, data=data).status_code == code


def test_whole_numbers_may_be_written_with_a_zero_fraction(member: Client, site: Site) -> None:
    data = json.dumps(body(HOSTS)).replace('"max": 2', '"max": 2.0').encode()
    assert member.send("POST", "/v1/leases", headers=JSON, data=data).status_code == 201
    assert repr(site.calls[0][2]["reservations"][0]["max"]) == "2"


@pytest.mark.parametrize(
    ("version", "query", "field"),
    [
        (None, "limit=1", "limit"),
        ("1.1", "color=red", "color"),
        ("1.1", "limit=0", "limit"),
        ("1.1", "limit=many", "limit"),
        ("1.1", "limit=99999999999999999999999", "limit"),
        ("1.1", "limit=1&limit=2", "limit"),
        ("1.1", "marker=nobody", "marker"),
        ("1.1", "sort_key=color", "sort_key"),
        ("1.1", "sort_dir=asc", "sort_dir"),
        ("1.1", "sort_key=name&sort_dir=up", "sort_dir"),
        ("1.1", "status=MOON", "status"),
        ("1.1", "state=moon", "state"),
        ("1.1", "kind=moon", "kind"),
        ("1.1", "all_projects=maybe", "all_projects"),
        ("1.1", "name=%00", "name"),
        ("1.1", "deleted=true", "deleted"),
        ("1.8", "series_id=x", "series_id"),
    ],
)
def test_invalid_query_parameters_are_refused(admin: Client, version: str | None, query: str, field: str) -> None:
    answer = admin.at(version).get(f"/v1/leases?{query}")
    assert answer.status_code == 400
    assert (answer.json or {})["error_message"].startswith(f"{field}: ")
    if version is not None:
        assert (answer.json or {})["field"] == field


@pytest.mark.parametrize("lease_id", ["x", "x" * 40, "%00", "a b", "..", "ä", "%F0%9F%98%80", "'--", "x" * 2_000])
def test_invalid_ids_are_not_found(admin: Client, lease_id: str) -> None:
    for path in (f"/v1/leases/{lease_id}", f"/v1/os-hosts/{lease_id}", f"/v1/floatingips/{lease_id}"):
        assert admin.get(path).status_code == 404


def test_an_internal_error_is_logged_and_reveals_nothing(
    member: Client, app: Flask, site: Site, caplog: pytest.LogCaptureFixture
) -> None:
    site.refusal = ZeroDivisionError("secret")
    with caplog.at_level(logging.ERROR):
        answer = app.test_client().post("/v1/leases", json={"name": "a", **DATES})
    assert answer.status_code == 500
    assert answer.json == {
        "error_code": 500,
        "error_message": "Internal Server Error",
        "error_name": "INTERNAL_SERVER_ERROR",
    }
    assert answer.headers["X-Openstack-Request-Id"] in caplog.text


class TestPage:
    def test_browsers_get_the_page_and_clients_the_versions(self, app: Flask) -> None:
        client = app.test_client()
        with client.get("/", headers={"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"}) as answer:
            assert (answer.status_code, answer.mimetype) == (200, "text/html")
            assert "Accept" in answer.headers["Vary"]
        for accept in ("*/*", "application/json"):
            assert client.get("/", headers={"Accept": accept}).status_code == 300

    def test_files_of_the_page_are_served_and_no_others(self, app: Flask) -> None:
        client = app.test_client()
        for path in ("/index.html", "/page/index.html"):
            with client.get(path) as answer:
                assert (answer.status_code, answer.mimetype) == (200, "text/html")
        for path in ("/page/nothing.js", "/page/../app.py", "/page/%2e%2e/app.py", "/app.py"):
            assert client.get(path).status_code == 404


class TestLists:
    @pytest.fixture
    def leases(self, member: Client) -> list[dict[str, Any]]:
        return [made(member, INSTANCES, name=name) for name in ("c", "a", "d", "b", "e")]

    def test_links_lead_from_page_to_page(self, member: Client, leases: list[dict[str, Any]]) -> None:
        path, names, pages = "/v1/leases?limit=2&sort_key=name&all_projects=false", [], 0
        while path:
            answer = member.at("1.1").get(path).json or {}
            names += [lease["name"] for lease in answer["leases"]]
            pages += 1
            links = answer.get("leases_links", [])
            path = links[0]["href"].removeprefix("http://localhost") if links else ""
        assert names == ["a", "b", "c", "d", "e"]
        assert pages == 3

    def test_lists_are_filtered_and_sorted(self, member: Client, leases: list[dict[str, Any]]) -> None:
        def names(query: str) -> list[str]:
            return [lease["name"] for lease in (member.at("1.1").get(f"/v1/leases?{query}").json or {})["leases"]]

        assert names("sort_key=name&sort_dir=desc") == ["e", "d", "c", "b", "a"]
        assert names("name=d") == ["d"]
        assert names("kind=deadline") == []
        assert names("state=scheduled&limit=2") == ["c", "a"]
        assert names(f"marker={leases[3]['id']}") == ["e"]

    def test_a_filter_by_status_goes_over_pages(self, member: Client, site: Site, leases: list[dict[str, Any]]) -> None:
        for number, lease in enumerate(leases):
            site.views[lease["id"]].update(state="ready", operation="start" if number % 2 else None)
        answer = member.at("1.1").get("/v1/leases?status=STARTING&limit=1").json or {}
        assert [lease["name"] for lease in answer["leases"]] == ["a"]
        following = answer["leases_links"][0]["href"].removeprefix("http://localhost")
        answer = member.at("1.1").get(following).json or {}
        assert [lease["name"] for lease in answer["leases"]] == ["b"]
        assert "leases_links" not in answer

    def test_a_page_is_never_larger_than_the_operator_wants(self, build: Build, leases: list[dict[str, Any]]) -> None:
        client = Client(build(ApiSettings(auth="noauth", maximum_page=3)), "1.1", "member")
        for query in ("", "?limit=5"):
            assert len((client.get(f"/v1/leases{query}").json or {})["leases"]) == 3
        assert len((client.at(None).get("/v1/leases").json or {})["leases"]) == 5

    def test_a_marker_of_another_project_is_refused(self, app: Flask, leases: list[dict[str, Any]]) -> None:
        stranger = Client(app, "1.1", "member", "blue")
        assert stranger.get(f"/v1/leases?marker={leases[0]['id']}").status_code == 400
