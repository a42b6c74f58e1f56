"""How fast predictors learn."""

from __future__ import annotations

import csv
import heapq
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import numpy as np
from rich import box
from rich.console import Console
from rich.table import Table

from lease_scheduler.prediction.assurance import AssuranceTable
from lease_scheduler.prediction.bmbp import Bmbp
from lease_scheduler.prediction.lifetimes import LifetimeSampler

_SEED = 11
_SLOTS = 32
_TEN_DAYS = 10 * 86_400


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
    samples = 10_000 // scale
    events = _recording()
    measures.append(_Measure(f"lifetimes, {_SLOTS} slots, 10 days", lambda: _table(events, samples), 0.5))
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


#: An instant, and what happens: the end or start of a regular or preemptible instance with this number.
_Event = tuple[float, bool, bool, int, float]


def _recording() -> list[_Event]:
    """Return ten days of one-core instances of two classes (Pucher 2016, table 4.1), the youngest making room."""
    random = np.random.default_rng(_SEED)
    arrivals: list[tuple[float, bool, float]] = []
    for is_regular in (True, False):
        instants = np.cumsum(random.lognormal(3.5, 1, 20_000))
        lengths = random.lognormal(6, 1.5, 20_000)
        arrivals += [(float(now), is_regular, float(length)) for now, length in zip(instants, lengths, strict=True)]
    events: list[_Event] = []
    ends: list[tuple[float, int]] = []
    regular: set[int] = set()
    preemptible: dict[int, float] = {}
    for number, (now, is_regular, length) in enumerate(sorted(each for each in arrivals if each[0] < _TEN_DAYS)):
        while ends and ends[0][0] <= now:
            end, gone = heapq.heappop(ends)
            if gone in regular:
                regular.discard(gone)
                events.append((end, False, True, gone, 0.0))
            elif preemptible.pop(gone, None) is not None:
                events.append((end, False, False, gone, 0.0))
        victim_start = float("inf")
        if len(regular) + len(preemptible) == _SLOTS:
            if not is_regular or not preemptible:
                continue
            victim, victim_start = preemptible.popitem()
            events.append((now, False, False, victim, 0.0))
        if is_regular:
            regular.add(number)
        else:
            preemptible[number] = now
        events.append((now, True, is_regular, number, victim_start))
        heapq.heappush(ends, (now + length, number))
    return events


def _table(events: list[_Event], samples: int) -> int:
    """Make the table of lifetimes from samples at random instants."""
    instants = np.sort(np.random.default_rng(_SEED).uniform(0, events[-1][0], samples)).tolist()
    sampler = LifetimeSampler([_SLOTS])
    upcoming = iter([*instants, float("inf")])
    instant = next(upcoming)
    for now, is_start, is_regular, number, victim_start in events:
        while instant < now:
            sampler.sample(instant)
            instant = next(upcoming)
        if not is_start:
            if is_regular:
                sampler.regular_ended(number)
            else:
                sampler.preemptible_ended(number)
        elif is_regular:
            sampler.regular_started(number, 0, 1, now, victim_start)
        else:
            sampler.preemptible_started(number, 0, 1, now)
    AssuranceTable(sampler.lifetimes(events[-1][0]), 0.05)
    return samples


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
