"""How fast jobs are packed by fractions of hosts, and how fast on-line algorithms run on simulated clusters."""

from __future__ import annotations

import time
from pathlib import Path
from statistics import median

from rich import box
from rich.console import Console
from rich.table import Table

from lease_scheduler.fractional.kernels import IS_COMPILED
from lease_scheduler.fractional.online.names import parse
from lease_scheduler.fractional.packing.search import PACKERS, best_packing
from lease_scheduler.papers.data_folder import data_folder
from lease_scheduler.papers.dfrs.online_cases import LOG, LOG_FILE, LUBLIN
from lease_scheduler.simulation.fractional.log_weeks import log_weeks
from lease_scheduler.simulation.fractional.loop import run_online
from lease_scheduler.simulation.fractional.trace import Trace
from lease_scheduler.simulation.generators.instances import InstanceLaw
from lease_scheduler.simulation.generators.typed_lublin import lublin_trace

#: Jobs and nodes, and the longest time in seconds that we aim for.
_SIZES = ((8_192, 1_024, 0.3), (50_000, 10_000, 3.0))
_DIMENSIONS = 6
_REPETITIONS = 5

#: Algorithms, and the jobs per second that we aim for with the recommended one.
_ALGORITHMS = ("GreedyPM*/per/OPT=MIN/MVT=600", "GreedyP*/OPT=MIN", "/per/OPT=MIN", "MCB*/per/OPT=MIN")
_AIMS = {LUBLIN: 20_000, LOG: 5_000}
#: Traces of a kind; of the log, every so many weeks are as many.
_TRACES, _EVERY = 20, 9


def run(directory: Path, out: Console, *, quick: bool) -> None:
    """Measure both, print the results, and write them to ``dfrs-speed.txt``."""
    tables = (_packing(quick=quick), _online(quick=quick))
    with (directory / "dfrs-speed.txt").open("w") as file:
        for table in tables:
            out.print(table)
            Console(file=file, width=100).print(table)


def _packing(*, quick: bool) -> Table:
    table = Table(
        title=f"CPSUM, {_DIMENSIONS} dimensions, one core, {'numba' if IS_COMPILED else 'no numba'}",
        title_justify="left",
        box=box.ASCII,
    )
    for heading in ("jobs", "nodes", "least yield", "CPU, s", "aim, s"):
        table.add_column(heading, justify="right")
    pack = PACKERS["CPSUM"]
    # What is compiled is compiled here.
    best_packing(InstanceLaw(8, 16, _DIMENSIONS, 0.5, 0.25, 0.5).draw(0), pack)
    for jobs, nodes, aim in _SIZES[: 1 if quick else None]:
        instance = InstanceLaw(nodes, jobs, _DIMENSIONS, 0.5, 0.25, 0.5).draw(1)
        times = []
        least = 0.0
        for _ in range(1 if quick else _REPETITIONS):
            before = time.process_time()
            found = best_packing(instance, pack)
            times.append(time.process_time() - before)
            least = found.least if found is not None else 0.0
        table.add_row(f"{jobs:,}", f"{nodes:,}", f"{least:.3f}", f"{median(times):.3f}", f"<= {aim:g}")
    return table


def _online(*, quick: bool) -> Table:
    table = Table(
        title=f"On-line algorithms, one core, {'numba' if IS_COMPILED else 'no numba'}",
        title_justify="left",
        box=box.ASCII,
    )
    for heading in ("traces", "algorithm", "jobs", "CPU, s", "jobs/s", "aim"):
        table.add_column(heading, justify="left" if heading in ("traces", "algorithm") else "right")
    count = 2 if quick else _TRACES
    kinds: dict[str, list[Trace]] = {LUBLIN: [lublin_trace(seed) for seed in range(count)]}
    folder = data_folder()
    if folder is not None:
        kinds[LOG] = log_weeks(folder / LOG_FILE)[::_EVERY][:count]
    # What is compiled is compiled here.
    run_online(kinds[LUBLIN][0], parse(_ALGORITHMS[0]))
    for kind, traces in kinds.items():
        jobs = sum(len(trace.release) for trace in traces)
        for name in _ALGORITHMS:
            before = time.process_time()
            for trace in traces:
                run_online(trace, parse(name))
            seconds = time.process_time() - before
            aim = f">= {_AIMS[kind]:,}" if name == _ALGORITHMS[0] else ""
            table.add_row(kind, name, f"{jobs:,}", f"{seconds:.2f}", f"{jobs / seconds:,.0f}", aim)
    return table
