"""The use of a site by steps of time, as ``openstack lease usage --capacity --by hour -f csv`` prints it.

Columns are found by their names: ``start``, ``end``, and for each resource class ``<class>_hours`` and
``<class>_capacity_hours``. The class of which the largest share was used counts.
"""

from __future__ import annotations

import csv
import math
import os
from collections.abc import Sequence
from datetime import UTC, datetime

from lease_scheduler.model.errors import InputFileError
from lease_scheduler.prediction.capacity import Use
from lease_scheduler.simulation.formats.files import read_lines

_CAPACITY = "_capacity_hours"


def read_usage_table(path: str | os.PathLike[str], hosts: int) -> list[Use]:
    """Read a table, plain or gzip. A step holds the mean of its time, so peaks within a step are not seen.

    :param hosts: number of hosts that make up the capacity
    :raises InputFileError: the file cannot be read or is wrong; the error names the line
    """
    name = os.fspath(path)
    lines = read_lines(path)
    _, header = next(lines, (1, ""))
    columns = next(csv.reader([header]), [])
    classes = [column.removesuffix(_CAPACITY) for column in columns if column.endswith(_CAPACITY)]
    missing = [each for each in ("start", "end") if each not in columns]
    if missing or not classes:
        wanted = ", ".join([*missing, *([] if classes else ["VCPU_hours, VCPU_capacity_hours"])])
        raise InputFileError(name, 1, f"has no columns {wanted}; make it with openstack lease usage --capacity -f csv")
    found = []
    for number, line in lines:
        if line:
            row = dict(zip(columns, _fields(name, number, line, len(columns)), strict=True))
            start, end = (_instant(name, number, each, row[each]) for each in ("start", "end"))
            if end <= start:
                raise InputFileError(name, number, f"end must be later than start, not {row['end']}")
            shares = [_share(name, number, each, row) for each in classes]
            found.append(Use(start, end, max(shares) * hosts))
    return found


def _fields(name: str, number: int, line: str, count: int) -> Sequence[str]:
    fields = next(csv.reader([line]))
    if len(fields) != count:
        raise InputFileError(name, number, f"must have {count} fields like the header, not {len(fields)}")
    return fields


def _instant(name: str, number: int, column: str, text: str) -> int:
    try:
        instant = datetime.fromisoformat(text)
    except ValueError:
        problem = f"{column} must be a date such as 2026-11-25T13:00:00Z, not {text[:40]!r}"
        raise InputFileError(name, number, problem) from None
    return int((instant if instant.tzinfo else instant.replace(tzinfo=UTC)).timestamp())


def _share(name: str, number: int, of_class: str, row: dict[str, str]) -> float:
    used = _hours(name, number, f"{of_class}_hours", row)
    most = _hours(name, number, f"{of_class}{_CAPACITY}", row)
    return min(1.0, used / most) if most else 0.0


def _hours(name: str, number: int, column: str, row: dict[str, str]) -> float:
    text = row.get(column, "")
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not math.isfinite(value) or value < 0:
        raise InputFileError(name, number, f"{column} must be a number of at least 0, not {text[:40]!r}")
    return value
