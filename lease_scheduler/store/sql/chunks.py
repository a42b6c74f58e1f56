"""Splitting lists that are too long for one SQL statement."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeVar

#: Keys in one ``IN`` list; SQLite takes at most 32,766 parameters.
_SIZE = 1_000

_Key = TypeVar("_Key")


def chunks(keys: list[_Key]) -> Iterator[list[_Key]]:
    """Yield the keys in lists that are short enough for one statement."""
    return (keys[first : first + _SIZE] for first in range(0, len(keys), _SIZE))
