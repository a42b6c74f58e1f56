"""A run as files for scripts and spreadsheets (haizea F90; Sotomayor 2010, appendix A.6).

``leases.csv`` and ``summary.json`` are the project's own; ``perrun.csv``, ``perlease.csv``, ``utilization.csv``,
``disk-usage.csv`` and the file of a rate sweep have the columns of Haizea's result files. CSV is UTF-8 with a header
and lines that end in a line feed; a cell without a value is empty. Instants are whole seconds from the workload's
zero. The same run gives the same bytes, but for ``wall_s`` and ``peak_rss_bytes`` in the summary.
"""

from __future__ import annotations

import csv
import io
import json
import math
import os
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from lease_scheduler.model.errors import InputFileError
from lease_scheduler.model.lease import Lease, LeaseKind
from lease_scheduler.model.resources import VCPU
from lease_scheduler.model.states import LeaseState
from lease_scheduler.simulation import metrics
from lease_scheduler.simulation.rate_sweep import RateSweep
from lease_scheduler.simulation.result import RunResult
from lease_scheduler.simulation.step_function import StepFunction

Cell = str | int | float | None

#: What says which run a row is about, in every file of Haizea's schema.
COMMON_COLUMNS = ("profile", "tracefile", "annotationfile", "injectfile")

PERRUN_COLUMNS = (
    "Total requested leases",
    "Total accepted AR",
    "Total best-effort completed",
    "Total completed leases",
    "Total rejected AR",
    "Total rejected leases (by user)",
    "Total rejected leases",
    "all-best-effort",
    "Revenue",
    "Surcharge",
    "Missed revenue (undercharging)",
    "Missed revenue (reject)",
    "Missed revenue (reject by user)",
    "Missed revenue (total)",
)

#: Columns of the per-lease file that generators and readers of logs leave in the extras of a request.
EXTRA_COLUMNS = (
    "simul_start_delta",
    "simul_userrate",
    "simul_deadline_tau",
    "rate",
    "rejected_price",
    "SWF_group",
    "SWF_waittime",
    "SWF_runtime",
    "SWF_execnumber",
    "SWF_avgcputime",
    "SWF_queue",
)

PERLEASE_COLUMNS = (
    "lease_id",
    "Waiting time",
    "Slowdown",
    "State",
    "Number of nodes",
    "Requested duration",
    "Actual duration",
    "Start",
    "Deadline",
    "Price",
    *EXTRA_COLUMNS,
)

#: What Haizea gives as the price of a lease that its user did not want at its price.
_REFUSED = -1

UTILIZATION_COLUMNS = ("time", "value", "average")

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

# More digits than are meant, fewer than depend on the order of summation.
_DIGITS = 6


def write_results(
    result: RunResult, directory: str | os.PathLike[str], attributes: Mapping[str, str] | None = None
) -> tuple[Path, ...]:
    """Write all files of a run; each of them is complete or, if writing fails, as it was before.

    :param directory: where to; it is created, with its parents, if it is missing
    :param attributes: columns that say which run this is, in Haizea's files: values for ``COMMON_COLUMNS`` and, after
        them in their order, any further ones such as ``utilization``, ``delta`` or ``tau``
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
    """One line a lease, in order of submission: what was asked for and what became of it.

    ``start`` is the first second of the first run, ``end`` the instant at which the lease came to its final state, also
    if it never ran. Durations are in s.
    """
    waits, slowdowns = metrics.waiting_times(result.leases), metrics.bounded_slowdowns(result.leases)
    return _csv(
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
                _number(slowdown),
                _since(lease.request.deadline, result.start),
                lease.request.user,
                lease.reason,
            )
            for lease, wait, slowdown in zip(result.leases, waits.tolist(), slowdowns.tolist(), strict=True)
        ),
    )


def perlease_csv(result: RunResult, attributes: Mapping[str, str]) -> str:
    """Haizea's per-lease file (Sotomayor 2010, appendix A.6).

    ``Start`` is the delay between submission and requested start, ``Deadline`` the time between requested start and
    deadline, which is what the original files hold; all times in s.
    """
    waits, slowdowns = metrics.waiting_times(result.leases), metrics.bounded_slowdowns(result.leases)
    return _labelled(
        attributes,
        PERLEASE_COLUMNS,
        (
            (
                lease.lease_id,
                _whole(wait),
                _number(slowdown),
                lease.state.value.replace("-", " ").capitalize(),
                lease.request.node_count,
                lease.request.duration,
                lease.accumulated,
                _since(lease.request.start, lease.request.submitted),
                _since(lease.request.deadline, lease.request.start or 0),
                *_price(lease),
            )
            for lease, wait, slowdown in zip(result.leases, waits.tolist(), slowdowns.tolist(), strict=True)
        ),
    )


def _price(lease: Lease) -> list[Cell]:
    """The price of a lease and its extras, with the rate and the price that it was turned down for."""
    request = lease.request
    extras: dict[str, Cell] = dict(request.extras)
    price: Cell = request.price
    if request.price is not None and request.node_hours:
        extras.setdefault("rate", _number(request.price / request.node_hours))
    if lease.state is LeaseState.REJECTED_BY_USER and request.price is not None:
        extras.setdefault("rejected_price", _number(request.price))
        price = _REFUSED
    return [price, *(extras.get(name) for name in EXTRA_COLUMNS)]


def perrun_csv(result: RunResult, attributes: Mapping[str, str]) -> str:
    """Haizea's per-run file: one line (Sotomayor 2010, appendix A.6).

    Rejections by users are counted apart from the others. Revenues are money, not normalised, and empty if nothing
    has a price. Surcharges are part of the prices, so that their column is 0.
    """
    total = metrics.count_leases(result.leases)
    reservations = metrics.count_leases(_of_kind(result.leases, LeaseKind.RESERVATION))
    best_effort = metrics.count_leases(_of_kind(result.leases, LeaseKind.BEST_EFFORT))
    money = metrics.revenue(result.leases)
    row: list[Cell] = [
        total.requested,
        reservations.accepted,
        best_effort.done,
        total.done,
        reservations.rejected - reservations.rejected_by_user,
        total.rejected_by_user,
        total.rejected - total.rejected_by_user,
        metrics.all_best_effort(result),
    ]
    if money is None:
        row += [None] * 6
    else:
        parts = (money.earned, 0.0, money.undercharged, money.rejected, money.rejected_by_user, money.missed)
        row += [_number(part) for part in parts]
    return _labelled(attributes, PERRUN_COLUMNS, [row])


def utilization_csv(result: RunResult, attributes: Mapping[str, str]) -> str:
    """Haizea's utilization file: a line for every change, with the time-weighted average since the run's zero."""
    used = metrics.utilisation(result)
    columns = (used.times.tolist(), used.values.tolist(), used.running_averages().tolist())
    rows = ((time, _number(value), _number(average)) for time, value, average in zip(*columns, strict=True))
    return _labelled(attributes, UTILIZATION_COLUMNS, rows)


def average_utilization_csv(result: RunResult, attributes: Mapping[str, str]) -> str:
    """Haizea's utilization file cut down to one line: where it stood at the last submission, and the final average.

    The average leaves out the ramp-up, as the dissertation's figures do (Sotomayor 2010, appendix A.6).
    """
    used = metrics.utilisation(result)
    last = min(result.last_submission, result.end) - result.start
    value = used.values[max(0, int(np.searchsorted(used.times, last, side="right")) - 1)]
    row = (last, _number(float(value)), _number(metrics.average_utilisation(result)))
    return _labelled(attributes, UTILIZATION_COLUMNS, [row])


def disk_usage_csv(result: RunResult, attributes: Mapping[str, str]) -> str:
    """MB that the fullest host uses for images, in the columns of Haizea's counters (haizea F85)."""
    instants, values = zip(*result.disk_usage, strict=True)
    used = StepFunction(np.array(instants, dtype=np.int64), np.array(values, dtype=np.float64), result.end)
    columns = (used.times.tolist(), used.values.tolist(), used.running_averages().tolist())
    rows = ((time, _number(value), _number(average)) for time, value, average in zip(*columns, strict=True))
    return _labelled(attributes, UTILIZATION_COLUMNS, rows)


def ratesweep_csv(swept: RateSweep, attributes: Mapping[str, str]) -> str:
    """Haizea's file of a rate sweep: a line for every rate, with shares of all that users would pay (haizea F89)."""
    columns = (swept.rates.tolist(), swept.earned.tolist(), swept.underpriced.tolist(), swept.rejected.tolist())
    rows = ([_number(value) for value in row] for row in zip(*columns, strict=True))
    return _labelled(attributes, RATESWEEP_COLUMNS, rows)


def summary(result: RunResult) -> dict[str, Any]:
    """The run in some numbers, as plain values; null where there is nothing to measure.

    Waits and slowdowns are means of best-effort leases as in Sotomayor 2010, section 5.4.3; utilisation is the average
    between ramp-up and last submission.
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
    """``summary`` as JSON."""
    return json.dumps(summary(result), indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def _labelled(attributes: Mapping[str, str], columns: Sequence[str], rows: Iterable[Sequence[Cell]]) -> str:
    """A file of Haizea's schema: every line begins with what says which run it is about."""
    names = (*COMMON_COLUMNS, *(name for name in attributes if name not in COMMON_COLUMNS))
    labels = [attributes.get(name) for name in names]
    return _csv((*names, *columns), ((*labels, *row) for row in rows))


def _csv(columns: Sequence[str], rows: Iterable[Sequence[Cell]]) -> str:
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(rows)
    return text.getvalue()


def _of_kind(leases: Iterable[Lease], kind: LeaseKind) -> Iterator[Lease]:
    return (lease for lease in leases if lease.kind is kind)


def _since(instant: int | None, zero: int) -> int | None:
    return None if instant is None else instant - zero


def _whole(value: float) -> int | None:
    return None if math.isnan(value) else int(value)


def _number(value: float) -> str | None:
    return None if math.isnan(value) else np.format_float_positional(round(value, _DIGITS), trim="-")


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, _DIGITS)
