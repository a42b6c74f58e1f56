"""Building blocks of the schemas."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lease_scheduler.api.microversions import V1_0, V1_43, Version
from lease_scheduler.api.validation import DATE_FORM, FORM, NAME_FORM, WANTED, Schema
from lease_scheduler.model.refusals import RefusalReason

#: Largest number that fits into every integer column of the database.
MAXIMUM_INTEGER = 2_147_483_647


def text(maximum: int = 255, minimum: int = 0, **keywords: Any) -> Schema:
    """Return the schema of a text of ``minimum`` to ``maximum`` characters."""
    return {"type": "string", "minLength": minimum, "maxLength": maximum, **keywords}


def integer(minimum: int = 0, maximum: int = MAXIMUM_INTEGER, **keywords: Any) -> Schema:
    """Return the schema of a whole number."""
    return {"type": "integer", "minimum": minimum, "maximum": maximum, **keywords}


def nullable(schema: Schema) -> Schema:
    """Return a schema that accepts null too."""
    found = {**schema, "type": [schema["type"], "null"]}
    return {**found, "enum": [*schema["enum"], None]} if "enum" in schema else found


def closed(properties: Mapping[str, Schema], required: Sequence[str] = (), **keywords: Any) -> Schema:
    """Return the schema of an object with these keys and no others."""
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(required),
        "additionalProperties": False,
        **keywords,
    }


def array(items: Schema, maximum: int | None = None, minimum: int = 0, **keywords: Any) -> Schema:
    """Return the schema of a list of ``minimum`` to ``maximum`` elements."""
    limits = {"minItems": minimum} | ({} if maximum is None else {"maxItems": maximum})
    return {"type": "array", "items": items, **limits, **keywords}


def name(maximum: int = 255) -> Schema:
    """Return the schema of a name, which people must be able to read."""
    return text(maximum, 1, **{NAME_FORM: True})


BOOLEAN: Schema = {"type": "boolean"}
MONEY: Schema = {"type": "number", "minimum": 0, "maximum": 1e15, "examples": [12.5]}
PART: Schema = {"type": "number", "exclusiveMinimum": 0, "maximum": 1, "examples": [0.25]}
PROBABILITY: Schema = {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1, "examples": [0.95]}
UUID: Schema = text(36, 1, pattern="^[0-9A-Za-z-]+$")
CHOSEN_UUID: Schema = {
    **text(36, 36, examples=["6d2d9b1a-6c9d-4d1e-9d5b-0e7f3a5c8e42"]),
    WANTED: "a UUID of hexadecimal digits in the form 8-4-4-4-12",
    "pattern": "^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$",
}
DATE: Schema = {**text(64, 1, examples=["2030-01-31 12:00"]), DATE_FORM: True}
DURATION: Schema = {
    "type": ["integer", "string"],
    "minimum": 1,
    "maxLength": 64,
    WANTED: 'a duration like 9000, "2h30m" or "PT2H30M"',
    FORM: "^([1-9][0-9]{0,8}[smhdw]?|([1-9][0-9]?h)?[1-9][0-9]?m|P[1-9][0-9]{0,2}D|PT[1-9][0-9]{0,2}[HMS])$",
    "examples": ["2h30m"],
}
QUERY: Schema = {
    **text(4_096, examples=['["==", "$gpu", "yes"]']),
    WANTED: 'a query like ["==", "$gpu", "yes"] in a text of at most 4096 characters',
}

# Values in answers.
STRING: Schema = {"type": "string"}
MAYBE_STRING: Schema = {"type": ["string", "null"]}
INTEGER: Schema = {"type": "integer"}
MAYBE_INTEGER: Schema = {"type": ["integer", "null"]}
NUMBER: Schema = {"type": "number"}
MAYBE_NUMBER: Schema = {"type": ["number", "null"]}
LEASE_DATE: Schema = {"type": "string", "pattern": r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}$"}
ROW_DATE: Schema = {"type": ["string", "null"], "pattern": r"^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$"}
ISO_DATE: Schema = {"type": "string", "format": "date-time"}
MAYBE_ISO_DATE: Schema = {"type": ["string", "null"], "format": "date-time"}


def wrapped(key: str, schema: Schema) -> Schema:
    """Return the schema of an answer that is an object with one key."""
    return closed({key: schema}, [key])


def answer(properties: Mapping[str, Schema]) -> Schema:
    """Return the schema of an object that has all of these keys and no others."""
    return closed(properties, list(properties))


#: Number of leases of each kind that would be preempted.
KINDS: Schema = {"type": "object", "additionalProperties": INTEGER}

ALTERNATIVE = closed(
    {
        "change": STRING,
        "start": MAYBE_ISO_DATE,
        "end": MAYBE_ISO_DATE,
        "count": MAYBE_INTEGER,
        "preempted_kinds": KINDS,
    }
)

_REASONS = [reason.value for reason in RefusalReason]
MAYBE_REASON: Schema = {"enum": [*_REASONS, None]}


def error(version: Version) -> Schema:
    """Return the schema of the body of an error."""
    properties: dict[str, Schema] = {
        "error_code": INTEGER,
        "error_message": STRING,
        "error_name": {"type": ["integer", "string"]},
        "field": STRING,
        "alternatives": array(ALTERNATIVE),
    }
    if version >= V1_43:
        properties["reason_code"] = {"type": "string", "enum": _REASONS}
    return {
        "type": "object",
        "oneOf": [
            closed(properties, ["error_code", "error_message", "error_name"]),
            answer({"error": INTEGER, "error_message": STRING}),
        ],
    }


@dataclass(frozen=True)
class Parameter:
    """A query parameter.

    :ivar since: the microversion that added it
    """

    name: str
    schema: Schema
    description: str
    since: Version = V1_0
    required: bool = False
