"""Whatever the body of a request, the service reports what is wrong with it, and its state stays the same."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import quote

import pytest

from lease_scheduler.api.microversions import MAXIMUM, MINIMUM, Version
from lease_scheduler.api.request import Route
from lease_scheduler.api.validation import Schema, join
from tests.functional.api.examples import Place, examples, places, replaced
from tests.functional.api.hostile import (
    JSON,
    MAXIMUM_BODY,
    WITH_BODY,
    Target,
    lease_body,
    refused,
)

#: One value of each JSON type.
_VALUES: dict[str, Any] = {
    "null": None,
    "boolean": True,
    "integer": 7,
    "number": 1.5,
    "string": "\u2603",
    "array": [[]],
    "object": {"\u2603": {}},
}


def _kinds(schema: dict[str, Any]) -> set[str]:
    """Return the names of the JSON types that a schema accepts."""
    if "anyOf" in schema and "type" not in schema:
        return {kind for branch in schema["anyOf"] for kind in _kinds(branch)}
    kind = schema["type"]
    kinds = {kind} if isinstance(kind, str) else set(kind)
    return kinds | {"integer"} if "number" in kinds else kinds


#: Keys that may be null at microversion 1.0, as in Blazar.
_NULL_AS_IN_BLAZAR = {("hypervisor_properties",), ("resource_properties",), ("before_end",)}


def _wrong(schema: dict[str, Any]) -> list[Any]:
    """Return values that a schema does not accept."""
    kinds = _kinds(schema)
    values = [value for kind, value in _VALUES.items() if kind not in kinds]
    if "maximum" in schema:
        too_small = schema["minimum"] - 1 if "minimum" in schema else schema["exclusiveMinimum"]
        values += [10**400, -(10**400), schema["maximum"] + 1, too_small]
    if "exclusiveMaximum" in schema:
        values += [10**400, -(10**400), schema["exclusiveMaximum"], schema["exclusiveMinimum"]]
    if "maxLength" in schema:
        values.append("x" * (schema["maxLength"] + 1))
    if "enum" in schema or "const" in schema:
        values.append("\u2603")
    if "maxItems" in schema and schema["maxItems"] <= 100:
        values.append([None] * (schema["maxItems"] + 1))
    return values


def _fitting(schema: Schema, example: Any, place: Place) -> Any:
    """Return the example without keys that exclude each other, where that error would be reported first."""
    others = {"deadline", "duration"} if place[:1] == ("reservations",) else set()
    fitting = {key: value for key, value in example.items() if key not in others} if others else example
    for where, inner in places(schema, example):
        most = inner.get("maxProperties")
        if most is None or place[: len(where)] != where:
            continue
        value = fitting
        for part in where:
            value = value[part]
        wanted = place[len(where) : len(where) + 1]
        kept = [key for key in value if key not in wanted][: most - len(wanted)]
        fitting = replaced(fitting, where, {key: value[key] for key in value if key in kept or key in wanted})
    return fitting


@pytest.mark.parametrize(
    ("route", "version"),
    [(route, version) for route in WITH_BODY for version in (MINIMUM, MAXIMUM) if route.since <= version],
    ids=lambda value: value.name if isinstance(value, Route) else str(value),
)
def test_wrong_types_and_sizes_of_every_key(target: Target, route: Route, version: Version) -> None:
    assert route.body is not None
    schema, path = route.body(version), target.path(route)
    headers = {**JSON, "OpenStack-API-Version": f"reservation {version}"}
    tried = set()
    for example in examples(schema):
        for place, inner in places(schema, example):
            if (place, repr(inner)) in tried:
                continue
            tried.add((place, repr(inner)))
            for value in _wrong(inner):
                if value is None and version == MINIMUM and place[-1:] in _NULL_AS_IN_BLAZAR:
                    continue
                body = json.dumps(replaced(_fitting(schema, example, place), place, value))
                message = refused(target.send(route.method, path, data=body, headers=headers))
                named = join(place) or "body"
                assert named in message, (body[:400], message)
    assert len(tried) > 1


@pytest.mark.parametrize("route", WITH_BODY, ids=lambda route: str(route.name))
def test_unknown_and_missing_keys(target: Target, route: Route) -> None:
    assert route.body is not None
    schema, path = route.body(MAXIMUM), target.path(route)
    for example in examples(schema)[:1]:
        for place, inner in places(schema, example):
            if inner.get("additionalProperties") is False:
                unknown = (*place, "colour")
                broken = replaced(_fitting(schema, example, unknown), unknown, "red")
                message = refused(target.send(route.method, path, json=broken), field=join((*place, "colour")))
                assert "is not a known key" in message
            for key in inner.get("required", ()):
                value = example
                for part in place:
                    value = value[part]
                broken = replaced(_fitting(schema, example, place), place, {k: v for k, v in value.items() if k != key})
                refused(target.send(route.method, path, json=broken), field=join((*place, key)))


_DEEP = 100_000


@pytest.mark.parametrize(
    ("body", "field", "says"),
    [
        pytest.param(b"", "body", "missing", id="nothing"),
        pytest.param(b" \r\n\t", "body", "missing", id="white space"),
        pytest.param(b"\x00", "body", "not JSON", id="NUL"),
        pytest.param(b"{", "body", "not JSON", id="half"),
        pytest.param(lease_body() + b"}", "body", "not JSON", id="more than one"),
        pytest.param(b"\xef\xbb\xbf" + lease_body(), "body", "not JSON", id="byte order mark"),
        pytest.param(lease_body().decode().encode("utf-16"), "body", "not UTF-8", id="UTF-16"),
        pytest.param(lease_body(name="\u00e4").replace(b"\\u00e4", b"\xe4"), "body", "not UTF-8", id="Latin-1"),
        pytest.param(lease_body(name="?").replace(b"?", b"\xc0\x80"), "body", "not UTF-8", id="overlong UTF-8"),
        pytest.param(lease_body(name="?").replace(b"?", b"\xed\xa0\x80"), "body", "not UTF-8", id="surrogate in UTF-8"),
        pytest.param(lease_body(name="a\x00b"), "name", "NUL", id="NUL character"),
        pytest.param(lease_body(name="\ud800"), "name", "surrogates", id="lone surrogate"),
        pytest.param(lease_body(**{"a\x00": 1}), "a\\x00", "NUL", id="NUL in a key"),
        pytest.param(lease_body(extras={"\udfff": "x"}), "extras.\\udfff", "surrogates", id="surrogate in a key"),
        pytest.param(lease_body(name="a\nb").replace(b"\\n", b"\n"), "body", "not JSON", id="bare line feed"),
        pytest.param(lease_body(name=float("nan")), "body", "NaN", id="NaN"),
        pytest.param(lease_body(duration=float("inf")), "body", "Infinity", id="Infinity"),
        pytest.param(lease_body(duration=float("-inf")), "body", "-Infinity", id="minus infinity"),
        pytest.param(lease_body(version=0).replace(b"0}", b"1e999}"), "body", "1e999", id="1e999"),
        pytest.param(lease_body(duration=10**400), "duration", "duration", id="10**400"),
        pytest.param(lease_body(duration=-(10**400)), "duration", "duration", id="-10**400"),
        pytest.param(lease_body(duration="9" * 64), "duration", "duration", id="long duration"),
        pytest.param(lease_body(duration="999999999w"), "duration", "duration", id="very long duration"),
        pytest.param(b'{"name": ' + b"9" * 100_000 + b"}", "body", "not JSON", id="100,000 digits"),
        pytest.param(lease_body()[:-1] + b', "name": "y"}', "body", "'name' is there twice", id="key twice"),
        pytest.param(
            lease_body(extras={"a": "b"}).replace(b'"a": "b"', b'"a": "b", "a": "c"'),
            "body",
            "'a' is there twice",
            id="inner",
        ),
        pytest.param(b"[" * _DEEP + b"]" * _DEEP, "body", "nested", id="deep arrays"),
        pytest.param(b"[" * _DEEP, "body", "nested", id="deep and open"),
        pytest.param(b'{"a":' * _DEEP + b"1" + b"}" * _DEEP, "body", "nested", id="deep objects"),
        pytest.param(b'{"name":' + b"[" * 500 + b"]" * 500 + b"}", None, "nested", id="500 deep"),
        pytest.param(b"[" + b"0," * 400_000 + b"0]", "body", "must be a JSON object", id="many elements"),
        pytest.param(
            b'{"name": "x"' + b"".join(b',"k%d":0' % n for n in range(50_000)) + b"}", "k0", "k0", id="many keys"
        ),
        pytest.param(lease_body(nodes=[{"count": 1}] * 10_000), "nodes", "64", id="many node sets"),
        pytest.param(lease_body(nodes=[0] * 300_000), "nodes", "64", id="many wrong node sets"),
        pytest.param(lease_body(name="x" * 500_000), "name", "255", id="long text"),
        pytest.param(lease_body(**{"k" * 500_000: 1}), None, "kkk", id="long key"),
    ],
)
def test_bodies_that_are_none(target: Target, body: bytes, field: str | None, says: str) -> None:
    assert len(body) < MAXIMUM_BODY
    for path in ("leases", "quotes"):
        message = refused(target.send("POST", f"/v1/{path}", data=body), field=field)
        assert says in message


@pytest.mark.parametrize("odd", [[], [{}], [[]], [None, 1, True]], ids=str)
def test_long_lists_of_what_must_be_there_once(target: Target, odd: list[Any]) -> None:
    path = f"/v1/leases/{target.names['lease_id']}/action"
    names = [f"n{number}" for number in range(80_000)]
    refused(target.send("POST", path, json={"move": {"hosts_away": odd + names}}), field="move.hosts_away")
    body = {"name": "x", "start_date": "2090-01-31 12:00", "duration": "1h", "hosts": odd + names}
    refused(target.send("POST", "/v1/maintenances", json=body), field="hosts")
    some = [*names[:9_000], names[0], *odd]
    message = refused(target.send("POST", "/v1/maintenances", json={**body, "hosts": some}))
    assert message.startswith("hosts")


_DATES = [
    "",
    " ",
    "yesterday",
    "now+1",
    "2090-13-01 00:00",
    "2090-02-30 12:00",
    "2090-01-31 24:01",
    "99999-01-01 00:00",
    "0000-01-01 00:00",
    "2090-01-31T12:00:00+99:00",
    "2090-01-31T12:00:00Z; DROP TABLE leases",
    "P1D",
    "\u2603",
    "9" * 64,
]


@pytest.mark.parametrize("text", _DATES)
def test_dates_that_are_none(target: Target, text: str) -> None:
    keys = {"start_date": {}, "end_date": {}, "before_end_date": {}, "deadline": {"kind": "deadline", "duration": "1h"}}
    for key, others in keys.items():
        lease = json.loads(lease_body(**others, **{key: text}))
        if key == "deadline":
            del lease["end_date"]
        if text or key != "before_end_date":
            refused(target.send("POST", "/v1/leases", json=lease), field=key)
    path = f"/v1/leases/{target.names['lease_id']}"
    for key in ("start_date", "end_date"):
        refused(target.send("PUT", path, json={key: text}), field=key)
    refused(target.send("POST", f"{path}/action", json={"extend": {"end_date": text}}))
    for query in ("availability?vcpus=1&start=", "usage?start=", "calendar?start="):
        refused(target.send("GET", f"/v1/{query}{quote(text)}"), field="start")


@pytest.mark.parametrize("text", ["0001-01-01T00:00:00+14:00", "0001-01-01 00:00", "1969-12-31T23:59:59Z"])
def test_dates_long_ago(target: Target, text: str) -> None:
    refused(target.send("POST", "/v1/leases", data=lease_body(start_date=text)), field="start_date")
    for query in ("availability?vcpus=1&end=", "calendar?end="):
        refused(target.send("GET", f"/v1/{query}{quote(text)}"), field="end")
