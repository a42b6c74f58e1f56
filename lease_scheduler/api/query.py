"""Conversion and checks of query parameters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from jsonschema import Draft202012Validator  # type: ignore[import-untyped]

from lease_scheduler.api.bodies import check_texts
from lease_scheduler.api.errors import ApiError
from lease_scheduler.api.microversions import Version, header
from lease_scheduler.api.schemas.base import Parameter
from lease_scheduler.api.validation import Problem, problems_of

_TRUE = frozenset({"true", "1", "yes", "on"})
_FALSE = frozenset({"false", "0", "no", "off"})


def read_query(parameters: Sequence[Parameter], version: Version, given: Mapping[str, list[str]]) -> dict[str, Any]:
    """Return the converted values of the query parameters that are given.

    :param given: all values of each key
    :raises ApiError: 400, a parameter is unknown, repeated or invalid
    """
    known = {parameter.name: parameter for parameter in parameters if parameter.since <= version}
    values: dict[str, Any] = {}
    for name, texts in given.items():
        if name not in known:
            shown = ascii(name)[1:-1][:80]
            later = next((parameter.since for parameter in parameters if parameter.name == name), None)
            if later is not None:
                raise ApiError(400, f"{name}: needs the header {header(later)}", name)
            wanted = f"known are {', '.join(sorted(known))}" if known else "none is"
            raise ApiError(400, f"{shown}: is not a known query parameter at microversion {version}; {wanted}", shown)
        if len(texts) > 1:
            raise ApiError(400, f"{name}: is given {len(texts)} times; give it once", name)
        check_texts(texts[0], name, 1)
        values[name] = _value(known[name], texts[0])
    return values


def _value(parameter: Parameter, text: str) -> Any:
    kind = parameter.schema["type"]
    value: Any = text
    if kind == "boolean":
        value = text.lower() in _TRUE if text.lower() in _TRUE | _FALSE else text
    elif kind == "integer" and text.isascii() and text.removeprefix("-").isdigit() and len(text) <= 20:
        value = int(text)
    for error in Draft202012Validator(parameter.schema).iter_errors(value):
        problem: Problem = problems_of(error)[0]
        raise ApiError(400, problem.message.replace("body", parameter.name, 1), parameter.name)
    return value
