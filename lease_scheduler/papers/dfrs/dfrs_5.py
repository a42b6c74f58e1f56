"""Chapter 5 of Stillwell 2010: on-line algorithms (E9, E10)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from rich.console import Console

from lease_scheduler.papers.checks import Check
from lease_scheduler.papers.data_folder import data_folder, left_out
from lease_scheduler.papers.dfrs.online_cases import BATCH, LOG, LUBLIN, WEEKS, OnlineCase, online_cases
from lease_scheduler.papers.dfrs.online_checks import (
    BEST,
    LOG_BANDS,
    LUBLIN_BANDS,
    by_load,
    claim_checks,
    degradation_checks,
    load_checks,
)
from lease_scheduler.papers.dfrs.published import DEGRADATION
from lease_scheduler.papers.extent import Extent
from lease_scheduler.papers.replications import FIRST_SEED, DefaultSeeds, Replication
from lease_scheduler.papers.report import write_report
from lease_scheduler.simulation.campaigns.case import Case, Outcome
from lease_scheduler.simulation.reports.plots import plot_lines

#: A seed is a block of traces. One of them takes long enough.
SEEDS = DefaultSeeds(1)

LOADS = tuple(tenths / 10 for tenths in range(1, 10))

#: Traces of a first look, of each load in it, and those of the dissertation.
_QUICK, _QUICK_LOADS, _WHOLE = 30, 10, 100

#: Rows of table 5.2.
_TABLE_5_2 = (
    *BATCH,
    *(f"{each}*/OPT=MIN" for each in ("Greedy", "GreedyP", "GreedyPM")),
    *(f"{each}{star}/per/OPT=MIN" for star in ("", "*") for each in ("Greedy", "GreedyP", "GreedyPM")),
    *(f"{each}{star}/per/OPT=MIN/MVT=600" for star in ("", "*") for each in ("GreedyP", "GreedyPM")),
    *(f"{each}/OPT=MIN/MVT=600" for each in ("MCB*", "MCB/per", "MCB*/per")),
    "MCB*/per/OPT=MIN",
    "/per/OPT=MIN/MVT=600",
    "/stretch-per/OPT=MAX/MVT=600",
)
_QUICK_LOG = (*BATCH, BEST, "GreedyP*/per/OPT=MIN", "GreedyP*/OPT=MIN", "/per/OPT=MIN")
_QUICK_SCALED = (BEST, "GreedyP*/per/OPT=MIN")
_WITHOUT_PROGRAMS = (*BATCH, *(row for row in DEGRADATION if row not in BATCH and "OPT=AVG" not in row))
_WITH_PROGRAMS = tuple(row for row in DEGRADATION if "OPT=AVG" in row)


def cases(*, extent: Extent, seed: int = FIRST_SEED) -> list[Case]:
    """Return all runs; see ``paper.Chapter``."""
    return [*_log(extent), *_unscaled(extent, seed), *_averages(extent, seed), *_scaled(extent, seed)]


def _log(extent: Extent) -> list[OnlineCase]:
    if data_folder() is None:
        return []
    return online_cases(LOG, WEEKS, _WITHOUT_PROGRAMS if extent.is_whole else _QUICK_LOG)


def _unscaled(extent: Extent, seed: int) -> list[OnlineCase]:
    if extent.is_whole:
        return online_cases(LUBLIN, _WHOLE, _WITHOUT_PROGRAMS, seed=seed)
    return online_cases(LUBLIN, _QUICK, _TABLE_5_2, seed=seed)


def _averages(extent: Extent, seed: int) -> list[OnlineCase]:
    # Each event needs a linear program, so not all traces are run.
    return online_cases(LUBLIN, _QUICK, _WITH_PROGRAMS, at_once=1, seed=seed) if extent.is_whole else []


def _scaled(extent: Extent, seed: int) -> list[OnlineCase]:
    if extent.is_whole:
        return online_cases(LUBLIN, _WHOLE, _WITHOUT_PROGRAMS, loads=LOADS, seed=seed)
    return online_cases(LUBLIN, _QUICK_LOADS, _QUICK_SCALED, loads=LOADS, seed=seed)


def report(
    outcomes: Mapping[str, Outcome], directory: Path, *, replications: Sequence[Replication], console: Console
) -> int:
    """Print every check, and write CSV files and a plot; see ``paper.Chapter``."""
    first = replications[0]
    scaled = _scaled(first.extent, first.seed)
    plot_lines(
        {
            "scaled traces, OPT=MIN": {
                row.replace("/OPT=MIN", ""): {
                    round(100 * load): value for load, value in by_load(scaled, outcomes, row).items()
                }
                for row in _QUICK_SCALED
            }
        },
        directory / "fig-5.1.png",
        quantity="load (%)",
        measure="degradation from the bound",
    )
    lacking = left_out("table B.1 with the weeks of HPC2N")
    outside = write_report(_checks, cases, replications, outcomes, directory, console, lacking)
    console.print(f"Tables, figures and single runs are in {directory}")
    return outside


def _checks(outcomes: Mapping[str, Outcome], *, extent: Extent, seed: int) -> dict[str, list[Check]]:
    log, unscaled, averages, scaled = (
        _log(extent),
        _unscaled(extent, seed),
        _averages(extent, seed),
        _scaled(extent, seed),
    )
    groups: dict[str, list[Check]] = {
        f"Table B.2 (E10): degradation, {_WHOLE if extent.is_whole else _QUICK} unscaled traces": degradation_checks(
            unscaled, outcomes, LUBLIN_BANDS
        ),
        "What is said of table 5.2 (E10)": claim_checks(unscaled, outcomes),
        "Table B.3 (E10): degradation, scaled traces": degradation_checks(scaled, outcomes, {}),
        "Scaled traces by load (E10)": load_checks(scaled, outcomes),
    }
    if averages:
        groups[f"Table B.2 (E10): degradation, {_QUICK} unscaled traces, highest average yield"] = degradation_checks(
            averages, outcomes, {}
        )
    if log:
        groups[f"Table B.1 (E10): degradation, {WEEKS} weeks of HPC2N"] = degradation_checks(log, outcomes, LOG_BANDS)
    return groups
