"""Columns and rows of answers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from cliff.columns import FormattableColumn
from osc_lib.cli import format_columns

from lease_scheduler.model.documents import Document

LEASE_COLUMNS = ("id", "name", "kind", "state", "start_date", "end_date")

#: Keys that answers have where leases have prices or are held, and that say nothing elsewhere.
_OF_PRICES = frozenset({"price", "max_price", "lease_id", "expires_at"})


def show(document: Document) -> tuple[list[str], list[Any]]:
    """Return the keys of one object in alphabetical order, and their values."""
    keys = sorted(document)
    return keys, [_cell(document[key]) for key in keys]


def rows(documents: Iterable[Document], columns: Sequence[str]) -> tuple[list[str], list[list[Any]]]:
    """Return some keys of many objects as a table. A key that an object does not have leaves its cell empty."""
    titles = [column.replace("_", " ").title().replace("Id", "ID") for column in columns]
    return titles, [[_cell(document.get(column)) for column in columns] for document in documents]


def without_missing_prices(document: Document) -> Document:
    """Return an object without the keys about prices and offers that have no value."""
    return {key: value for key, value in document.items() if value is not None or key not in _OF_PRICES}


def _cell(value: Any) -> Any:
    """Return a value for a cell. Nested values are wrapped, since people and programs need them in different forms."""
    kind: type[FormattableColumn[Any]]
    if isinstance(value, dict):
        kind = format_columns.DictColumn
    elif isinstance(value, list) and value and isinstance(value[0], dict):
        kind = format_columns.ListDictColumn
    elif isinstance(value, list):
        kind = format_columns.ListColumn
    else:
        return value
    return kind(value)
