"""The command: ``python -m benchmarks.service_against_blazar [--output DIR] [--quick] [--cells HOSTSxLEASES ...]``."""

from __future__ import annotations

import argparse
import shutil
import tempfile
from itertools import product
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from benchmarks.machine import console
from benchmarks.service_against_blazar import blazar, report
from benchmarks.service_against_blazar.blazar import Blazar
from benchmarks.service_against_blazar.measure import MOST_ROUNDS, Measured, measure
from benchmarks.service_against_blazar.ours import Ours
from benchmarks.service_against_blazar.service import Service
from benchmarks.service_against_blazar.surroundings import Surroundings, servers, surroundings
from benchmarks.service_against_blazar.workload import Cell, workload

_BOTH = [Cell(hosts, leases) for hosts, leases in product((4, 50, 100, 500), (10, 100, 1_000, 5_000))]
_OURS_ALONE = [
    Cell(500, 10_000),
    *(Cell(hosts, leases) for hosts, leases in product((1_000, 10_000), (100, 1_000, 10_000))),
]
_QUICK = [Cell(4, 10), Cell(50, 100)]

Job = tuple[str, Cell]


def main() -> None:
    given = _arguments()
    out = console()
    output: Path = given.output.resolve()
    output.mkdir(parents=True, exist_ok=True)
    results = output / "service-against-blazar.json"
    environment: Path = given.environment.resolve()
    jobs = [job for job in _jobs(given.quick, given.cells) if given.only in (None, job[0])]
    measured = report.read(results)
    if given.again:
        measured = [each for each in measured if _job(each) not in jobs]
    done = {_job(each) for each in measured}
    jobs = [job for job in jobs if job not in done]
    with tempfile.TemporaryDirectory(prefix="against-blazar-") as name:
        folder = Path(name)
        if any(service == Blazar.name for service, _ in jobs):
            out.print(f"Blazar {blazar.VERSION} in {environment}")
            blazar.install(environment, folder / "install.log")
        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
        with Progress(*columns, console=out) as progress, servers(folder) as (database, broker):
            task = progress.add_task("", total=len(jobs))
            for number, (service, cell) in enumerate(jobs):
                progress.update(task, description=f"{service}: {cell.hosts:,} hosts, {cell.leases:,} leases")
                own = folder / f"cell{number}"
                with surroundings(own, f"cell{number}", database, broker, cell.hosts) as around:
                    under_test = _service(service, around, cell, environment)
                    try:
                        load = workload(cell, MOST_ROUNDS + 1)
                        measured += measure(under_test, under_test.load(load), load, given.budget)
                    except BaseException:
                        shutil.copytree(own, output / "failed", dirs_exist_ok=True, ignore=_only_logs)
                        raise
                    finally:
                        under_test.close()
                report.write(measured, results)
                progress.advance(task)
    found = report.table(measured, Ours.name, Blazar.name)
    out.print(found)
    with (output / "service-against-blazar.txt").open("w") as file:
        Console(file=file, width=118).print(found)
    report.plot(measured, Ours.name, Blazar.name, output / "service-against-blazar.png")
    out.print(f"Figures, table and plot: {output}/service-against-blazar.json, .txt and .png")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.service_against_blazar", description="Times the service beside Blazar 18."
    )
    parser.add_argument("--output", type=Path, default=Path("output/benchmarks"), help="where figures and plot go")
    parser.add_argument(
        "--environment",
        type=Path,
        default=Path("output/blazar/environment"),
        help="virtual environment of Blazar, made unless it is there",
    )
    parser.add_argument("--budget", type=float, default=60.0, help="seconds for the requests of a cell (default: 60)")
    parser.add_argument("--quick", action="store_true", help="two small cells")
    parser.add_argument("--cells", nargs="+", type=_cell, help="these cells, e.g. 100x1000, for both services")
    parser.add_argument("--only", choices=(Ours.name, Blazar.name), help="one of the services")
    parser.add_argument("--again", action="store_true", help="measure cells again that have been measured before")
    return parser.parse_args()


def _cell(text: str) -> Cell:
    hosts, _, leases = text.partition("x")
    return Cell(int(hosts), int(leases))


def _jobs(quick: bool, cells: list[Cell] | None) -> list[Job]:
    """Return what is to be measured, smallest first."""
    both = cells or (_QUICK if quick else _BOTH)
    jobs = [(name, cell) for cell in both for name in (Ours.name, Blazar.name)]
    if not quick and cells is None:
        jobs += [(Ours.name, cell) for cell in _OURS_ALONE]
    return sorted(jobs, key=lambda job: job[1].hosts * job[1].leases)


def _job(entry: Measured) -> Job:
    return entry.service, Cell(entry.hosts, entry.leases)


def _service(name: str, around: Surroundings, cell: Cell, environment: Path) -> Service:
    return Ours(around, cell.hosts) if name == Ours.name else Blazar(around, environment)


def _only_logs(folder: str, names: list[str]) -> list[str]:
    return [name for name in names if not name.endswith((".log", ".conf"))]


main()
