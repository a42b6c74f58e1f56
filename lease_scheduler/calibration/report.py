"""Reports of a calibration: as tables, as a configuration file, and as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from itertools import groupby
from typing import Any

from rich.box import SIMPLE
from rich.table import Table

from lease_scheduler.calibration import findings
from lease_scheduler.calibration.accuracy import Accuracy
from lease_scheduler.calibration.findings import Option, Size
from lease_scheduler.calibration.samples import Batch, MeasuredOperation
from lease_scheduler.calibration.statistics import Summary, rate, summarize

_COPIES = (MeasuredOperation.SUSPEND, MeasuredOperation.RESUME, MeasuredOperation.SHELVE, MeasuredOperation.UNSHELVE)


@dataclass(frozen=True)
class Setting:
    """The circumstances of a calibration.

    :ivar begun: its start, in seconds since the epoch
    :ivar hosts: names of compute services
    :ivar source: source of the measured times
    """

    begun: float
    flavor: str
    size: Size
    image: str
    hosts: Sequence[str]
    source: str

    @property
    def lines(self) -> list[str]:
        """The circumstances as lines of text."""
        date = datetime.fromtimestamp(self.begun, UTC).strftime("%Y-%m-%d %H:%M")
        return [
            f"Measured by lease-scheduler-manage calibrate, begun {date} UTC, on {', '.join(self.hosts)},",
            f"with servers of flavor {self.flavor} and image {self.image}: {self.size.memory_mb} MB of memory,",
            f"{self.size.disk_mb} MB of disk. Times are from {self.source}.",
        ]


def single(batches: Sequence[Batch], size: Size) -> Table:
    """Return a table of operations on one server at a time, and of the delay from command to beginning."""
    table = _table("one server at a time", "operation")
    for heading in ("samples", "failed", "outliers", "mean s", "sd s", "min s", "max s", "mean+2sd", "MB", "MB/s"):
        table.add_column(heading, justify="right")
    for operation in MeasuredOperation:
        failed = findings.failures(batches, operation)
        summary = summarize(findings.durations(batches, operation))
        copied = size.of(operation) if operation in _COPIES else 0
        if summary is not None or failed:
            table.add_row(operation.value, *_figures(summary, len(failed)), *_rate(summary, copied))
    commands = summarize(findings.overheads(batches))
    if commands is not None:
        table.add_row("command to beginning", *_figures(commands, 0), "", "")
    return table


def at_once(batches: Sequence[Batch]) -> Table | None:
    """Return a table of how simultaneous operations affect each other, or None if only single ones were measured."""
    rows = [found for operation in _COPIES if (found := findings.turns(batches, operation)) is not None]
    if not rows:
        return None
    table = _table("at once, by the time of one", "operation")
    for heading in ("servers", "on one host", "each on its own", "exclusion"):
        table.add_column(heading, justify="right")
    for row in rows:
        exclusion = "not known" if row.exclusion is None else row.exclusion.value
        ratios = (_number(row.on_one_host), _number(row.on_hosts))
        table.add_row(row.operation.value, str(row.count), *ratios, exclusion)
    return table


def accuracy(found: Sequence[Accuracy]) -> Table:
    """Return a table of the accuracy of the time model with the options in force."""
    table = _table("observed by predicted, with the options in force; more than 1 is an under-estimate", "operation")
    for heading in ("servers", "hosts", "times", "predicted s", "observed s", "longest s", "ratio", "bound", ""):
        table.add_column(heading, justify="right")
    for each in found:
        table.add_row(
            each.operation.value,
            str(each.count),
            str(each.hosts),
            str(each.repetitions),
            str(each.predicted),
            f"{each.observed:.2f}",
            f"{each.worst:.2f}",
            f"{each.ratio:.2f}",
            f"{each.bound:.1f}",
            "" if each.is_kept else "exceeded",
        )
    return table


def configuration(setting: Setting, options: Sequence[Option]) -> str:
    """Return the options as a file for oslo.config."""
    return "\n".join(_configuration(setting, options)) + "\n"


def _configuration(setting: Setting, options: Sequence[Option]) -> Iterator[str]:
    for line in setting.lines:
        yield f"# {line}"
    for group, of_group in groupby(sorted(options, key=lambda each: each.group), lambda each: each.group):
        yield ""
        yield f"[{group}]"
        for option in of_group:
            yield f"# {option.reason}"
            yield f"{option.name} = {option.value}"


def document(setting: Setting, batches: Sequence[Batch], options: Sequence[Option], checks: Sequence[Accuracy]) -> str:
    """Return all results as JSON, with the instants of every sample, failed ones included."""
    size = setting.size
    content: dict[str, Any] = {
        "begun": setting.begun,
        "flavor": setting.flavor,
        "memory_mb": size.memory_mb,
        "disk_mb": size.disk_mb,
        "shelved_size": size.shelved.value,
        "image": setting.image,
        "hosts": list(setting.hosts),
        "source": setting.source,
        "samples": [
            {
                **asdict(sample),
                "operation": sample.operation.value,
                "at_once": batch.count,
                "on_hosts": batch.hosts,
                "repetition": batch.repetition,
            }
            for batch in batches
            for sample in batch.samples
        ],
        "options": [asdict(option) for option in options],
        "accuracy": [
            {**asdict(each), "operation": each.operation.value, "bound": each.bound, "is_kept": each.is_kept}
            for each in checks
        ],
    }
    return json.dumps(content, indent=2) + "\n"


def _table(title: str, first: str) -> Table:
    table = Table(title=title, title_justify="left", box=SIMPLE, pad_edge=False, padding=(0, 0, 0, 1))
    table.add_column(first)
    return table


def _figures(summary: Summary | None, failed: int) -> list[str]:
    if summary is None:
        return ["", str(failed), *[""] * 6]
    times = (summary.mean, summary.sd, summary.smallest, summary.largest, summary.upper)
    return [str(summary.count), str(failed), str(summary.outliers), *(f"{each:.2f}" for each in times)]


def _rate(summary: Summary | None, copied: int) -> list[str]:
    if summary is None or not copied:
        return ["", ""]
    return [str(copied), f"{rate(copied, summary.upper):.2f}"]


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.2f}"
