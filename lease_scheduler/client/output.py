"""Columns and rows of answers: for people in words and lines of readable width, for programs as they came."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from cliff.columns import FormattableColumn

from lease_scheduler.model.documents import Document
from lease_scheduler.model.durations import in_words

LEASE_COLUMNS = ("id", "name", "kind", "state", "start_date", "end_date")

#: Keys of durations, in seconds.
_DURATIONS = frozenset({"duration", "accumulated", "seconds"})
#: Keys of texts that may be long.
_TEXTS = frozenset({"reason", "description"})
#: Keys that answers have where leases have prices or are held, and that say nothing elsewhere.
_OF_PRICES = frozenset({"price", "max_price", "lease_id", "expires_at"})
#: Maximum number of characters in a line of a cell.
_WIDTH = 80


def show(document: Document) -> tuple[list[str], list[Any]]:
    """Return the keys of one object in alphabetical order, and their values."""
    keys = sorted(document)
    return keys, [_cell(key, document[key]) for key in keys]


def rows(documents: Iterable[Document], columns: Sequence[str]) -> tuple[list[str], list[list[Any]]]:
    """Return some keys of many objects as a table. A key that an object does not have leaves its cell empty."""
    titles = [column.replace("_", " ").title().replace("Id", "ID") for column in columns]
    return titles, [[_cell(column, document.get(column)) for column in columns] for document in documents]


def without_missing_prices(document: Document) -> Document:
    """Return an object without the keys about prices and offers that have no value."""
    return {key: value for key, value in document.items() if value is not None or key not in _OF_PRICES}


class _InWords(FormattableColumn[Any]):
    """A value that people read in words.

    :param key: the key that the value has in its object
    """

    def __init__(self, key: str, value: Any) -> None:
        super().__init__(value)
        self._key = key

    def human_readable(self) -> str:
        """Return the words, in lines of readable width."""
        value = self._value
        parts = value if isinstance(value, list) and any(isinstance(part, dict) for part in value) else [value]
        return "\n".join(
            textwrap.fill(_said(self._key, part), _WIDTH, subsequent_indent="  ", break_on_hyphens=False)
            for part in parts
        )


def _cell(key: str, value: Any) -> Any:
    is_long = isinstance(value, dict | list) or (key in _TEXTS and value)
    is_duration = key in _DURATIONS and isinstance(value, int)
    return _InWords(key, value) if is_long or is_duration else value


def _said(key: str, value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(
            f"{name}={_said(name, part)}" for name, part in value.items() if part not in (None, "", [], {})
        )
    if isinstance(value, list):
        return ", ".join(_said(key, part) for part in value)
    return in_words(value) if key in _DURATIONS and isinstance(value, int) else str(value)
