"""How fast jobs are packed by fractions of hosts."""

from __future__ import annotations

import time
from pathlib import Path
from statistics import median

from rich import box
from rich.console import Console
from rich.table import Table

from lease_scheduler.fractional.kernels import IS_COMPILED
from lease_scheduler.fractional.packing.search import PACKERS, best_packing
from lease_scheduler.simulation.generators.instances import InstanceLaw

#: Jobs and nodes, and the longest time in seconds that we aim for.
_SIZES = ((8_192, 1_024, 0.3), (50_000, 10_000, 3.0))
_DIMENSIONS = 6
_REPETITIONS = 5


def run(directory: Path, out: Console, *, quick: bool) -> None:
    """Measure the search for the highest yield, print the results, and write them to ``dfrs-speed.txt``."""
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
    out.print(table)
    with (directory / "dfrs-speed.txt").open("w") as file:
        Console(file=file, width=100).print(table)
