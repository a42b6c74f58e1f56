"""Validation against JSON schemas, with messages that name the field and say what would be right."""

from __future__ import annotations

import difflib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import islice
from typing import Any

from jsonschema import Draft202012Validator, ValidationError, validators  # type: ignore[import-untyped]

from lease_scheduler.api.errors import ApiError
from lease_scheduler.api.microversions import VERSIONS, Version, header
from lease_scheduler.api.names import problem_of_name

Schema = dict[str, Any]
#: Returns the schema of a microversion.
VersionedSchema = Callable[[Version], Schema]

#: Keyword of a schema: what would be right, in words.
WANTED = "x-wanted"
#: Keyword of a schema: the complete error message.
MESSAGE = "x-message"
#: Keyword of a text that is a date. The form of a date is checked where it is parsed.
DATE_FORM = "x-date"
#: Keyword of a text whose form is checked where it is parsed: a pattern for the OpenAPI description.
FORM = "x-form"
#: Keyword of a list of alternatives: the property whose value selects one of them.
CHOSEN_BY = "x-chosen-by"

#: Keyword of a text that is a name, which people must be able to read (see ``names``).
NAME_FORM = "x-name"

#: Maximum number of problems that are examined; a large body may have very many.
_MOST_PROBLEMS = 1_000
#: Maximum number of unknown keys that are reported for one object, and number of their characters that are compared
#: with known keys.
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
    """One problem of a value.

    :ivar path: JSON path of the problem; empty for the value as a whole
    :ivar missing: the missing keys, if that is the problem
    :ivar is_unknown: whether the problem is a key that is not known
    :ivar since: the microversion that knows the key, if a later one does
    """

    path: str
    message: str
    missing: tuple[str, ...] = ()
    is_unknown: bool = False
    since: Version | None = None

    def error(self) -> ApiError:
        """Return the error for a request that has this problem."""
        return ApiError(400, self.message[:1_000], self.path[:200] or "body")


def find_problems(schema: VersionedSchema, version: Version, value: Any) -> tuple[Problem, ...]:
    """Return the problems of a value.

    Keys of later microversions come first, since other problems may follow from them. Then come outer problems before
    inner ones, and at equal depth missing keys first.
    """
    found = _with_later_keys(_problems(schema, version, value), schema, version, value)
    return tuple(
        sorted(found, key=lambda problem: (problem.since is None, problem.path.count("."), not problem.missing))
    )


def _problems(schema: VersionedSchema, version: Version, value: Any) -> list[Problem]:
    found: list[Problem] = []
    for error in islice(_validator(schema, version).iter_errors(value), _MOST_PROBLEMS):
        found.extend(problems_of(error))
    return list({(problem.path, problem.message): problem for problem in found}.values())


def _with_later_keys(problems: list[Problem], schema: VersionedSchema, version: Version, value: Any) -> list[Problem]:
    """Return the problems, where unknown keys that a later microversion knows name the header that they need."""
    unknown = {problem.path for problem in problems if problem.is_unknown}
    since: dict[str, Version] = {}
    for later in (each for each in VERSIONS if each > version):
        if not unknown:
            break
        still = {problem.path for problem in _problems(schema, later, value) if problem.is_unknown}
        since |= dict.fromkeys(unknown - still, later)
        unknown &= still
    return [
        replace(
            problem,
            message=f"{problem.path}: needs the header {header(since[problem.path])}",
            since=since[problem.path],
        )
        if problem.is_unknown and problem.path in since
        else problem
        for problem in problems
    ]


@lru_cache(maxsize=256)
def _validator(schema: VersionedSchema, version: Version) -> Any:
    return _LinearValidator(schema(version))


def _items(validator: Any, items: Schema, instance: Any, schema: Schema) -> Iterator[Any]:
    """Check the elements of a list, unless it is too long, which the keyword ``maxItems`` reports."""
    if not _is_too_long(instance, schema):
        yield from Draft202012Validator.VALIDATORS["items"](validator, items, instance, schema)


def _unique_items(validator: Any, wanted: bool, instance: Any, schema: Schema) -> Iterator[Any]:
    """Check that no element occurs twice, in time linear in the size of the list."""
    del validator
    if not wanted or not isinstance(instance, list) or _is_too_long(instance, schema):
        return
    if len({json.dumps(element, sort_keys=True) for element in instance}) < len(instance):
        yield ValidationError("an element is there twice")


def _name(validator: Any, wanted: bool, instance: Any, schema: Schema) -> Iterator[Any]:
    """Check a name, unless its length is wrong, which other keywords report."""
    del validator
    if wanted and isinstance(instance, str) and 0 < len(instance) <= schema["maxLength"]:
        problem = problem_of_name(instance)
        if problem is not None:
            yield ValidationError(problem)


def _is_too_long(instance: Any, schema: Schema) -> bool:
    return isinstance(instance, list) and len(instance) > schema.get("maxItems", len(instance))


#: Validator that refuses large invalid values without examining all of them.
_LinearValidator = validators.extend(
    Draft202012Validator, {"items": _items, "uniqueItems": _unique_items, NAME_FORM: _name}
)


def join(path: Iterable[str | int]) -> str:
    """Return the JSON path of a place, such as ``reservations[0].min``."""
    text = ""
    for part in path:
        text += f"[{part}]" if isinstance(part, int) else f".{part}"
    return text.lstrip(".")


def shown(value: Any) -> str:
    """Return a value as JSON for a message, in at most 60 characters."""
    text = json.dumps(value)
    return text if len(text) <= 60 else text[:57] + "..."


def problems_of(error: Any) -> list[Problem]:
    """Return the problems that an error of jsonschema stands for, in the words of this API."""
    path = join(error.absolute_path)
    if error.validator in ("anyOf", "oneOf") and CHOSEN_BY in error.schema:
        return _problems_of_chosen(error, path)
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
            Problem(
                join([*error.absolute_path, key]),
                f"{join([*error.absolute_path, key])}: {_unknown(key, known)}",
                is_unknown=True,
            )
            for key in islice((key for key in error.instance if key not in known), _MOST_UNKNOWN)
        ]
    return [Problem(path, f"{path or 'body'}: {_describe(error)}")]


def _unknown(key: str, known: list[str]) -> str:
    close = difflib.get_close_matches(key[:_COMPARED], known, 1)
    if close:
        return f"is not a known key; perhaps {close[0]} is meant"
    return f"is not a known key; known are {', '.join(known)}" if known else "is not a known key; none is"


def _problems_of_chosen(error: Any, path: str) -> list[Problem]:
    """Return the problems of the alternative that the value itself selects."""
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


def _describe(error: Any) -> str:
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
        case "exclusiveMinimum":
            return f"must be more than {wanted}, not {shown(value)}"
        case "exclusiveMaximum":
            return f"must be less than {wanted}, not {shown(value)}"
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
