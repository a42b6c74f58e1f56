"""Chapter 7 of Haizea's dissertation: the long-term cost of suspending (Sotomayor 2010, section 7.2.3; haizea E5)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from rich.console import Console

from lease_scheduler.papers.checks import Check
from lease_scheduler.papers.extent import Extent
from lease_scheduler.papers.haizea import suspension_checks
from lease_scheduler.papers.replications import FIRST_SEED, DefaultSeeds, Replication
from lease_scheduler.papers.report import write_report
from lease_scheduler.plan.options import Exclusion
from lease_scheduler.simulation.campaigns.case import Case, Outcome
from lease_scheduler.simulation.reports.plots import plot_lines

SEEDS = DefaultSeeds(4, whole=False)


def cases(*, extent: Extent, seed: int = FIRST_SEED) -> list[Case]:
    """Return all runs; see ``paper.Chapter``."""
    table = suspension_checks.table_cases((seed,))
    return list(dict.fromkeys([*table, *(suspension_checks.grid_cases(seed) if extent.is_whole else [])]))


def report(
    outcomes: Mapping[str, Outcome], directory: Path, *, replications: Sequence[Replication], console: Console
) -> int:
    """Print every check, and write CSV files and plots; see ``paper.Chapter``."""
    first = replications[0]
    if first.extent.is_whole:
        for exclusion in Exclusion:
            plot_lines(
                suspension_checks.lines(outcomes, exclusion, first.seed),
                directory / f"fig-7.4-7.5-{exclusion.value}.png",
                quantity="memory of a VM (MB)",
                measure="time to finish all best-effort leases\n(instantaneous suspension = 1)",
            )
    outside = write_report(_checks, cases, replications, outcomes, directory, console)
    console.print(f"Tables, figures and single runs are in {directory}")
    return outside


def _checks(outcomes: Mapping[str, Outcome], *, extent: Extent, seed: int) -> dict[str, list[Check]]:
    groups = {"Table 7.1 (E5)": suspension_checks.table_checks(outcomes, (seed,))}
    if extent.is_whole:
        groups["Figures 7.4 and 7.5 as numbers (E5)"] = suspension_checks.grid_checks(outcomes, seed)
    return groups
