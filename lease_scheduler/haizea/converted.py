"""Conversion of the data files of runs to CSV with Haizea's columns (haizea F90)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.simulation.accounting import Accounting, Value
from lease_scheduler.simulation.haizea_columns import (
    COMMON_COLUMNS,
    COUNTER_COLUMNS,
    PERLEASE_COLUMNS,
    PERRUN_COLUMNS,
    Cell,
)
from lease_scheduler.simulation.reports.tables import csv_text, rounded


@dataclass(frozen=True)
class AccountedRun:
    """The contents of a run's data file."""

    workload: str
    accounting: Accounting

    @property
    def attributes(self) -> Mapping[str, str]:
        """Attributes that identify the run."""
        return {"tracefile": self.workload, **self.accounting.attributes}


def per_run(runs: Sequence[AccountedRun]) -> str:
    """Return CSV with a line for every run; columns of other probes follow those of Haizea."""
    columns = _with_other_columns(PERRUN_COLUMNS, [run.accounting.run for run in runs])
    return _labelled(runs, columns, [[_cells(columns, run.accounting.run)] for run in runs])


def per_lease(runs: Sequence[AccountedRun]) -> str:
    """Return CSV with a line for every lease of every run; columns of other probes follow those of Haizea."""
    columns = _with_other_columns(
        PERLEASE_COLUMNS, [values for run in runs for values in run.accounting.leases.values()]
    )
    return _labelled(
        runs,
        columns,
        [
            [_cells(columns, {**values, "lease_id": lease_id}) for lease_id, values in run.accounting.leases.items()]
            for run in runs
        ],
    )


def counter(runs: Sequence[AccountedRun], name: str) -> str:
    """Return CSV with a line for every entry of a counter; the column of averages is empty for one without averages.

    :raises InvalidValueError: a run has no counter of that name
    """
    rows = []
    for run in runs:
        found = run.accounting.counters.get(name)
        if found is None:
            known = ", ".join(sorted(run.accounting.counters)) or "none"
            raise InvalidValueError("counter", f"{run.workload} has no counter {name!r}; it has: {known}")
        averages: list[float | None] = [*found.averages()] or [None] * len(found.entries)
        rows.append(
            [
                [entry.instant, rounded(entry.value), rounded(average)]
                for entry, average in zip(found.entries, averages, strict=True)
            ]
        )
    return _labelled(runs, COUNTER_COLUMNS, rows)


def counter_names(runs: Iterable[AccountedRun]) -> list[str]:
    """Return the names of the counters of all runs, sorted."""
    return sorted({name for run in runs for name in run.accounting.counters})


def _with_other_columns(columns: Sequence[str], found: Iterable[Mapping[str, Value]]) -> tuple[str, ...]:
    others = {name for values in found for name in values} - set(columns)
    return (*columns, *sorted(others))


def _cells(columns: Iterable[str], values: Mapping[str, Value]) -> list[Cell]:
    return [rounded(values.get(name)) for name in columns]


def _labelled(runs: Sequence[AccountedRun], columns: Sequence[str], rows: Iterable[Iterable[Sequence[Cell]]]) -> str:
    """Return CSV whose lines begin with the attributes of their run."""
    others = dict.fromkeys(name for run in runs for name in run.attributes if name not in COMMON_COLUMNS)
    names = (*COMMON_COLUMNS, *others)
    return csv_text(
        (*names, *columns),
        (
            [*(run.attributes.get(name) for name in names), *row]
            for run, of_run in zip(runs, rows, strict=True)
            for row in of_run
        ),
    )
