"""Result files of a run, for scripts and spreadsheets (haizea F90; Sotomayor 2010, appendix A.6).

``leases.csv`` and ``summary.json`` are formats of this project. ``perrun.csv``, ``perlease.csv``, ``utilization.csv``,
``disk-usage.csv`` and the file of a rate sweep have the columns of Haizea's result files. CSV files are UTF-8, with a
header and lines that end in a line feed; a cell without a value is empty. Instants are whole seconds from the
workload's zero. The same run gives the same bytes, except ``wall_s`` and ``peak_rss_bytes`` in the summary.
"""

from __future__ import annotations

import csv
import io
import json
import math
import os
import tempfile
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from lease_scheduler.model.errors import InputFileError
from lease_scheduler.model.resources import VCPU
from lease_scheduler.model.states import LeaseState
from lease_scheduler.simulation import haizea_columns, metrics
from lease_scheduler.simulation.haizea_columns import (
    COMMON_COLUMNS,
    COUNTER_COLUMNS,
    PERLEASE_COLUMNS,
    PERRUN_COLUMNS,
    Cell,
)
from lease_scheduler.simulation.rate_sweep import RateSweep
from lease_scheduler.simulation.result import RunResult
from lease_scheduler.simulation.step_function import StepFunction

RATESWEEP_COLUMNS = ("rate", "revenue", "underpricing", "rejected")

LEASES_COLUMNS = (
    "lease_id",
    "kind",
    "state",
    "arrival",
    "start",
    "end",
    "nodes",
    "requested_duration",
    "accumulated",
    "waiting",
    "bounded_slowdown",
    "deadline",
    "user",
    "reason",
)

# Decimals of numbers in files: more than are significant, but too few to depend on the order of summation.
_DIGITS = 6


def write_results(
    result: RunResult, directory: str | os.PathLike[str], attributes: Mapping[str, str] | None = None
) -> tuple[Path, ...]:
    """Write all files of a run. If writing fails, each file is either complete or unchanged.

    :param directory: directory of the files; it is created, with its parents, if it is missing
    :param attributes: columns that identify the run in Haizea's files: values for ``COMMON_COLUMNS``, followed by any
        others, such as ``utilization``, ``delta`` or ``tau``, in their order
    :return: the files, ``summary.json`` last
    :raises InputFileError: the directory or a file cannot be written
    """
    known = {"tracefile": result.workload_name, **(attributes or {})}
    contents = {
        "leases.csv": leases_csv(result),
        "perlease.csv": perlease_csv(result, known),
        "perrun.csv": perrun_csv(result, known),
        "utilization.csv": utilization_csv(result, known),
    }
    if result.disk_usage:
        contents["disk-usage.csv"] = disk_usage_csv(result, known)
    contents["summary.json"] = summary_json(result)
    target = Path(directory)
    try:
        target.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".writing-", dir=target) as temporary:
            for name, text in contents.items():
                Path(temporary, name).write_text(text, encoding="utf-8", newline="")
            for name in contents:
                os.replace(Path(temporary, name), target / name)
    except OSError as error:
        problem = f"cannot hold the results: {error.strerror or error}; name another directory"
        raise InputFileError(os.fspath(directory), None, problem) from error
    return tuple(target / name for name in contents)


def leases_csv(result: RunResult) -> str:
    """Return CSV with one line per lease, in order of submission: its request and its outcome.

    ``start`` is the first second of the first run. ``end`` is the instant at which the lease reached its final state,
    even if it never ran. Durations are in s.
    """
    waits, slowdowns = metrics.waiting_times(result.leases), metrics.bounded_slowdowns(result.leases)
    return csv_text(
        LEASES_COLUMNS,
        (
            (
                lease.lease_id,
                lease.kind.value,
                lease.state.value,
                lease.request.submitted - result.start,
                _since(lease.started, result.start),
                _since(lease.ended, result.start),
                lease.request.node_count,
                lease.request.duration,
                lease.accumulated,
                _whole(wait),
                number(slowdown),
                _since(lease.request.deadline, result.start),
                lease.request.user,
                lease.reason,
            )
            for lease, wait, slowdown in zip(result.leases, waits.tolist(), slowdowns.tolist(), strict=True)
        ),
    )


def perlease_csv(result: RunResult, attributes: Mapping[str, str]) -> str:
    """Return Haizea's per-lease file (Sotomayor 2010, appendix A.6); see ``haizea_columns`` for the values."""
    rows = []
    for lease in result.leases:
        measured = {**haizea_columns.delays(lease), **haizea_columns.outcome(lease), **haizea_columns.price(lease)}
        values = {
            "lease_id": lease.lease_id,
            **lease.request.extras,
            # Prices are exactly as they were quoted, not rounded.
            **{name: value if name == "Price" else rounded(value) for name, value in measured.items()},
        }
        rows.append([values.get(name) for name in PERLEASE_COLUMNS])
    return labelled(attributes, PERLEASE_COLUMNS, rows)


def perrun_csv(result: RunResult, attributes: Mapping[str, str]) -> str:
    """Return Haizea's per-run file, which has one line (Sotomayor 2010, appendix A.6).

    Revenues are not normalised, and empty if no lease has a price.
    """
    leases = result.leases
    values: dict[str, Cell] = {
        **haizea_columns.all_counts(leases),
        **haizea_columns.reservation_counts(leases),
        **haizea_columns.best_effort_counts(leases),
        "all-best-effort": metrics.all_best_effort(result),
        **{name: rounded(amount) for name, amount in haizea_columns.money(leases).items()},
    }
    return labelled(attributes, PERRUN_COLUMNS, [[values.get(name) for name in PERRUN_COLUMNS]])


def utilization_csv(result: RunResult, attributes: Mapping[str, str]) -> str:
    """Return Haizea's utilization file: a line per change, with the time-weighted average since the run's zero."""
    used = metrics.utilisation(result)
    columns = (used.times.tolist(), used.values.tolist(), used.running_averages().tolist())
    rows = ((time, number(value), number(average)) for time, value, average in zip(*columns, strict=True))
    return labelled(attributes, COUNTER_COLUMNS, rows)


def average_utilization_csv(result: RunResult, attributes: Mapping[str, str]) -> str:
    """Return Haizea's utilization file with one line only: the value at the last submission, and the final average.

    The average does not include the ramp-up, as in the dissertation's figures (Sotomayor 2010, appendix A.6).
    """
    used = metrics.utilisation(result)
    last = min(result.last_submission, result.end) - result.start
    value = used.values[max(0, int(np.searchsorted(used.times, last, side="right")) - 1)]
    row = (last, number(float(value)), number(metrics.average_utilisation(result)))
    return labelled(attributes, COUNTER_COLUMNS, [row])


def disk_usage_csv(result: RunResult, attributes: Mapping[str, str]) -> str:
    """Return the MB that images use on the fullest host, in the columns of Haizea's counters (haizea F85)."""
    instants, values = zip(*result.disk_usage, strict=True)
    used = StepFunction(np.array(instants, dtype=np.int64), np.array(values, dtype=np.float64), result.end)
    columns = (used.times.tolist(), used.values.tolist(), used.running_averages().tolist())
    rows = ((time, number(value), number(average)) for time, value, average in zip(*columns, strict=True))
    return labelled(attributes, COUNTER_COLUMNS, rows)


def ratesweep_csv(swept: RateSweep, attributes: Mapping[str, str]) -> str:
    """Return Haizea's file of a rate sweep: a line per rate, with shares of all that users would pay (haizea F89)."""
    columns = (swept.rates.tolist(), swept.earned.tolist(), swept.underpriced.tolist(), swept.rejected.tolist())
    rows = ([number(value) for value in row] for row in zip(*columns, strict=True))
    return labelled(attributes, RATESWEEP_COLUMNS, rows)


def summary(result: RunResult) -> dict[str, Any]:
    """Return a summary of the run as JSON values; null where nothing could be measured.

    Waits and slowdowns are means over best-effort leases, as in Sotomayor 2010, section 5.4.3. The utilisation is the
    average from the end of the ramp-up to the last submission.
    """
    total = metrics.count_leases(result.leases)
    measured = metrics.measurements(result.leases)
    states = Counter(lease.state for lease in result.leases)
    return {
        "workload": result.workload_name,
        "hosts": len(result.site),
        "vcpus": result.site.total(VCPU),
        "simulated_s": result.end - result.start,
        "last_submission_s": result.last_submission - result.start,
        "leases": total.requested,
        "accepted": total.accepted,
        "rejected": total.rejected,
        "all_best_effort_s": metrics.all_best_effort(result),
        "mean_wait_s": _rounded(metrics.mean(measured.waiting)),
        "mean_bounded_slowdown": _rounded(metrics.mean(measured.slowdown)),
        "measured_leases": len(measured),
        "utilisation": _rounded(metrics.average_utilisation(result)),
        "suspensions": result.counters.get("suspensions", 0),
        "migrations": result.counters.get("migrations", 0),
        "counters": dict(sorted(result.counters.items())),
        "kinds": {kind.value: asdict(counts) for kind, counts in metrics.count_by_kind(result.leases).items()},
        "states": {state.value: states[state] for state in LeaseState if states[state]},
        "wall_s": result.wall_s,
        "peak_rss_bytes": result.peak_rss_bytes,
    }


def summary_json(result: RunResult) -> str:
    """Return ``summary`` as JSON."""
    return json.dumps(summary(result), indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def labelled(attributes: Mapping[str, str], columns: Sequence[str], rows: Iterable[Sequence[Cell]]) -> str:
    """Return a CSV file in Haizea's layout, in which every line begins with the attributes that identify the run."""
    names = (*COMMON_COLUMNS, *(name for name in attributes if name not in COMMON_COLUMNS))
    labels = [attributes.get(name) for name in names]
    return csv_text((*names, *columns), ((*labels, *row) for row in rows))


def csv_text(columns: Sequence[str], rows: Iterable[Sequence[Cell]]) -> str:
    """Return CSV with a header line and the rows."""
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(rows)
    return text.getvalue()


def _since(instant: int | None, zero: int) -> int | None:
    return None if instant is None else instant - zero


def _whole(value: float) -> int | None:
    return None if math.isnan(value) else int(value)


def rounded(value: Cell) -> Cell:
    """Return a value as it is written: fractions with a limited number of digits."""
    return number(value) if isinstance(value, float) else value


def number(value: float) -> str | None:
    """Return a number as it is written, or None for NaN."""
    return None if math.isnan(value) else np.format_float_positional(round(value, _DIGITS), trim="-")


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, _DIGITS)
