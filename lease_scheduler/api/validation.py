"""Checks values against JSON schemas, with messages that name the field and say what would be right."""

from __future__ import annotations

import difflib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from typing import Any

from jsonschema import Draft202012Validator, ValidationError, validators  # type: ignore[import-untyped]

from lease_scheduler.api.errors import ApiError
from lease_scheduler.api.microversions import Version
from lease_scheduler.api.names import problem_of_name

Schema = dict[str, Any]
#: A schema may differ between microversions.
VersionedSchema = Callable[[Version], Schema]

#: Keyword of a schema that says in words what would be right.
WANTED = "x-wanted"
#: Keyword of a schema that says what the error message is, word for word.
MESSAGE = "x-message"
#: Keyword of a text that is a date, whose form is checked where it is read.
DATE_FORM = "x-date"
#: Keyword of a text whose form is checked where it is read: how it is described to others.
FORM = "x-form"
#: Keyword of a list of alternatives: the property by whose value one of them is chosen.
CHOSEN_BY = "x-chosen-by"

#: Keyword of a text that is a name, which people have to be able to read.
NAME_FORM = "x-name"

#: So many problems are looked at; a large body may have very many.
_MOST_PROBLEMS = 1_000
#: So many keys that nobody knows are told apart in one object, and so many characters of them compared.
_MOST_UNKNOWN = 8
_COMPARED = 64

_NAMES = {
    "object": "a JSON object",
    "array": "a JSON array",
    "string": "a text",
    "integer": "an integer",
    "number": "a number",
    "boolean": "true or false",
    "null": "null",
}


@dataclass(frozen=True)
class Problem:
    """One thing that is wrong with a value.

    :ivar path: where, as a JSON path; empty for the value as a whole
    :ivar missing: keys that are not there, if that is what is wrong
    """

    path: str
    message: str
    missing: tuple[str, ...] = ()

    def error(self) -> ApiError:
        """The answer to a request that has this problem."""
        return ApiError(400, self.message[:1_000], self.path[:200] or "body")


def find_problems(schema: VersionedSchema, version: Version, value: Any) -> tuple[Problem, ...]:
    """What is wrong with a value: what is missing first, then in the order of the value."""
    found: list[Problem] = []
    for error in islice(_validator(schema, version).iter_errors(value), _MOST_PROBLEMS):
        found.extend(problems_of(error))
    unique = {(problem.path, problem.message): problem for problem in found}
    return tuple(sorted(unique.values(), key=lambda problem: (problem.path.count("."), not problem.missing)))


@lru_cache(maxsize=256)
def _validator(schema: VersionedSchema, version: Version) -> Any:
    return _LinearValidator(schema(version))


def _items(validator: Any, items: Schema, instance: Any, schema: Schema) -> Iterator[Any]:
    """The elements of a list, unless there are too many of them, which is told of elsewhere."""
    if not _is_too_long(instance, schema):
        yield from Draft202012Validator.VALIDATORS["items"](validator, items, instance, schema)


def _unique_items(validator: Any, wanted: bool, instance: Any, schema: Schema) -> Iterator[Any]:
    """Elements that are there twice, found in a time that grows no faster than the list."""
    del validator
    if not wanted or not isinstance(instance, list) or _is_too_long(instance, schema):
        return
    if len({json.dumps(element, sort_keys=True) for element in instance}) < len(instance):
        yield ValidationError("an element is there twice")


def _name(validator: Any, wanted: bool, instance: Any, schema: Schema) -> Iterator[Any]:
    """What is wrong with a name of the right length."""
    del validator
    if wanted and isinstance(instance, str) and 0 < len(instance) <= schema["maxLength"]:
        problem = problem_of_name(instance)
        if problem is not None:
            yield ValidationError(problem)


def _is_too_long(instance: Any, schema: Schema) -> bool:
    return isinstance(instance, list) and len(instance) > schema.get("maxItems", len(instance))


#: What is large and wrong is refused without looking at all of it.
_LinearValidator = validators.extend(
    Draft202012Validator, {"items": _items, "uniqueItems": _unique_items, NAME_FORM: _name}
)


def join(path: Iterable[str | int]) -> str:
    """The JSON path of a place: ``reservations[0].min``."""
    text = ""
    for part in path:
        text += f"[{part}]" if isinstance(part, int) else f".{part}"
    return text.lstrip(".")


def shown(value: Any) -> str:
    """A value in a message, not too long."""
    text = json.dumps(value)
    return text if len(text) <= 60 else text[:57] + "..."


def problems_of(error: Any) -> list[Problem]:
    """What an error of jsonschema says, in our words."""
    path = join(error.absolute_path)
    if error.validator in ("anyOf", "oneOf") and CHOSEN_BY in error.schema:
        return _of_the_chosen(error, path)
    if MESSAGE in error.schema and error.validator != "type":
        return [Problem(path, f"{error.schema[MESSAGE]}" + (f": {path}" if path else ""))]
    if error.validator == "required":
        missing = tuple(key for key in error.validator_value if key not in error.instance)
        where = f" in {path}" if path else ""
        return [
            Problem(join([*error.absolute_path, missing[0]]), f"Missing parameter {', '.join(missing)}{where}", missing)
        ]
    if error.validator == "additionalProperties" and isinstance(error.instance, Mapping):
        known = sorted(error.schema.get("properties", {}))
        return [
            Problem(join([*error.absolute_path, key]), f"{join([*error.absolute_path, key])}: {_unknown(key, known)}")
            for key in islice((key for key in error.instance if key not in known), _MOST_UNKNOWN)
        ]
    return [Problem(path, f"{path or 'body'}: {_what(error)}")]


def _unknown(key: str, known: list[str]) -> str:
    close = difflib.get_close_matches(key[:_COMPARED], known, 1)
    if close:
        return f"is not a known key; perhaps {close[0]} is meant"
    return f"is not a known key; known are {', '.join(known)}" if known else "is not a known key; none is"


def _of_the_chosen(error: Any, path: str) -> list[Problem]:
    """The problems of the one alternative that the value itself names."""
    key = error.schema[CHOSEN_BY]
    if not isinstance(error.instance, Mapping):
        return [Problem(path, f"{path or 'body'}: must be a JSON object, not {shown(error.instance)}")]
    if key not in error.instance:
        where = f" in {path}" if path else ""
        return [Problem(join([*error.absolute_path, key]), f"Missing parameter {key}{where}", (key,))]
    chosen = error.instance[key]
    for number, branch in enumerate(error.validator_value):
        if branch["properties"][key].get("const") == chosen:
            return [
                problem
                for inner in error.context
                if inner.schema_path and inner.schema_path[0] == number
                for problem in problems_of(inner)
            ]
    place = join([*error.absolute_path, key])
    known = ", ".join(branch["properties"][key]["const"] for branch in error.validator_value)
    text = chosen if isinstance(chosen, str) else json.dumps(chosen)
    return [Problem(place, f"The {text[:80]} resource type is not supported: {place} must be one of {known}")]


def _what(error: Any) -> str:
    value, wanted = error.instance, error.validator_value
    if WANTED in error.schema:
        return f"must be {error.schema[WANTED]}, not {shown(value)}"
    match error.validator:
        case "type":
            types = [wanted] if isinstance(wanted, str) else wanted
            return f"must be {' or '.join(_NAMES[name] for name in types)}, not {shown(value)}"
        case "enum":
            return f"must be one of {', '.join(map(json.dumps, wanted))}, not {shown(value)}"
        case "const":
            return f"must be {json.dumps(wanted)}, not {shown(value)}"
        case "minimum":
            return f"must be at least {wanted}, not {shown(value)}"
        case "maximum":
            return f"must be at most {wanted}, not {shown(value)}"
        case "minLength" | "maxLength":
            low, high = error.schema.get("minLength", 0), error.schema.get("maxLength", "any number of")
            return f"must have {low} to {high} characters, not {len(value)}"
        case "minItems" | "maxItems":
            low, high = error.schema.get("minItems", 0), error.schema.get("maxItems", "any number of")
            return f"must have {low} to {high} elements, not {len(value)}"
        case "minProperties" | "maxProperties":
            low, high = error.schema.get("minProperties", 0), error.schema.get("maxProperties", "any number of")
            return f"must have {low} to {high} keys, not {len(value)}"
        case "uniqueItems":
            return "must not hold an element twice"
        case "x-name":
            return str(error.message)
        case "pattern":
            return f"must look like {wanted}, not {shown(value)}"
    return f"does not fit {shown(wanted)}"
