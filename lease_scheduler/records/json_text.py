"""JSON as text, by orjson where it can and by the standard library where not."""

from __future__ import annotations

import json
from typing import Any

import orjson


def to_json(value: Any) -> bytes:
    """Return a value as JSON in UTF-8; numbers that are not finite become null.

    :raises TypeError: JSON has no such value
    """
    try:
        return orjson.dumps(value)
    except TypeError:
        # It may have whole numbers beyond 64 bits, keys that are no texts, or lone surrogates.
        return json.dumps(value).encode()


def from_json(text: str | bytes) -> Any:
    """Return the value of a JSON text; whole numbers beyond 64 bits become floating-point numbers.

    :raises ValueError: it is no JSON
    """
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        # The standard library also knows Infinity and lone surrogates.
        return json.loads(text)
