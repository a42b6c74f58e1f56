"""Chapter 5 of Haizea's dissertation with the author's sets of reservations of 2008 (Sotomayor 2010, section 5.4).

The dissertation used new sets, made in 2010. Those of 2008 scatter differently, so there are no bands for them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from rich.console import Console

from lease_scheduler.papers.checks import Check
from lease_scheduler.papers.data_folder import data_folder, left_out
from lease_scheduler.papers.extent import Extent
from lease_scheduler.papers.haizea import reservation_checks
from lease_scheduler.papers.replications import FIRST_SEED, DefaultSeeds, Replication
from lease_scheduler.papers.report import write_report
from lease_scheduler.simulation.campaigns.case import Case, Outcome
from lease_scheduler.simulation.reports.plots import plot_all_best_effort_grid

#: The sets are given, so nothing is random.
SEEDS = DefaultSeeds(1)
_SOURCE = "2008"

_RECORDED = "everything, because the files of 2008 are there"


def cases(*, extent: Extent, seed: int = FIRST_SEED) -> list[Case]:
    """Return all runs, or none without the folder of workload logs; see ``paper.Chapter``."""
    if data_folder() is None:
        return []
    table = reservation_checks.cases_of_2008()
    return list(dict.fromkeys([*table, *(reservation_checks.grid_cases(_SOURCE) if extent.is_whole else [])]))


def report(
    outcomes: Mapping[str, Outcome], directory: Path, *, replications: Sequence[Replication], console: Console
) -> int:
    """Print every figure, and write CSV files and a plot; see ``paper.Chapter``."""
    if data_folder() is None:
        return write_report(_checks, cases, replications, outcomes, directory, console, left_out(_RECORDED))
    if replications[0].extent.is_whole:
        plot_all_best_effort_grid(reservation_checks.grid_ratios(outcomes, _SOURCE), directory / "fig-5.2.png")
    outside = write_report(_checks, cases, replications, outcomes, directory, console)
    console.print(f"Tables, figures and single runs are in {directory}")
    return outside


def _checks(outcomes: Mapping[str, Outcome], *, extent: Extent, seed: int) -> dict[str, list[Check]]:
    if data_folder() is None:
        return {}
    groups = {"Table 5.1 with the sets of 2008": reservation_checks.checks_of_2008(outcomes)}
    if extent.is_whole:
        groups["Figure 5.2 with the sets of 2008"] = reservation_checks.grid_checks(outcomes, _SOURCE)
    return groups
