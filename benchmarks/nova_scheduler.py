"""What our filter and weigher cost Nova: ``python -m benchmarks.nova_scheduler [--output DIR] [--quick]``.

It uses real services of Nova and Placement, in the same environment as the tests, with fake hypervisors.
"""

from __future__ import annotations

import argparse
import json
import math
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from rich.box import SIMPLE
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from benchmarks.machine import console
from tests.servers.base import MissingServerError
from tests.servers.openstack import environment

#: Most per cent that our plug-ins may add.
_AIM = 5.0

#: Headings of the columns that ``_difference`` fills.
_DIFFERENCE = ("more, %", "95 % interval", f"<= {_AIM:.0f} %")

_LIMIT_SECONDS = 3_600
_ROOT = Path(__file__).parents[1]

Sample = dict[str, Any]
Figure = Callable[[Sample], float]


@dataclass(frozen=True)
class Job:
    """A measurement.

    :ivar program: module of ``benchmarks.in_nova``
    :ivar pairs: number of requests of each kind with our plug-ins, and the same number without
    """

    program: str
    hosts: int
    pairs: int


_JOBS = [
    Job("schedule", 4, 150),
    Job("schedule", 100, 60),
    Job("schedule", 1_000, 60),
    Job("boot", 4, 60),
    Job("boot", 100, 120),
]
_QUICK = [Job("schedule", 4, 20), Job("schedule", 40, 10), Job("boot", 4, 10)]


@dataclass(frozen=True)
class Difference:
    """Measurements without and with our plug-ins, taken alternately.

    :ivar without: median without them, in milliseconds
    :ivar with_them: median with them, in milliseconds
    :ivar per_cent: median difference between neighbouring measurements, in per cent of the median without
    :ivar interval: 95 % confidence interval of ``per_cent``
    """

    without: float
    with_them: float
    per_cent: float
    interval: tuple[float, float]

    @property
    def verdict(self) -> str:
        """ "yes" or "no" if the measurements show that the aim is met or missed, otherwise "open"."""
        low, high = self.interval
        return "yes" if high <= _AIM else "no" if low > _AIM else "open"


def compare(samples: Sequence[Sample], figure: Figure) -> Difference:
    """Compare each measurement with its neighbour, so that other load on the machine affects both alike."""
    without = [figure(sample) for sample in samples if not sample["plugins"]]
    with_them = [figure(sample) for sample in samples if sample["plugins"]]
    differences = sorted(after - before for before, after in zip(without, with_them, strict=True))
    usual, number = median(without), len(differences)
    # Whatever the distribution, the median lies between the values at these ranks with a probability of 95 %.
    rank = max(math.floor((number - 1.96 * math.sqrt(number)) / 2), 1)
    ends = differences[rank - 1], differences[-rank]
    return Difference(
        usual,
        median(with_them),
        100 * median(differences) / usual,
        (100 * ends[0] / usual, 100 * ends[1] / usual),
    )


def main() -> None:
    given = _arguments()
    out = console()
    output: Path = given.output
    output.mkdir(parents=True, exist_ok=True)
    given.environment.mkdir(parents=True, exist_ok=True)
    try:
        python = environment.install(given.environment.resolve())
    except MissingServerError as error:
        raise SystemExit(str(error)) from error
    jobs = [job for job in (_QUICK if given.quick else _JOBS) if given.only in (None, job.program)]
    found: list[tuple[Job, dict[str, Any]]] = []
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=out) as progress, tempfile.TemporaryDirectory(prefix="nova-scheduler-") as folder:
        task = progress.add_task("", total=len(jobs))
        for job in jobs:
            progress.update(task, description=f"{job.program}: {job.hosts:,} hosts")
            found.append((job, _run(python, job, Path(folder) / "measured.json")))
            samples = [{"program": each.program, "hosts": each.hosts, **measured} for each, measured in found]
            (output / "nova-scheduler.json").write_text(json.dumps(samples) + "\n")
            progress.advance(task)
    tables = [table for table in (_scheduling(found), _plugins(found), _boots(found)) if table.row_count]
    with (output / "nova-scheduler.txt").open("w") as file:
        for table in tables:
            out.print(table)
            Console(file=file, width=118).print(table)
    out.print(f"Tables and all that was measured: {output}/nova-scheduler.txt and .json")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.nova_scheduler", description="Times Nova with and without our filter and weigher."
    )
    parser.add_argument("--output", type=Path, default=Path("output/benchmarks"), help="where tables and figures go")
    parser.add_argument(
        "--environment",
        type=Path,
        default=Path(".pytest_cache/d/openstack"),
        help="folder of the OpenStack services, which the tests use too; they are installed unless they are there",
    )
    parser.add_argument("--quick", action="store_true", help="few hosts and requests: to see whether it works")
    parser.add_argument("--only", choices=("schedule", "boot"), help="one of the measurements")
    return parser.parse_args()


def _run(python: Path, job: Job, file: Path) -> dict[str, Any]:
    """Run a measuring program and return its result.

    :raises SystemExit: it failed; the message says why
    """
    words = [str(python), "-W", "ignore", "-m", f"benchmarks.in_nova.{job.program}"]
    ended = subprocess.run(
        [*words, str(job.hosts), str(job.pairs), str(file)],
        cwd=_ROOT,
        env=environment.variables(PYTHONPATH=str(_ROOT)),
        capture_output=True,
        text=True,
        timeout=_LIMIT_SECONDS,
        check=False,
    )
    if ended.returncode:
        raise SystemExit(ended.stdout + ended.stderr)
    measured: dict[str, Any] = json.loads(file.read_text())
    return measured


def _scheduling(found: Sequence[tuple[Job, dict[str, Any]]]) -> Table:
    """Return the table of nova-scheduler's time for one request, including Placement's share."""
    table = _table("one request of nova-scheduler and Placement, ms")
    _columns(table, "hosts", "request", "weighed", "processor\nwithout", "with", *_DIFFERENCE)
    _columns(table, "wall clock\nwithout", *_DIFFERENCE[:2])
    for job, alone, samples in _requests(found):
        cpu, wall = compare(samples, _cpu), compare(samples, _wall)
        table.add_row(
            f"{job.hosts:,}",
            alone["sort"],
            f"{alone['weighed']:,}",
            f"{cpu.without:,.1f}",
            f"{cpu.with_them:,.1f}",
            *_difference(cpu),
            f"{wall.without:,.1f}",
            *_difference(wall)[:2],
        )
    return table


def _plugins(found: Sequence[tuple[Job, dict[str, Any]]]) -> Table:
    """Return the table of nova-scheduler's own time, and of our plug-ins alone."""
    table = _table("nova-scheduler alone, and our plug-ins by themselves, ms of the processor")
    _columns(table, "hosts", "request", "without", "with", *_DIFFERENCE)
    _columns(table, "filter", "weigher", "both: us\na host", "% of\nwithout")
    for job, alone, samples in _requests(found):
        apart = compare(samples, lambda sample: _cpu(sample) - float(sample["placement_ms"]))
        filtering, weighing = median(alone["filter_ms"]), median(alone["weigher_ms"])
        table.add_row(
            f"{job.hosts:,}",
            alone["sort"],
            f"{apart.without:,.1f}",
            f"{apart.with_them:,.1f}",
            *_difference(apart),
            f"{filtering:.2f}",
            f"{weighing:.2f}",
            f"{1_000 * (filtering + weighing) / job.hosts:.1f}",
            f"{100 * (filtering + weighing) / apart.without:.1f}",
        )
    return table


def _requests(found: Sequence[tuple[Job, dict[str, Any]]]) -> Iterator[tuple[Job, dict[str, Any], list[Sample]]]:
    """Yield, for each kind of request in each scheduler measurement, the plug-ins' own times and the requests."""
    for job, measured in found:
        for alone in measured.get("alone", []):
            yield job, alone, [sample for sample in measured["samples"] if sample["sort"] == alone["sort"]]


def _boots(found: Sequence[tuple[Job, dict[str, Any]]]) -> Table:
    """Return the table of the time from ``POST`` to ACTIVE."""
    table = _table("one server, from POST to ACTIVE, ms")
    _columns(table, "hosts", "request", "wall clock\nwithout", "with", *_DIFFERENCE)
    _columns(table, "processor\nwithout", "with", *_DIFFERENCE[:2])
    for job, measured in found:
        if job.program != "boot":
            continue
        for sort in dict.fromkeys(sample["sort"] for sample in measured["samples"]):
            samples = [sample for sample in measured["samples"] if sample["sort"] == sort]
            wall, cpu = compare(samples, _wall), compare(samples, _cpu)
            table.add_row(
                f"{job.hosts:,}",
                sort,
                f"{wall.without:,.1f}",
                f"{wall.with_them:,.1f}",
                *_difference(wall),
                f"{cpu.without:,.1f}",
                f"{cpu.with_them:,.1f}",
                *_difference(cpu)[:2],
            )
    return table


def _table(title: str) -> Table:
    return Table(title=title, box=SIMPLE, pad_edge=False, padding=(0, 0, 0, 1))


def _columns(table: Table, *headings: str) -> None:
    for heading in headings:
        table.add_column(heading, justify="left" if heading == "request" else "right", no_wrap=True)


def _difference(found: Difference) -> tuple[str, str, str]:
    low, high = found.interval
    return f"{found.per_cent:+.1f}", f"{low:+.1f} to {high:+.1f}", found.verdict


def _cpu(sample: Sample) -> float:
    return float(sample["cpu_ms"])


def _wall(sample: Sample) -> float:
    return float(sample["wall_ms"])


if __name__ == "__main__":
    main()
