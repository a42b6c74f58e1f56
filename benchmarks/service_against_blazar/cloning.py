"""Database rows that look like the service's own: copies of real rows with other ids, hosts and times."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from sqlalchemy import Connection, MetaData, Table, insert, select

Row = dict[str, Any]

#: Rows per statement.
_CHUNK = 500


def tables(connection: Connection, names: Iterable[str], known: MetaData | None = None) -> dict[str, Table]:
    """Return tables by name, from known metadata or as the database describes them."""
    if known is not None:
        return {name: known.tables[name] for name in names}
    found = MetaData()
    return {name: Table(name, found, autoload_with=connection) for name in names}


def rows_where(connection: Connection, table: Table, column: str, values: Iterable[Any]) -> list[Row]:
    """Return the rows in which a column has one of some values."""
    query = select(table).where(table.c[column].in_(list(values)))
    return [dict(row) for row in connection.execute(query).mappings()]


def with_values(value: Any, other: Mapping[Any, Any]) -> Any:
    """Return a value, or a nested structure of values, in which some values are replaced.

    Values are equal only if their types are: 1, True and 1.0 differ.
    """
    if isinstance(value, dict):
        return {key: with_values(each, other) for key, each in value.items()}
    if isinstance(value, list):
        return [with_values(each, other) for each in value]
    return other.get((type(value), value), value)


def keyed(other: Mapping[Any, Any]) -> dict[Any, Any]:
    """Return replacements in the form that ``with_values`` takes: by type and value."""
    return {(type(key), key): value for key, value in other.items()}


def insert_all(connection: Connection, table: Table, rows: list[Row]) -> None:
    """Insert rows, many per statement."""
    for first in range(0, len(rows), _CHUNK):
        connection.execute(insert(table), rows[first : first + _CHUNK])


def differences(one: Any, other: Any, path: str = "") -> list[str]:
    """Return where two JSON values differ in keys, lengths of lists or types; other differences are ignored."""
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
