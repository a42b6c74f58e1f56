"""Schemas of the attributes of leases, by microversion."""

from __future__ import annotations

from lease_scheduler.api.microversions import Version, known_keys, reaches
from lease_scheduler.api.schemas import base
from lease_scheduler.api.validation import Schema
from lease_scheduler.model.attributes import (
    Amount,
    Attribute,
    Choice,
    Flag,
    Keyed,
    Kind,
    Pairs,
    Part,
    Probability,
    Span,
    Text,
    Texts,
    Whole,
)
from lease_scheduler.records.attributes import ATTRIBUTES


def given(version: Version) -> dict[str, Schema]:
    """Return the attributes that a request for a lease may have."""
    return {each.name: _request_schema(each.kind, version) for each in ATTRIBUTES if reaches(version, each.given)}


def changed(version: Version) -> dict[str, Schema]:
    """Return the attributes that a change of a lease may have."""
    return {each.name: _request_schema(each.kind, version) for each in ATTRIBUTES if reaches(version, each.changed)}


def shown(version: Version) -> dict[str, Schema]:
    """Return the attributes that a lease in an answer has."""
    return {each.name: _answer_schema(each, version) for each in ATTRIBUTES if reaches(version, each.shown)}


def _request_schema(kind: Kind, version: Version) -> Schema:
    match kind:
        case Text(maximum, True):
            return base.name(maximum)
        case Text(maximum):
            return base.text(maximum)
        case Flag():
            return base.BOOLEAN
        case Amount():
            return base.MONEY
        case Span():
            return base.DURATION
        case Probability():
            return base.PROBABILITY
        case Part():
            return base.PART
        case Whole():
            return base.integer()
        case Choice():
            return {"type": "string", "enum": kind.texts}
        case Pairs(most, name_length, text_length):
            return {
                "type": "object",
                "maxProperties": most,
                "propertyNames": base.name(name_length),
                "additionalProperties": base.text(text_length),
            }
        case Texts(most, maximum):
            return base.array(base.name(maximum), most, uniqueItems=True)
        case Keyed(required, _, maximum):
            return base.closed(dict.fromkeys(known_keys(kind, version), base.name(maximum)), required)


def _answer_schema(attribute: Attribute, version: Version) -> Schema:
    schema: Schema
    match attribute.kind:
        case Text():
            schema = base.STRING
        case Amount() | Probability() | Part():
            schema = base.NUMBER
        case Span() | Whole():
            schema = base.INTEGER
        case Pairs():
            schema = {"type": "object", "additionalProperties": base.STRING}
        case Texts():
            schema = base.array(base.STRING)
        case Keyed(required) as keyed:
            schema = base.closed(dict.fromkeys(known_keys(keyed, version), base.STRING), required)
        case kind:
            schema = _request_schema(kind, version)
    return base.nullable(schema) if attribute.may_be_missing else schema
