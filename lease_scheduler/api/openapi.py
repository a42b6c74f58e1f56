"""The OpenAPI 3.1 description of the interface, made from the routes and the schemas."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from lease_scheduler.api.microversions import MAXIMUM, MINIMUM, SERVICE_TYPE, V1_2, Version
from lease_scheduler.api.request import Route
from lease_scheduler.api.schemas import base
from lease_scheduler.api.validation import DATE_FORM, FORM, NAME_FORM
from lease_scheduler.model.documents import Document

_ERROR = {"$ref": "#/components/schemas/Error"}
_ARGUMENT = re.compile(r"\{(\w+)\}")

_DAY = "[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])"
_MINUTE = f"{_DAY} ([01][0-9]|2[0-3]):[0-5][0-9]"
_ISO = f"|{_DAY}T([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9])?(Z|[+-](0[0-9]|1[0-4]):[0-5][0-9])?"

#: Readable names, as a regular expression can describe them: at least one visible ASCII character, and no control or
#: direction characters. The service also accepts names without ASCII characters.
_READABLE = r"[^\u0000-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]*"
_NAME = f"^{_READABLE}[!-~]{_READABLE}$"

_REASONS = {
    400: "Something in the request is not right; the message names it.",
    401: "There is no valid token.",
    403: "The policy does not allow it, or the request is outside the limits.",
    404: "There is no such object, or not at this microversion.",
    405: "The path has no such method; the header Allow names those that it has.",
    406: "There is no such microversion, or the answer has a content type that the header Accept rules out.",
    409: "The request conflicts with the present state.",
    412: "The header If-Match has an ETag; changes know none.",
    413: "The body is too large.",
    415: "The body is compressed.",
    431: "The header is too large.",
    500: "Internal error.",
    503: "No engine answers at present.",
}


def describe(routes: Iterable[Route], version: Version, base_url: str) -> Document:
    """Return the OpenAPI document of one microversion.

    :param base_url: URL of the service
    """
    paths: dict[str, Any] = {}
    for route in routes:
        if route.since <= version:
            paths.setdefault(route.path, {})[route.method.lower()] = _operation(route, version)
    return {
        "openapi": "3.1.0",
        "jsonSchemaDialect": "https://json-schema.org/draft/2020-12/schema",
        "info": {
            "title": "lease-scheduler",
            "version": str(version),
            "description": (
                f"What is served with the header 'OpenStack-API-Version: {SERVICE_TYPE} {version}'. "
                f"Ask for this document with another version ({MINIMUM} to {MAXIMUM}) to see that one. "
                f"Without the header, {MINIMUM} is served. "
                "A method that a path does not have is answered with the response MethodNotAllowed."
            ),
            "summary": "Reservations, deadlines and best-effort leases on one pool of OpenStack hosts",
            "license": {"name": "Apache 2.0", "identifier": "Apache-2.0"},
        },
        "servers": [{"url": base_url or "/"}],
        "security": [{"token": []}, {}],
        "paths": paths,
        "components": {
            "schemas": {"Error": base.error(version)},
            "responses": {
                "MethodNotAllowed": {
                    **_error(405),
                    "headers": {"Allow": {"required": True, "schema": {"type": "string"}}},
                }
            },
            "securitySchemes": {"token": {"type": "apiKey", "in": "header", "name": "X-Auth-Token"}},
        },
    }


def _with_forms(schema: Any, version: Version) -> Any:
    """Return the schema with patterns for the texts whose form is not checked by the schema itself."""
    if isinstance(schema, list):
        return [_with_forms(each, version) for each in schema]
    if not isinstance(schema, dict):
        return schema
    shown = {
        key: _with_forms(value, version) for key, value in schema.items() if key not in (DATE_FORM, FORM, NAME_FORM)
    }
    if DATE_FORM in schema:
        # Lease kinds and ISO 8601 dates came with the same microversion.
        shown["pattern"] = f"^(now|{_MINUTE}{_ISO if version >= V1_2 else ''})$"
    elif NAME_FORM in schema:
        shown["pattern"] = _NAME
    elif FORM in schema:
        shown["pattern"] = schema[FORM]
    return shown


def _operation(route: Route, version: Version) -> Document:
    operation: Document = {
        "operationId": _operation_id(route),
        "summary": route.summary,
        "parameters": [*_path_parameters(route), *_query_parameters(route, version)],
        "responses": _responses(route, version),
    }
    if route.rule is not None:
        operation["x-policy"] = f"reservation:{route.rule}"
    if route.body is not None:
        operation["requestBody"] = {
            "required": True,
            "content": {"application/json": {"schema": _with_forms(route.body(version), version)}},
        }
    return operation


def _operation_id(route: Route) -> str:
    words = re.sub(r"[^A-Za-z0-9]+", "_", route.path.removeprefix("/v1")).strip("_")
    if route.path == "/v1/":
        words = "version_slash"
    return f"{route.method.lower()}_{words or ('version' if route.path == '/v1' else 'root')}"


def _path_parameters(route: Route) -> list[Document]:
    return [
        {"name": name, "in": "path", "required": True, "schema": {"type": "string", "minLength": 1}}
        for name in _ARGUMENT.findall(route.path)
    ]


def _query_parameters(route: Route, version: Version) -> list[Document]:
    return [
        {
            "name": parameter.name,
            "in": "query",
            "required": parameter.required,
            "description": parameter.description,
            "schema": _with_forms(parameter.schema, version),
        }
        for parameter in route.query
        if parameter.since <= version
    ]


def _responses(route: Route, version: Version) -> Document:
    good: Document = {"description": route.summary}
    if route.answer is not None:
        good["content"] = {"application/json": {"schema": route.answer(version)}}
    elif route.path.endswith(".ics"):
        good["content"] = {route.content_type: {"schema": {"type": "string"}}}
    elif route.code == 200:
        good["content"] = {"application/json": {"schema": {"type": "object"}}}
    codes = [400, 406, 431, 500]
    if route.rule is not None:
        codes += [401, 403]
    if "{" in route.path or route.since > MINIMUM:
        codes.append(404)
    if route.body is not None:
        codes += [413, 415]
    if route.changes:
        codes += [409, 412, 503, 404]
    unchanged = {"304": {"description": "Unchanged since the ETag in If-None-Match."}} if route.conditional else {}
    return {str(route.code): good, **unchanged, **{str(code): _error(code) for code in sorted(set(codes))}}


def _error(code: int) -> Document:
    return {"description": _REASONS[code], "content": {"application/json": {"schema": _ERROR}}}
