"""The description of the interface."""

from __future__ import annotations

import re

import jsonschema_rs
import pytest
import schemathesis
from flask import Flask
from microversion_parse import parse_version_string
from schemathesis.specs.openapi.definitions import OPENAPI_31_VALIDATOR

from lease_scheduler.api.dates import parse_date
from lease_scheduler.api.microversions import HISTORY, MAXIMUM
from lease_scheduler.api.openapi import describe
from lease_scheduler.api.routes import ROUTES
from tests.unit.api.conftest import Client
from tests.unit.api.fakes import Site


@pytest.mark.parametrize("version", HISTORY)
def test_the_description_is_valid_at_every_microversion(app: Flask, version: str) -> None:
    answer = Client(app, version).get("/v1/openapi.json")
    document = answer.json or {}
    OPENAPI_31_VALIDATOR.validate(document)
    for path in document["paths"].values():
        for operation in path.values():
            for part in [*operation["responses"].values(), operation.get("requestBody", {})]:
                for content in part.get("content", {}).values():
                    jsonschema_rs.meta.validate(content["schema"])
    assert document["info"]["version"] == version
    assert len({operation["operationId"] for path in document["paths"].values() for operation in path.values()}) == sum(
        map(len, document["paths"].values())
    )


def test_the_description_has_exactly_the_routes_of_its_microversion(app: Flask) -> None:
    for version in ("1.0", "1.7"):
        document = Client(app, version).get("/v1/openapi.json").json or {}
        described = {f"{method.upper()} {path}" for path, item in document["paths"].items() for method in item}
        assert described == {route.name for route in ROUTES if route.since.minor <= int(version.removeprefix("1."))}


def test_schemathesis_can_read_the_description(app: Flask) -> None:
    document = Client(app, "latest").get("/v1/openapi.json").json or {}
    operations = list(schemathesis.openapi.from_dict(document).get_all_operations())
    assert len(operations) == len(ROUTES)
    assert all(type(operation).__name__ == "Ok" for operation in operations)


def test_requests_accept_no_unknown_keys() -> None:
    """Objects with named keys accept no others; only hosts accept any key, as a capability."""

    def objects(schema: object) -> list[dict[str, object]]:
        if isinstance(schema, list):
            return [found for each in schema for found in objects(each)]
        if not isinstance(schema, dict):
            return []
        inner = [found for each in schema.values() for found in objects(each)]
        return [schema, *inner] if "properties" in schema and schema.get("type") == "object" else inner

    for route in ROUTES:
        if route.body is not None and "/os-hosts" not in route.path:
            assert objects(route.body(MAXIMUM))
            assert all(found["additionalProperties"] is False for found in objects(route.body(MAXIMUM)))


def test_the_pattern_of_dates_accepts_what_the_parser_accepts() -> None:
    def pattern(version: str) -> str:
        document = describe(ROUTES, parse_version_string(version), "")
        content = document["paths"]["/v1/leases"]["post"]["requestBody"]["content"]
        found: str = content["application/json"]["schema"]["properties"]["start_date"]["pattern"]
        return found

    for text in ("now", "2030-01-31 12:00", "2030-12-01 23:59"):
        assert re.search(pattern("1.0"), text)
    for text in ("2030-01-31T12:00Z", "2030-01-31T12:00:00", "2030-01-31T12:00:00-05:30"):
        assert not re.search(pattern("1.1"), text)
        assert re.search(pattern("1.2"), text)
        assert parse_date(text, "start_date", 0, MAXIMUM) > 0
    for text in ("", "soon", "2030-13-01 00:00", "2030-01-31T24:00Z", "2030-01-31"):
        assert not re.search(pattern("1.2"), text)


def test_the_description_has_the_address_of_the_service(site: Site, app: Flask) -> None:
    assert describe(ROUTES, ROUTES[0].since, "http://there")["servers"] == [{"url": "http://there"}]
