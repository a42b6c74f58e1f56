"""Chapter 7 of Haizea's dissertation: the long-term cost of suspending (Sotomayor 2010, section 7.2.3; haizea E5)."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from rich.console import Console

from lease_scheduler.plan.options import Exclusion
from lease_scheduler.simulation.campaigns.case import Case, Outcome
from lease_scheduler.simulation.experiments.extent import Extent
from lease_scheduler.simulation.experiments.haizea import suspension_checks
from lease_scheduler.simulation.experiments.report import write_report
from lease_scheduler.simulation.reports.plots import plot_lines

_SEEDS = (1, 2, 3, 4)


def cases(*, extent: Extent) -> list[Case]:
    """Return all runs; see ``paper.Chapter``."""
    table = suspension_checks.table_cases(extent.seeds(_SEEDS))
    return list(dict.fromkeys([*table, *(suspension_checks.grid_cases() if extent.is_whole else [])]))


def report(outcomes: Mapping[str, Outcome], directory: Path, *, extent: Extent, console: Console) -> int:
    """Print every check, and write CSV files and plots; see ``paper.Chapter``."""
    groups = {"Table 7.1 (E5), mean over seeds": suspension_checks.table_checks(outcomes, extent.seeds(_SEEDS))}
    if extent.is_whole:
        groups["Figures 7.4 and 7.5 as numbers (E5)"] = suspension_checks.grid_checks(outcomes)
        for exclusion in Exclusion:
            plot_lines(
                suspension_checks.lines(outcomes, exclusion),
                directory / f"fig-7.4-7.5-{exclusion.value}.png",
                quantity="memory of a VM (MB)",
                measure="time to finish all best-effort leases\n(instantaneous suspension = 1)",
            )
    outside = write_report(groups, cases(extent=extent), outcomes, directory, console)
    console.print(f"Tables, figures and single runs are in {directory}")
    return outside
