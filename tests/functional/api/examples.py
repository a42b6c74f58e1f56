"""Example values for a JSON schema, and the places in them."""

from __future__ import annotations

import copy
import re
from collections.abc import Iterator
from typing import Any
from uuid import uuid4

from lease_scheduler.api.validation import CHOSEN_BY, DATE_FORM, Schema

Place = tuple[str | int, ...]

#: For every pattern of the interface, one of these texts matches.
_TEXTS = ("some", "SOME", "True", "192.0.2.77")


def examples(schema: Schema) -> list[Any]:
    """Return valid values in which every key of every alternative occurs at least once."""
    if CHOSEN_BY in schema:
        return [value for branch in schema["anyOf"] for value in examples(branch)]
    if "const" in schema:
        return [schema["const"]]
    if "enum" in schema:
        return [schema["enum"][0]]
    kind = schema["type"] if isinstance(schema["type"], str) else schema["type"][0]
    match kind:
        case "object":
            return _objects(schema)
        case "array":
            return [[value] for value in examples(schema["items"])] if schema.get("maxItems") != 0 else [[]]
        case "number" if "exclusiveMaximum" in schema:
            return [(schema["exclusiveMinimum"] + schema["exclusiveMaximum"]) / 2]
        case "integer" | "number":
            return [max(1, schema.get("minimum", 1))]
        case "boolean":
            return [True]
    return [_text(schema)]


def _text(schema: Schema) -> str:
    if DATE_FORM in schema:
        return "2090-01-31 12:00"
    if any(branch.get("format") == "ipv4" for branch in schema.get("anyOf", ())):
        return "192.0.2.77"
    if schema.get("minLength") == schema.get("maxLength") == 36:
        # A chosen id can be used only once.
        return str(uuid4())
    return next(text for text in _TEXTS if re.search(schema.get("pattern", ""), text))


def _objects(schema: Schema) -> list[dict[str, Any]]:
    properties: dict[str, Schema] = dict(schema.get("properties", {}))
    if isinstance(schema.get("additionalProperties"), dict):
        pattern = schema.get("propertyNames", {}).get("pattern", "")
        key = next(text for text in ("SOME", "trait:SOME") if re.search(pattern, text))
        properties[key] = schema["additionalProperties"]
    choices = {key: examples(inner) for key, inner in properties.items()}
    if "end_date" in choices:
        choices["end_date"] = ["2090-02-01 12:00"]
    if schema.get("maxProperties") == 1:
        return [{key: value} for key, values in choices.items() for value in values]
    first = {key: values[0] for key, values in choices.items()}
    return [first, *({**first, key: value} for key, values in choices.items() for value in values[1:])]


def places(schema: Schema, value: Any, place: Place = ()) -> Iterator[tuple[Place, Schema]]:
    """Yield every place in a value, with the part of the schema that applies there."""
    if CHOSEN_BY in schema:
        yield place, {"type": "object"}
        key = schema[CHOSEN_BY]
        chosen = next(branch for branch in schema["anyOf"] if branch["properties"][key]["const"] == value[key])
        yield from _inside(chosen, value, place)
    else:
        yield place, schema
        yield from _inside(schema, value, place)


def _inside(schema: Schema, value: Any, place: Place) -> Iterator[tuple[Place, Schema]]:
    if isinstance(value, dict):
        properties = schema.get("properties", {})
        for key, inner in value.items():
            yield from places(properties.get(key) or schema["additionalProperties"], inner, (*place, key))
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            yield from places(schema["items"], inner, (*place, number))


def replaced(value: Any, place: Place, by: Any) -> Any:
    """Return a copy of a value with something else at one place."""
    if not place:
        return by
    result = copy.deepcopy(value)
    inner = result
    for part in place[:-1]:
        inner = inner[part]
    inner[place[-1]] = by
    return result
