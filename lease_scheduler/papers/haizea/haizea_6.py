"""Chapter 6 of Haizea's dissertation: image transfers (Sotomayor 2010, section 6.4; haizea E3)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from rich.console import Console

from lease_scheduler.papers.checks import Check
from lease_scheduler.papers.extent import Extent
from lease_scheduler.papers.haizea import image_checks
from lease_scheduler.papers.replications import FIRST_SEED, DefaultSeeds, Replication
from lease_scheduler.papers.report import write_report
from lease_scheduler.simulation.campaigns.case import Case, Outcome
from lease_scheduler.simulation.reports.plots import plot_all_best_effort_grid, plot_bars

SEEDS = DefaultSeeds(4, whole=False)


def cases(*, extent: Extent, seed: int = FIRST_SEED) -> list[Case]:
    """Return all runs; see ``paper.Chapter``."""
    table = image_checks.cases((seed,))
    return list(dict.fromkeys([*table, *(image_checks.grid_cases(seed) if extent.is_whole else [])]))


def report(
    outcomes: Mapping[str, Outcome], directory: Path, *, replications: Sequence[Replication], console: Console
) -> int:
    """Print every check, and write CSV files and plots; see ``paper.Chapter``."""
    first, seeds = replications[0], [each.seed for each in replications]
    if first.extent.is_whole:
        plot_all_best_effort_grid(image_checks.grid_ratios(outcomes, first.seed), directory / "fig-6.2.png")
    outside = write_report(_checks, cases, replications, outcomes, directory, console)
    for name, column, divisor, label in (
        ("table-6.1-wait", "mean_wait_s", 1000, "mean wait (1000 s)"),
        ("table-6.1-slowdown", "mean_slowdown", 1, "mean bounded slowdown"),
    ):
        plot_bars(image_checks.bars(outcomes, seeds, column, divisor), directory / f"{name}.png", measure=label)
    console.print(f"Tables, figures and single runs are in {directory}")
    return outside


def _checks(outcomes: Mapping[str, Outcome], *, extent: Extent, seed: int) -> dict[str, list[Check]]:
    groups = {
        "Table 6.1 (E3)": image_checks.table_checks(outcomes, (seed,)),
        "What table 6.1 says of bandwidth and reuse": image_checks.ratio_checks(outcomes, (seed,)),
        "Promises, transfers and figure 6.2 on the three sets": image_checks.promise_checks(outcomes, (seed,)),
    }
    if extent.is_whole:
        groups["Figure 6.2, all sets"] = image_checks.grid_checks(outcomes, seed)
    return groups
