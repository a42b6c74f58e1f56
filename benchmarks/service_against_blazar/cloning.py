"""Rows that look like those that a service itself has written: copies of them, with other ids, hosts and times."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from sqlalchemy import Connection, MetaData, Table, insert, select

Row = dict[str, Any]

#: Rows in one statement.
_CHUNK = 500


def tables(connection: Connection, names: Iterable[str], known: MetaData | None = None) -> dict[str, Table]:
    """Tables by name, as the database or its owner describes them."""
    if known is not None:
        return {name: known.tables[name] for name in names}
    found = MetaData()
    return {name: Table(name, found, autoload_with=connection) for name in names}


def rows_where(connection: Connection, table: Table, column: str, values: Iterable[Any]) -> list[Row]:
    """Rows in which a column has one of some values."""
    query = select(table).where(table.c[column].in_(list(values)))
    return [dict(row) for row in connection.execute(query).mappings()]


def with_values(value: Any, other: Mapping[Any, Any]) -> Any:
    """A value, or a structure of values, in which some are others.

    Only values of the same type are the same: 1, True and 1.0 are not.
    """
    if isinstance(value, dict):
        return {key: with_values(each, other) for key, each in value.items()}
    if isinstance(value, list):
        return [with_values(each, other) for each in value]
    return other.get((type(value), value), value)


def keyed(other: Mapping[Any, Any]) -> dict[Any, Any]:
    """Values by type and value, as ``with_values`` wants them."""
    return {(type(key), key): value for key, value in other.items()}


def insert_all(connection: Connection, table: Table, rows: list[Row]) -> None:
    """Insert rows, many with one statement."""
    for first in range(0, len(rows), _CHUNK):
        connection.execute(insert(table), rows[first : first + _CHUNK])


def differences(one: Any, other: Any, path: str = "") -> list[str]:
    """Where two JSON values differ in shape: keys, lengths of lists, and types but not values."""
    if type(one) is not type(other):
        return [f"{path or '.'}: {type(one).__name__} and {type(other).__name__}"]
    if isinstance(one, dict):
        found = [f"{path}.{key}: only in one" for key in sorted(one.keys() ^ other.keys())]
        for key in sorted(one.keys() & other.keys()):
            found += differences(one[key], other[key], f"{path}.{key}")
        return found
    if isinstance(one, list):
        if len(one) != len(other):
            return [f"{path}: {len(one)} and {len(other)} entries"]
        return [
            text for i, (a, b) in enumerate(zip(one, other, strict=True)) for text in differences(a, b, f"{path}[{i}]")
        ]
    return []
