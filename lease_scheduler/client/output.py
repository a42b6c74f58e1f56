"""Columns and rows of answers: for people in words and lines of readable width, for programs unchanged."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from cliff.columns import FormattableColumn

from lease_scheduler.model.documents import Document
from lease_scheduler.model.durations import in_words

LEASE_COLUMNS = ("id", "name", "kind", "state", "start_date", "end_date")
#: The columns of a list of leases that people read; with the id, a line would not fit into 80 characters.
BRIEF_COLUMNS = LEASE_COLUMNS[1:]

#: Keys of leases and of what they contain that only operators and programs need.
_INTERNALS = frozenset(
    {
        *("aggregate_id", "created_at", "events", "holdings", "lease_id", "missing_resources", "negotiation_id"),
        *("number", "resource_id", "resources_changed", "trust_id", "updated_at", "version"),
    }
)
#: Keys of durations, in seconds.
_DURATIONS = frozenset({"duration", "accumulated", "seconds"})
_NOTHING: tuple[Any, ...] = (None, "", [], {})
#: A date as the API gives it, in UTC.
_DATE = re.compile(r"(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d)(?::(\d\d))?(?:\.\d+)?(?:Z|\+00:00)?")
#: Width of a terminal, in characters.
_WIDTH = 80
#: Width of the border of a table, and of what each column adds to it.
_BORDER, _COLUMN_BORDER = 1, 3
#: Minimum width of names in a list of leases, and width of the longest states, which wrap at their hyphens.
_NARROWEST = 11
_WIDEST = {"state": 10}
#: Characters of a date to the minute.
_MINUTE = 16


def show(document: Document) -> tuple[list[str], list[Any]]:
    """Return the keys of one object in alphabetical order, and their values."""
    keys = sorted(document)
    width = _WIDTH - _BORDER - 2 * _COLUMN_BORDER - max(map(len, keys), default=0)
    return keys, [_cell(key, document[key], width) for key in keys]


def brief(lease: Document) -> Document:
    """Return the keys of a lease that have a value and mean something to its project."""
    kept = _without_internals(lease)
    assert isinstance(kept, dict)
    return kept


def rows(documents: Iterable[Document], columns: Sequence[str]) -> tuple[list[str], list[list[Any]]]:
    """Return some keys of many objects as a table. A key that an object does not have leaves its cell empty."""
    return _titles(columns), [
        [_cell(column, document.get(column), _WIDTH) for column in columns] for document in documents
    ]


def brief_rows(leases: Sequence[Document], columns: Sequence[str]) -> tuple[list[str], list[list[str]]]:
    """Return leases as a table of words, with dates to the minute; ``BRIEF_COLUMNS`` fit into 80 characters.

    Long names and states are wrapped. The names get what the other columns leave.
    """
    titles = _titles(columns)
    cells = [[_minute(_text_of(column, _or_nothing(lease.get(column)))) for column in columns] for lease in leases]
    widths = [
        min(_WIDEST.get(column, _WIDTH), max(map(len, (title, *words))))
        for column, title, *words in zip(columns, titles, *cells, strict=True)
    ]
    others = sum(width for column, width in zip(columns, widths, strict=True) if column != "name")
    left = max(_NARROWEST, _WIDTH - _BORDER - _COLUMN_BORDER * len(columns) - others)
    widths = [left if column == "name" else width for column, width in zip(columns, widths, strict=True)]
    return titles, [[textwrap.fill(cell, width) for cell, width in zip(row, widths, strict=True)] for row in cells]


def _or_nothing(value: Any) -> Any:
    return "" if value is None else value


def _minute(words: str) -> str:
    """Return a date without its seconds, and other words as they are."""
    return words[:_MINUTE] if len(words) > _MINUTE and _DATE.fullmatch(words) else words


def has_hosts(lease: Document) -> bool:
    """Return whether a lease is on hosts, which its holdings name by ids that people do not know."""
    return "id" in lease and any(holding.get("hosts") for holding in lease.get("holdings") or ())


def _titles(columns: Sequence[str]) -> list[str]:
    return [column.replace("_", " ").title().replace("Id", "ID") for column in columns]


def _without_internals(value: Any) -> Any:
    if isinstance(value, Mapping):
        parts = {key: _without_internals(part) for key, part in value.items() if key not in _INTERNALS}
        return {key: part for key, part in parts.items() if part not in _NOTHING}
    if isinstance(value, list):
        return [_without_internals(part) for part in value]
    return value


class _InWords(FormattableColumn[Any]):
    """A value that people read in words.

    :param key: the key that the value has in its object
    :param width: maximum number of characters in a line
    """

    def __init__(self, key: str, value: Any, width: int) -> None:
        super().__init__(value)
        self._key = key
        self._width = width

    def human_readable(self) -> str:
        """Return the words, in lines of readable width."""
        value = self._value
        parts = value if isinstance(value, list) and any(isinstance(part, dict) for part in value) else [value]
        return "\n".join(
            # What cannot be copied in one piece, such as an address, is of no use.
            textwrap.fill(
                _text_of(self._key, part),
                self._width,
                subsequent_indent="  ",
                break_on_hyphens=False,
                break_long_words=False,
            )
            for part in parts
        )


def _cell(key: str, value: Any, width: int) -> Any:
    """Return a value for a table. Values that are the same in words stay plain, so that lists can be sorted by them."""
    if value is None or value == "" or isinstance(value, bool):
        return value
    said = _text_of(key, value)
    return value if said == str(value) and len(said) <= width else _InWords(key, value, width)


def _text_of(key: str, value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{name}={_text_of(name, part)}" for name, part in value.items() if part not in _NOTHING)
    if isinstance(value, list):
        return ", ".join(_text_of(key, part) for part in value)
    if key in _DURATIONS and isinstance(value, int):
        return in_words(value)
    return date(value) if isinstance(value, str) else str(value)


def date(text: str) -> str:
    """Return a date of the API for people, without fractions of seconds; other texts are returned as they are."""
    if not (found := _DATE.fullmatch(text)):
        return text
    day, minute, second = found.groups()
    return f"{day} {minute}" if second in (None, "00") else f"{day} {minute}:{second}"
