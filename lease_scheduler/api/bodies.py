"""Parse the JSON body of a request, and refuse values that no handler should see."""

from __future__ import annotations

import json
import math
from typing import Any

from lease_scheduler.api.errors import ApiError

#: Maximum nesting of objects and arrays in a body.
MAXIMUM_DEPTH = 32


def parse_body(raw: bytes, content_type: str) -> Any:
    """Return the JSON value of a body.

    :raises ApiError: 400, with the first problem found
    """
    if not raw.strip():
        raise ApiError(400, "The body is missing; send a JSON object", "body")
    if content_type != "application/json":
        raise ApiError(
            400, f"Content-Type: must be application/json, not {content_type[:80] or 'missing'}", "Content-Type"
        )
    try:
        value = json.loads(
            raw.decode(),
            parse_constant=_no_constant,
            parse_float=_number,
            object_pairs_hook=_object,
        )
    except RecursionError:
        raise _too_deep("body") from None
    except UnicodeDecodeError as error:
        raise ApiError(400, f"The body is not UTF-8: byte {error.start}", "body") from error
    except ValueError as error:
        raise ApiError(400, f"The body is not JSON: {error}", "body") from error
    check_texts(value, "", 1)
    return value


def check_texts(value: Any, path: str, depth: int) -> None:
    """Refuse strings that databases reject, and nesting deeper than any schema.

    :raises ApiError: 400, with the path of the wrong value
    """
    if depth > MAXIMUM_DEPTH:
        raise _too_deep(path)
    if isinstance(value, str):
        if "\x00" in value or any("\ud800" <= character <= "\udfff" for character in value):
            raise ApiError(400, f"{path or 'body'}: must not hold NUL characters or lone surrogates", path or "body")
    elif isinstance(value, list):
        for number, element in enumerate(value):
            check_texts(element, f"{path}[{number}]", depth + 1)
    elif isinstance(value, dict):
        for key, element in value.items():
            check_texts(key, f"{path}.{ascii(key)[1:-1]}".lstrip("."), depth + 1)
            check_texts(element, f"{path}.{key}" if path else key, depth + 1)


def _too_deep(path: str) -> ApiError:
    where = path if len(path) <= 80 else path[:77] + "..."
    return ApiError(400, f"{where}: nested deeper than {MAXIMUM_DEPTH}", where)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise ValueError(f"the key {key!r} is there twice")
        found[key] = value
    return found


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not a JSON number")


def _number(text: str) -> int | float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"{text} is too large")
    # JSON Schema counts 2.0 as an integer, and handlers rely on int.
    return int(number) if number.is_integer() else number
