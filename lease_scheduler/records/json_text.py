"""JSON as text: orjson, with the standard library for what orjson refuses."""

from __future__ import annotations

import json
from typing import Any

import orjson


def to_json(value: Any) -> bytes:
    """Return a value as JSON in UTF-8; numbers that are not finite become null.

    :raises TypeError: the value cannot be expressed in JSON
    """
    try:
        return orjson.dumps(value)
    except TypeError:
        # orjson refuses whole numbers beyond 64 bits, keys that are not texts, and lone surrogates.
        return json.dumps(value).encode()


def from_json(text: str | bytes) -> Any:
    """Return the value of a JSON text; whole numbers beyond 64 bits become floating-point numbers.

    :raises ValueError: the text is not JSON
    """
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        # The standard library also accepts Infinity and lone surrogates.
        return json.loads(text)
