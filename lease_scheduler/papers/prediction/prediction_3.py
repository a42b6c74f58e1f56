"""Chapter 3 of Pucher 2016: power and capacity of a cloud (E1 to E5)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from rich.console import Console

from lease_scheduler.papers.checks import Check
from lease_scheduler.papers.data_folder import data_folder, left_out
from lease_scheduler.papers.extent import Extent
from lease_scheduler.papers.prediction import power_cases, power_checks
from lease_scheduler.papers.replications import FIRST_SEED, DefaultSeeds, Replication, block
from lease_scheduler.papers.report import write_report
from lease_scheduler.simulation.campaigns.case import Case, Outcome
from lease_scheduler.simulation.reports.plots import plot_bars, plot_lines

#: A seed is a block of generated traces, and the requests of the sweep.
SEEDS = DefaultSeeds(1)
_RECORDED = "the recorded clouds of E3 and E4"


def cases(*, extent: Extent, seed: int = FIRST_SEED) -> list[Case]:
    """Return all runs; see ``paper.Chapter``."""
    runs: list[Case] = list(power_cases.registration(seeds=_traces(seed)))
    if data_folder() is not None:
        runs += power_cases.production()
        runs += power_cases.cut_down() if extent.is_whole else []
    runs += power_cases.sweep(seed) if extent.is_whole else []
    return runs


def report(
    outcomes: Mapping[str, Outcome], directory: Path, *, replications: Sequence[Replication], console: Console
) -> int:
    """Print every check, and write CSV files and plots; see ``paper.Chapter``."""
    first = replications[0]
    if first.extent.is_whole:
        plot_lines(
            power_checks.sweep_lines(outcomes, first.seed),
            directory / "fig-3.5.png",
            quantity="nodes of 8 cores",
            measure="power efficiency",
        )
    plot_bars(
        power_checks.uptime_bars(outcomes, _traces(first.seed)),
        directory / "uptime.png",
        measure="share of the time awake",
    )
    outside = write_report(_checks, cases, replications, outcomes, directory, console, left_out(_RECORDED))
    console.print(f"Tables, figures and single runs are in {directory}")
    return outside


def _checks(outcomes: Mapping[str, Outcome], *, extent: Extent, seed: int) -> dict[str, list[Check]]:
    seeds = _traces(seed)
    groups = {
        f"Registration, {law} (E{number}), mean of {len(seeds)} generated traces": power_checks.registration_checks(
            law, outcomes, seeds
        )
        for number, law in enumerate(power_cases.LAWS, 1)
    }
    if data_folder() is not None:
        groups["Figure 3.2: recorded clouds (E3)"] = power_checks.production_checks(outcomes)
        if extent.is_whole:
            groups["Figures 3.3 and 3.4: fewer nodes (E4)"] = power_checks.cut_down_checks(outcomes)
    if extent.is_whole:
        groups["Figure 3.5: capacity (E5)"] = power_checks.sweep_checks(outcomes, seed)
    return groups


def _traces(seed: int) -> range:
    return block(seed, len(power_cases.REGISTRATION_SEEDS))
