"""How fast predictors learn."""

from __future__ import annotations

import csv
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import numpy as np
from rich import box
from rich.console import Console
from rich.table import Table

from lease_scheduler.prediction.bmbp import Bmbp

_SEED = 11


@dataclass(frozen=True)
class _Measure:
    """A piece of work, and what we aim for.

    :ivar work: does it, and returns how many observations it took in
    :ivar aim: longest time in seconds
    """

    name: str
    work: Callable[[], int]
    aim: float


def run(directory: Path, out: Console, *, quick: bool) -> None:
    """Measure everything, print the results, and write ``prediction.csv``."""
    scale = 10 if quick else 1
    values = np.exp(np.random.default_rng(_SEED).standard_normal(1_000_000 // scale)).tolist()
    measures = [
        _Measure("BMBP, window of 2,000", lambda: _learn(Bmbp(window=2000), values), 2.0 / scale),
        _Measure("BMBP, everything kept", lambda: _learn(Bmbp(window=None), values), 6.0 / scale),
    ]
    rows = [_timed(each, 1 if quick else 3) for each in measures]
    table = Table(title="Prediction, one core", title_justify="left", box=box.ASCII)
    for heading in rows[0]:
        table.add_column(heading, justify="left" if heading == "work" else "right")
    for row in rows:
        table.add_row(*row.values())
    out.print(table)
    with (directory / "prediction.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def _learn(predictor: Bmbp, values: list[float]) -> int:
    for value in values:
        predictor.observe(value)
    return len(values)


def _timed(measure: _Measure, repetitions: int) -> dict[str, str]:
    times = []
    for _ in range(repetitions):
        before = time.process_time()
        count = measure.work()
        times.append(time.process_time() - before)
    took = median(times)
    return {
        "work": measure.name,
        "observations": f"{count:,}",
        "CPU, s": f"{took:.2f}",
        "per second": f"{count / took:,.0f}",
        "aim, s": f"<= {measure.aim:g}",
    }
