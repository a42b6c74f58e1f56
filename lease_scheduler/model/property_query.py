"""Queries over the properties of hosts: JSON arrays in prefix notation, as in Blazar, with extensions.

``["==", "$gpu", "yes"]`` compares a property with a value. ``["and", Q, Q, ...]`` combines conditions. ``""`` and
``"[]"`` match every host. Extensions to Blazar's syntax are ``["or", Q, ...]``, ``["not", Q]``,
``["in", "$gpu", ["a", "b"]]``, numbers as values, and ``"$trait:NAME"`` as a condition by itself (or as a property
whose value is ``true`` or ``false``).
"""

from __future__ import annotations

import json
import operator
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any

from lease_scheduler.model.errors import InvalidValueError

#: Maximum depth of nested conditions.
MAXIMUM_DEPTH = 16

_TRAIT = "trait:"
_COMPARISONS: dict[str, Callable[[Any, Any], bool]] = {
    "==": operator.eq,
    "=": operator.eq,
    "!=": operator.ne,
    ">=": operator.ge,
    "<=": operator.le,
    ">": operator.gt,
    "<": operator.lt,
}


@dataclass(frozen=True)
class Comparison:
    """A property compared with a value. A host without the property never matches, whatever the operator."""

    sign: str
    key: str
    value: str


@dataclass(frozen=True)
class Membership:
    """A property that has one of several values."""

    key: str
    values: tuple[str, ...]


@dataclass(frozen=True)
class Every:
    """Conjunction: all of the conditions hold. Without conditions, every host matches."""

    parts: tuple[Query, ...]


@dataclass(frozen=True)
class Some:
    """Disjunction: at least one of the conditions holds."""

    parts: tuple[Query, ...]


@dataclass(frozen=True)
class Negation:
    """Condition that does not hold. Hosts without the property match it."""

    part: Query


Query = Comparison | Membership | Every | Some | Negation

ANYTHING = Every(())


def parse_query(text: str, *, field: str = "resource_properties", extended: bool = True) -> Query:
    """Parse a query.

    :param text: a JSON array, or an empty text
    :param field: name of the field for the error message
    :param extended: whether to allow the extensions to Blazar's syntax; numbers without quotation marks always are
    :raises InvalidValueError: the text is not a query; the message says which part is wrong
    """
    if not text.strip():
        return ANYTHING
    try:
        return _query(json.loads(text), 1, extended)
    except RecursionError:
        problem = f"nested deeper than {MAXIMUM_DEPTH}"
    except _MalformedError as error:
        problem = str(error)
    except ValueError:
        problem = 'not valid JSON; a valid query is, for example, ["==", "$gpu", "yes"]'
    raise InvalidValueError(field, f"Malformed requirements {_shown(text)}: {problem}")


def matches(query: Query, properties: Mapping[str, Any], traits: Collection[str] = ()) -> bool:
    """Return whether a host with these properties and traits matches a query.

    Values are compared as numbers if both are numbers, else as texts.
    """
    match query:
        case Every(parts):
            return all(matches(part, properties, traits) for part in parts)
        case Some(parts):
            return any(matches(part, properties, traits) for part in parts)
        case Negation(part):
            return not matches(part, properties, traits)
        case Comparison(sign, key, value):
            found = _value(key, properties, traits)
            return found is not None and _compares(sign, found, value)
        case Membership(key, values):
            found = _value(key, properties, traits)
            return found is not None and any(_compares("==", found, value) for value in values)


def keys(query: Query) -> frozenset[str]:
    """Return the names of the properties in a query, without traits."""
    match query:
        case Every(parts) | Some(parts):
            return frozenset().union(*(keys(part) for part in parts))
        case Negation(part):
            return keys(part)
        case Comparison(key=key) | Membership(key=key):
            return frozenset() if key.startswith(_TRAIT) else frozenset({key})


class _MalformedError(ValueError):
    pass


def _query(value: Any, depth: int, extended: bool) -> Query:
    if depth > MAXIMUM_DEPTH:
        raise _MalformedError(f"nested deeper than {MAXIMUM_DEPTH}")
    if extended and isinstance(value, str) and value.startswith(f"${_TRAIT}"):
        return Comparison("==", _key(value), "true")
    if not isinstance(value, list):
        raise _MalformedError(f"{_shown(value)} is not a condition; a condition is a JSON array")
    if not value:
        return ANYTHING
    sign, *operands = value
    if not isinstance(sign, str):
        raise _MalformedError(f"a condition begins with its operator, not with {_shown(sign)}")
    if sign in _COMPARISONS:
        return _comparison(sign, operands, extended)
    if sign == "and" or (extended and sign == "or"):
        if not operands:
            raise _MalformedError(f'"{sign}" needs at least one condition')
        parts = tuple(_query(operand, depth + 1, extended) for operand in operands)
        return Every(parts) if sign == "and" else Some(parts)
    if extended and sign == "not":
        if len(operands) != 1:
            raise _MalformedError(f'"not" needs exactly one condition, not {len(operands)}')
        return Negation(_query(operands[0], depth + 1, extended))
    if extended and sign == "in":
        return _membership(operands)
    known = ", ".join([*_COMPARISONS, "and", *(("or", "not", "in") if extended else ())])
    raise _MalformedError(f"{_shown(sign)} is not an operator; operators are {known}")


def _comparison(sign: str, operands: list[Any], extended: bool) -> Comparison:
    if len(operands) != 2:
        raise _MalformedError(f'"{sign}" needs a property and a value, not {len(operands)} operands')
    key, value = operands
    return Comparison(sign, _key(key), _text(value, extended))


def _membership(operands: list[Any]) -> Membership:
    if len(operands) != 2 or not isinstance(operands[1], list):
        raise _MalformedError('"in" needs a property and an array of values')
    return Membership(_key(operands[0]), tuple(_text(value, True) for value in operands[1]))


def _key(value: Any) -> str:
    if not isinstance(value, str) or not value.startswith("$") or value in ("$", f"${_TRAIT}"):
        raise _MalformedError(f'{_shown(value)} is not a property; a property is a text like "$gpu"')
    return value[1:]


def _text(value: Any, extended: bool) -> str:
    if isinstance(value, str):
        return value
    if extended and isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float) and not isinstance(value, bool):
        return str(value)
    raise _MalformedError(f"a value is a text or a number, not {_shown(value)}")


def _value(key: str, properties: Mapping[str, Any], traits: Collection[str]) -> str | None:
    if key.startswith(_TRAIT):
        return "true" if key.removeprefix(_TRAIT) in traits else "false"
    value = properties.get(key)
    return None if value is None else str(value)


def _compares(sign: str, found: str, value: str) -> bool:
    left, right = _number(found), _number(value)
    if left is not None and right is not None:
        return _COMPARISONS[sign](left, right)
    return _COMPARISONS[sign](found, value)


def _number(text: str) -> int | float | None:
    try:
        return int(text)
    except ValueError:
        pass
    try:
        number = float(text)
    except ValueError:
        return None
    return number if number == number else None


def _shown(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value)
    return text if len(text) <= 80 else text[:77] + "..."
