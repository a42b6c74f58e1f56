"""Chapter 4 of Stillwell 2010: the off-line problem (E2, E5 to E8)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from rich.console import Console

from lease_scheduler.papers.checks import Check
from lease_scheduler.papers.dfrs import offline_cases, offline_checks
from lease_scheduler.papers.extent import Extent
from lease_scheduler.papers.replications import FIRST_SEED, DefaultSeeds, Replication
from lease_scheduler.papers.report import write_report
from lease_scheduler.simulation.campaigns.case import Case, Outcome
from lease_scheduler.simulation.reports.plots import plot_lines

#: A seed is a block of instances. One of them takes long enough.
SEEDS = DefaultSeeds(1)

#: Instances of each scenario: of a first look, and those of the dissertation.
_QUICK, _WHOLE = 5, 100


def cases(*, extent: Extent, seed: int = FIRST_SEED) -> list[Case]:
    """Return all runs; see ``paper.Chapter``."""
    return [*_offline(extent, seed), *_optimum(extent, seed)]


def _offline(extent: Extent, seed: int) -> list[offline_cases.OfflineCase]:
    return offline_cases.offline_cases(_WHOLE if extent.is_whole else _QUICK, seed)


def _optimum(extent: Extent, seed: int) -> list[offline_cases.OptimumCase]:
    if extent.is_whole:
        return offline_cases.optimum_cases(offline_cases.SMALL_JOBS, 2, seed)
    return offline_cases.optimum_cases(offline_cases.SMALL_JOBS[:1], 1, seed)


def report(
    outcomes: Mapping[str, Outcome], directory: Path, *, replications: Sequence[Replication], console: Console
) -> int:
    """Print every check, and write CSV files and a plot; see ``paper.Chapter``."""
    first = replications[0]
    found = offline_checks.yields(_offline(first.extent, first.seed), outcomes)
    plot_lines(
        {"CPSUM, mean of all scenarios": {"CPSUM": offline_checks.loss_by_slack(found)}},
        directory / "fig-4.2.png",
        quantity="slack (%)",
        measure="degradation from the bound (%)",
        reference=None,
    )
    outside = write_report(_checks, cases, replications, outcomes, directory, console)
    console.print(f"Tables, figures and single runs are in {directory}")
    return outside


def _checks(outcomes: Mapping[str, Outcome], *, extent: Extent, seed: int) -> dict[str, list[Check]]:
    found = offline_checks.yields(_offline(extent, seed), outcomes)
    return {
        f"Table 4.4 (E5): {len(found.bound)} instances": offline_checks.packing_checks(found),
        "Table 4.5 (E5): packing and greedy": offline_checks.comparison_checks(found),
        "Figure 4.1 (E2): greedy pairs": offline_checks.greedy_checks(found, whole=extent.is_whole),
        "Table 4.6 (E6): CPSUM by parameter": offline_checks.parameter_checks(found),
        "Table 4.7 (E8): fluid utilisation with CPSUM": offline_checks.utilisation_checks(found),
        "Figure 4.3 (E7): the optimum of small instances": offline_checks.optimum_checks(
            _optimum(extent, seed), outcomes, whole=extent.is_whole
        ),
    }
