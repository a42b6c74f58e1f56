"""Chapter 7 of Haizea's dissertation: the long-term cost of suspending (Sotomayor 2010, section 7.2.3; haizea E5)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from rich.console import Console

from lease_scheduler.plan.options import Exclusion
from lease_scheduler.simulation.campaigns.case import Case, Outcome
from lease_scheduler.simulation.experiments import suspension_checks
from lease_scheduler.simulation.experiments.report import write_report
from lease_scheduler.simulation.reports.plots import plot_lines

_SEEDS = (1, 2, 3, 4)


def cases(*, quick: bool) -> list[Case]:
    """Every run; see ``chapters.Chapter``.

    :param quick: one seed and table 7.1 only
    """
    table = suspension_checks.table_cases(_seeds(quick))
    return list(dict.fromkeys([*table, *([] if quick else suspension_checks.grid_cases())]))


def report(outcomes: Mapping[str, Outcome], directory: Path, *, quick: bool, console: Console) -> int:
    """Print every check and write CSV files and plots; see ``chapters.Chapter``."""
    groups = {"Table 7.1 (E5), mean over seeds": suspension_checks.table_checks(outcomes, _seeds(quick))}
    if not quick:
        groups["Figures 7.4 and 7.5 as numbers (E5)"] = suspension_checks.grid_checks(outcomes)
        for exclusion in Exclusion:
            plot_lines(
                suspension_checks.lines(outcomes, exclusion),
                directory / f"fig-7.4-7.5-{exclusion.value}.png",
                quantity="memory of a VM (MB)",
                measure="time to finish all best-effort leases\n(instantaneous suspension = 1)",
            )
    outside = write_report(groups, cases(quick=quick), outcomes, directory, console)
    console.print(f"Tables, figures and single runs are in {directory}")
    return outside


def _seeds(quick: bool) -> Sequence[int]:
    return _SEEDS[:1] if quick else _SEEDS
