"""Whatever the form of a request, the service reports what is wrong with it, and its state stays the same."""

from __future__ import annotations

import http.client
import json
import re
import socket
from collections.abc import Iterator

import pytest

from lease_scheduler.api.microversions import MAXIMUM
from lease_scheduler.api.request import Route
from lease_scheduler.api.routes import ROUTES
from tests.functional.api.examples import examples
from tests.functional.api.hostile import (
    LATEST,
    MAXIMUM_BODY,
    WITH_BODY,
    Target,
    exchange,
    head,
    lease_body,
    refused,
    refused_body,
)

_LIMIT = 60.0


@pytest.mark.parametrize("size", [MAXIMUM_BODY + 1, MAXIMUM_BODY + 65_536, 10_000_000])
def test_bodies_that_are_too_large(target: Target, size: int) -> None:
    for body in (b" " * size, lease_body(name="x" * size), b"[" * size):
        message = refused(target.send("POST", "/v1/leases", data=body), 413, "body")
        assert str(MAXIMUM_BODY) in message


def test_too_large_bodies_in_chunks(target: Target) -> None:
    def chunks() -> Iterator[bytes]:
        for _ in range(160):
            yield b" " * 65_536

    message = refused(target.send("POST", "/v1/leases", data=chunks()), 413, "body")
    assert str(MAXIMUM_BODY) in message


def test_connections_outlive_a_body_that_is_too_large(target: Target) -> None:
    body = b" " * 10_000_000
    first = head("POST", "/v1/leases", f"Content-Length: {len(body)}") + body
    with socket.create_connection(("127.0.0.1", target.service.port), timeout=_LIMIT) as connection:
        for request, code in ((first, 413), (head("GET", "/v1"), 200)):
            connection.sendall(request)
            answer = http.client.HTTPResponse(connection)
            answer.begin()
            answer.read()
            assert answer.status == code


def test_lengths_out_of_all_proportion(target: Target) -> None:
    for length in (1 << 30, 10**18):
        answer = exchange(target, head("POST", "/v1/leases", f"Content-Length: {length}"), b"{}")
        assert answer[0] == 413
        refused_body(*answer, None)


@pytest.mark.parametrize(
    ("sent", "code", "says"),
    [
        (head("POST", "/v1/leases", "Content-Length: -1"), 400, "Content-Length"),
        (head("POST", "/v1/leases", "Content-Length: 0x10"), 400, "Content-Length"),
        (head("POST", "/v1/leases", "Content-Length: 2", "Content-Length: 3"), 400, "Content-Length"),
        (head("POST", "/v1/leases", "no colon"), 400, "header"),
        (head("POST", "/v1/leases", ": no name"), 400, "header"),
        (head("POST", "/v1/leases", "Space : x"), 400, "header"),
        (head("POST", "/v1/leases", "X-Line: a\nb"), 400, "CR or LF"),
        (head("POST", "/v1/leases", "X-Nul: a\x00b"), 400, "header"),
        (head("POST", "/v1/leases", "X-Long: " + "x" * 300_000), 431, "header"),
        (head("POST", "/v1/" + "x" * 300_000), 431, "header"),
        (head("POST", "/v1/leases", "Transfer-Encoding: chunked") + b"no number\r\n", 400, "chunk"),
        (head("POST", "/v1/leases", "Transfer-Encoding: chunked") + b"2\r\n{}!!\r\n0\r\n\r\n", 400, "Chunk"),
        # RFC 9112 requires this of a server that does not know the encoding.
        (head("POST", "/v1/leases", "Transfer-Encoding: gzip"), 501, "Transfer-Encoding"),
        (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n", 400, ""),
        (b"POST\r\n\r\n", 400, ""),
    ],
    ids=lambda value: "" if isinstance(value, bytes) else str(value),
)
def test_requests_that_are_not_http(target: Target, sent: bytes, code: int, says: str) -> None:
    answer = exchange(target, sent)
    assert answer[0] == code, answer
    assert says in refused_body(*answer, None)


@pytest.mark.parametrize(
    "content_type",
    [None, "", "text/plain", "application/xml", "json", "/", "\xff", "a" * 5_000],
    ids=lambda value: ascii(value)[:20],
)
def test_bodies_of_another_content_type(target: Target, content_type: str | None) -> None:
    for route in WITH_BODY:
        headers = {**LATEST} | ({} if content_type is None else {"Content-Type": content_type.encode("latin-1")})
        refused(target.send(route.method, target.path(route), data=b"{}", headers=headers), field="Content-Type")


# Headers.


@pytest.mark.parametrize(
    ("version", "code"),
    [
        ("reservation 0.9", 406),
        ("reservation 1.99", 406),
        ("reservation 2.0", 406),
        ("reservation 1." + "9" * 400, (400, 406)),
        ("reservation 1." + "9" * 5_000, (400, 406)),
        ("reservation 1", 400),
        ("reservation 1.0.0", 400),
        ("reservation -1.0", 406),
        ("reservation one", 400),
        ("reservation 1.1 1.2", 400),
        ("reservation \u0661.1".encode().decode("latin-1"), 400),
        ("reservation \xb9.\xb2", 400),
        ("reservation 1.\x00", 400),
        ("reservation", 400),
        ("reservation,", 400),
    ],
    ids=lambda value: ascii(value)[:40],
)
def test_microversions_that_are_none(target: Target, version: str, code: int | tuple[int, ...]) -> None:
    head = f"GET /v1/leases HTTP/1.1\r\nHost: localhost\r\nOpenStack-API-Version: {version}\r\n\r\n"
    answer = exchange(target, head.encode("latin-1"))
    assert answer[0] in ((code,) if isinstance(code, int) else code), answer
    message = refused_body(*answer, None)
    assert "\x00" in version or "OpenStack-API-Version" in message


@pytest.mark.parametrize(
    ("name", "value", "field"),
    [
        ("X-Project-Id", "x" * 256, "X-Project-Id"),
        ("X-Project-Id", "\xe4", "X-Project-Id"),
        ("X-Project-Id", "a\tb", "X-Project-Id"),
        ("X-User-Id", "", "X-User-Id"),
        ("Accept", "image/png", "Accept"),
        ("Accept", "text/html;q=1", "Accept"),
    ],
)
def test_headers_that_are_wrong(target: Target, name: str, value: str, field: str) -> None:
    headers = {**LATEST, name: value.encode("latin-1")}
    code = 406 if name == "Accept" else 400
    for path in ("/v1/leases", "/v1/os-hosts"):
        refused(target.send("GET", path, headers=headers), code, field=field)


def test_headers_that_do_no_harm(target: Target) -> None:
    for name, value in (
        ("X-Roles", "," * 10_000),
        ("X-Openstack-Request-Id", "req-\xff"),
        ("Accept", ";;,,/*/"),
        ("Accept", "*/*;q=nan"),
        ("Range", "bytes=9-1"),
        ("If-None-Match", '"'),
        ("If-Modified-Since", "yesterday"),
        ("Cookie", "\xff=;;=\x01" * 50),
        ("Authorization", "Basic !"),
        ("X-Forwarded-Host", "evil"),
        ("Host", "a b<>\xff"),
        ("Host", "[::1"),
        ("Connection", "\xff"),
        ("Expect", "200-ok"),
    ):
        head = f"GET /v1/leases HTTP/1.1\r\n{name}: {value}\r\nOpenStack-API-Version: reservation latest\r\n\r\n"
        code, content_type, body = exchange(target, head.encode("latin-1"))
        assert code in ((200, 406) if name == "Accept" else (200, 400, 403)), (name, value, code, body)
        if code != 200:
            refused_body(code, content_type, body, None)


# Methods, paths and queries.


def _known_methods(path: str) -> set[str]:
    """Return the methods of a path; ``/v1/os-hosts/allocations`` also has those of a host with that name."""
    known = {
        route.method for route in ROUTES if re.fullmatch(re.sub(r"\{\w+\}", "[^/]+", route.path), path) is not None
    }
    return known | {"OPTIONS"} | ({"HEAD"} if "GET" in known else set())


@pytest.mark.parametrize("path", sorted({route.path for route in ROUTES}))
def test_methods_that_are_none(target: Target, path: str) -> None:
    known = _known_methods(path)
    methods = {"GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "CONNECT", "PROPFIND", "X" * 100}
    for method in sorted(methods - known):
        answer = target.send(method, path.format(**target.names), data=b"{}")
        refused(answer, 405)
        assert set(answer.headers["Allow"].replace(" ", "").split(",")) == known


def test_methods_have_capital_letters(target: Target) -> None:
    for method in ("get", "Get", "gET"):
        answer = exchange(target, head(method, "/v1/leases"))
        assert answer[0] in (400, 405), answer
        refused_body(*answer, None)


_IDS = ["x", "x" * 37, "x" * 100_000, "%00", "%0A", "%FF", "%C0%80", "%ED%A0%80", "%E2%98%83", "..", "%2e%2e", "%2F"]
_IDS += [
    "'%20OR%201=1--",
    "%25",
    "%",
    "%zz",
    "a;b",
    "-1",
    "0",
    "1e3",
    "9" * 400,
    "{lease_id}",
    "%7Fx",
    "null",
    "*",
    "~",
]


#: Every project has a flow, whether it has leases or not.
#: Flows and peers need not exist to be given a weight or limits, and requests not to be withdrawn.
_ANY_NAME = ("{flow}", "{peer}", "{request_id}")
_NAMED = [route for route in ROUTES if "{" in route.path and not route.path.endswith(_ANY_NAME)]


@pytest.mark.parametrize("route", _NAMED, ids=lambda route: str(route.name))
def test_names_of_nothing(target: Target, route: Route) -> None:
    data = None if route.body is None else json.dumps(examples(route.body(MAXIMUM))[0]).encode()
    length = [f"Content-Length: {len(data)}"] if data is not None else []
    for name in _IDS:
        path = route.path.format(**dict.fromkeys(target.names, name))
        answer = exchange(target, head(route.method, path, *length) + (data or b""))
        assert answer[0] in (400, 404, 405), (name, answer)
        refused_body(*answer, None)


def test_paths_of_nothing(target: Target) -> None:
    for path in (
        "/v1//leases",
        "/v2/leases",
        "/v1/leases/",
        "/V1/leases",
        "/v1/%6ceases%00",
        "/v1/../v1",
    ):
        answer = exchange(target, head("GET", path))
        assert answer[0] in (400, 404), (path, answer)
        refused_body(*answer, None)
    for path in ("/page/../app.py", "/page/%2e%2e/app.py", "/page/..%2fapp.py", "/page//etc/passwd", "/page/%00"):
        answer = exchange(target, head("GET", path))
        assert answer[0] == 404, (path, answer)
        refused_body(*answer, None)


_WRONG_TEXTS = {
    "integer": [
        "",
        "x",
        "1.5",
        "1e3",
        "0x1",
        "-1",
        "+1",
        " 1",
        "9" * 400,
        "9" * 5_000,
        "%D9%A1",
        "%C2%B2",
        "null",
        "%00",
    ],
    "boolean": ["", "x", "2", "truefalse", "null", "%00", "%FF%FF"],
}


@pytest.mark.parametrize("route", ROUTES, ids=lambda route: str(route.name))
def test_queries_that_are_wrong(target: Target, route: Route) -> None:
    path = target.path(route)
    for query, field in (("colour=red", "colour"), ("%00=1", "\\x00"), ("=1", None), ("'=1", "'"), ("a[]=1", "a[]")):
        refused(target.send(route.method, f"{path}?{query}", data=b"{}"), field=field)
    refused(target.send(route.method, f"{path}?{'x' * 10_000}=1", data=b"{}"))
    refused(target.send(route.method, f"{path}?{'&'.join(f'k{number}=1' for number in range(5_000))}", data=b"{}"))
    for parameter in route.query:
        name, kind = parameter.name, parameter.schema["type"]
        texts = list(_WRONG_TEXTS.get(kind, ["%00", "a%00b"]))
        if "maximum" in parameter.schema:
            texts.append(str(parameter.schema["maximum"] + 1))
        if "maxLength" in parameter.schema:
            texts.append("x" * (parameter.schema["maxLength"] + 1))
        if "enum" in parameter.schema:
            texts += ["", "x", "%E2%98%83"]
        for text in texts:
            refused(target.send(route.method, f"{path}?{name}={text}"), field=name)
        refused(target.send(route.method, f"{path}?{name}=1&{name}=1"), field=name)
