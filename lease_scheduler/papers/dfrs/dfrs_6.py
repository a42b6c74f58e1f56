"""Chapter 6 of Stillwell 2010: what pauses and moves cost, and longer periods (E11, E12)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from rich.console import Console

from lease_scheduler.papers.checks import Check
from lease_scheduler.papers.data_folder import data_folder, left_out
from lease_scheduler.papers.dfrs.online_cases import LOG, LUBLIN, WEEKS, OnlineCase, online_cases
from lease_scheduler.papers.dfrs.online_checks import BEST, by_period, cost_checks, period_checks
from lease_scheduler.papers.dfrs.published import COST
from lease_scheduler.papers.extent import Extent
from lease_scheduler.papers.replications import FIRST_SEED, DefaultSeeds, Replication
from lease_scheduler.papers.report import write_report
from lease_scheduler.simulation.campaigns.case import Case, Outcome
from lease_scheduler.simulation.reports.plots import plot_lines

#: A seed is a block of traces. One of them takes long enough.
SEEDS = DefaultSeeds(1)

_HIGH_LOADS = (0.7, 0.8, 0.9)
_QUICK_PERIODS = (600, 1200, 2100, 3900, 6000, 12_000)
_WHOLE_PERIODS = tuple(range(600, 12_001, 300))

#: Traces of a first look, of each load in it, and those of the dissertation.
_QUICK, _QUICK_LOADS, _WHOLE = 30, 10, 100

_QUICK_ROWS = (
    "GreedyP*/OPT=MIN",
    "GreedyPM*/OPT=MIN",
    BEST,
    "MCB*/OPT=MIN/MVT=600",
    "MCB*/per/OPT=MIN/MVT=600",
    "/per/OPT=MIN/MVT=600",
)


def cases(*, extent: Extent, seed: int = FIRST_SEED) -> list[Case]:
    """Return all runs; see ``paper.Chapter``."""
    return [*_costs(extent, seed), *(case for kind in _periods(extent, seed).values() for case in kind)]


def _costs(extent: Extent, seed: int) -> list[OnlineCase]:
    if extent.is_whole:
        rows = [row for row in COST if "OPT=AVG" not in row]
        return online_cases(LUBLIN, _WHOLE, rows, loads=_HIGH_LOADS, seed=seed)
    return online_cases(LUBLIN, _QUICK_LOADS, _QUICK_ROWS, loads=_HIGH_LOADS, seed=seed)


def _periods(extent: Extent, seed: int) -> dict[str, list[OnlineCase]]:
    """Return kind of traces -> runs with each period."""
    if not extent.is_whole:
        return {
            "unscaled": online_cases(LUBLIN, _QUICK, [BEST], periods=_QUICK_PERIODS, seed=seed),
            "scaled": online_cases(LUBLIN, _QUICK_LOADS, [BEST], loads=_HIGH_LOADS, periods=_QUICK_PERIODS, seed=seed),
        }
    found = {
        "unscaled": online_cases(LUBLIN, _WHOLE, [BEST], periods=_WHOLE_PERIODS, seed=seed),
        "scaled": online_cases(LUBLIN, _WHOLE, [BEST], loads=_HIGH_LOADS, periods=_WHOLE_PERIODS, seed=seed),
    }
    if data_folder() is not None:
        found["HPC2N"] = online_cases(LOG, WEEKS, [BEST], periods=_WHOLE_PERIODS, at_once=26)
    return found


def report(
    outcomes: Mapping[str, Outcome], directory: Path, *, replications: Sequence[Replication], console: Console
) -> int:
    """Print every check, and write CSV files and plots; see ``paper.Chapter``."""
    first = replications[0]
    extent, periods = first.extent, _periods(first.extent, first.seed)
    found = {title: by_period(kind, outcomes) for title, kind in periods.items()}
    for place, measure, file in ((0, "degradation from the bound", "fig-6.1a.png"), (1, "GB/s", "fig-6.1b.png")):
        plot_lines(
            {BEST: {title: values[place] for title, values in found.items()}},
            directory / file,
            quantity="period (s)",
            measure=measure,
            reference=None,
        )
    lacking = left_out("periods with the weeks of HPC2N") if extent.is_whole else ""
    outside = write_report(_checks, cases, replications, outcomes, directory, console, lacking)
    console.print(f"Tables, figures and single runs are in {directory}")
    return outside


def _checks(outcomes: Mapping[str, Outcome], *, extent: Extent, seed: int) -> dict[str, list[Check]]:
    periods = _periods(extent, seed)
    return {
        "Tables 6.1 and B.4 to B.6 (E11): loads of 0.7 and more": cost_checks(_costs(extent, seed), outcomes),
        "Figure 6.1 (E12): the period": [
            check for title, kind in periods.items() for check in period_checks(title, kind, outcomes)
        ],
    }
