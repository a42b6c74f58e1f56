"""Concatenation of the tables of all runs of a campaign (haizea F90; Sotomayor 2010, appendix A.6)."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from lease_scheduler.model.errors import InputFileError
from lease_scheduler.simulation.haizea_columns import (
    COMMON_COLUMNS,
    COUNTER_COLUMNS,
    PERLEASE_COLUMNS,
    PERRUN_COLUMNS,
)

#: Name of a table -> its columns without the labels, which identify the run.
FILES = {"perrun.csv": PERRUN_COLUMNS, "perlease.csv": PERLEASE_COLUMNS, "utilization.csv": COUNTER_COLUMNS}


def concatenate(folders: Iterable[Path], directory: Path) -> tuple[Path, ...]:
    """Concatenate the tables of runs, in the order of the runs.

    A table has the labels of all runs. A run without one of the labels has empty cells in its column.

    :param folders: folders with the tables of each run
    :param directory: directory for the concatenated tables
    :return: the concatenated tables
    :raises InputFileError: a table is missing or is not a table of a run, or the directory cannot be written
    """
    sources = list(folders)
    return tuple(
        _concatenate([folder / name for folder in sources], columns, directory / name)
        for name, columns in FILES.items()
    )


def _concatenate(parts: list[Path], columns: tuple[str, ...], target: Path) -> Path:
    labels = list(COMMON_COLUMNS)
    for part in parts:
        header = next(_rows(part), None)
        if header is None or tuple(header[-len(columns) :]) != columns:
            raise InputFileError(str(part), 1, "is not a table of a run; delete the campaign's folder and run it again")
        labels += [label for label in header[: -len(columns)] if label not in labels]
    try:
        with TemporaryDirectory(prefix=".writing-", dir=target.parent) as scratch:
            whole = Path(scratch, target.name)
            with whole.open("w", encoding="utf-8", newline="") as stream:
                writer = csv.writer(stream, lineterminator="\n")
                writer.writerow([*labels, *columns])
                for part in parts:
                    writer.writerows(_arranged(part, [*labels, *columns]))
            whole.replace(target)
    except OSError as error:
        raise InputFileError(str(target), None, f"cannot be written: {error.strerror or error}") from error
    return target


def _arranged(part: Path, columns: list[str]) -> Iterator[list[str]]:
    rows = _rows(part)
    header = next(rows)
    places = [header.index(column) if column in header else None for column in columns]
    for row in rows:
        yield ["" if place is None else row[place] for place in places]


def _rows(path: Path) -> Iterator[list[str]]:
    try:
        with path.open(encoding="utf-8", newline="") as stream:
            yield from csv.reader(stream)
    except OSError as error:
        raise InputFileError(str(path), None, f"cannot be read: {error.strerror}") from error
