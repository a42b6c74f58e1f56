"""Chapter 7 of Haizea's dissertation: the long-term cost of suspending (Sotomayor 2010, section 7.2.3; haizea E5)."""

from __future__ import annotations

from pathlib import Path

from rich.console import Console

from lease_scheduler.plan.options import Exclusion
from lease_scheduler.simulation.experiments import suspension_checks
from lease_scheduler.simulation.experiments.campaign import Case, run_campaign
from lease_scheduler.simulation.experiments.report import write_report
from lease_scheduler.simulation.reports.plots import plot_lines

_SEEDS = (1, 2, 3, 4)


def run(directory: Path, *, jobs: int | None, quick: bool, quiet: bool, console: Console) -> int:
    """Run what has no outcome in the directory yet, print every check and write CSV files and plots.

    :param jobs: processes at a time, as many as there are cores if none
    :param quick: one seed and table 7.1 only
    :return: number of checks outside their band
    """
    seeds = _SEEDS[:1] if quick else _SEEDS
    cases: list[Case] = list(suspension_checks.table_cases(seeds))
    if not quick:
        cases = list(dict.fromkeys([*cases, *suspension_checks.grid_cases()]))
    outcomes = run_campaign(cases, directory, jobs, quiet=quiet)
    groups = {"Table 7.1 (E5), mean over seeds": suspension_checks.table_checks(outcomes, seeds)}
    if not quick:
        groups["Figures 7.4 and 7.5 as numbers (E5)"] = suspension_checks.grid_checks(outcomes)
        for exclusion in Exclusion:
            plot_lines(
                suspension_checks.lines(outcomes, exclusion),
                directory / f"fig-7.4-7.5-{exclusion.value}.png",
                quantity="memory of a VM (MB)",
                measure="time to finish all best-effort leases\n(instantaneous suspension = 1)",
            )
    outside = write_report(groups, cases, outcomes, directory, console)
    console.print(f"Tables, figures and single runs are in {directory}")
    return outside
