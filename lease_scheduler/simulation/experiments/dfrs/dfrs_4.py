"""Chapter 4 of Stillwell 2010: the off-line problem (E2, E5 to E8)."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from rich.console import Console

from lease_scheduler.simulation.campaigns.case import Case, Outcome
from lease_scheduler.simulation.experiments.dfrs import offline_cases, offline_checks
from lease_scheduler.simulation.experiments.extent import Extent
from lease_scheduler.simulation.experiments.report import write_report
from lease_scheduler.simulation.reports.plots import plot_lines

#: Instances of each scenario: of a first look, and those of the dissertation.
_QUICK, _WHOLE = 5, 100


def cases(*, extent: Extent) -> list[Case]:
    """Return all runs; see ``paper.Chapter``."""
    return [*_offline(extent), *_optimum(extent)]


def _offline(extent: Extent) -> list[offline_cases.OfflineCase]:
    return offline_cases.offline_cases(_WHOLE if extent.is_whole else _QUICK)


def _optimum(extent: Extent) -> list[offline_cases.OptimumCase]:
    if extent.is_whole:
        return offline_cases.optimum_cases(offline_cases.SMALL_JOBS, 2)
    return offline_cases.optimum_cases(offline_cases.SMALL_JOBS[:1], 1)


def report(outcomes: Mapping[str, Outcome], directory: Path, *, extent: Extent, console: Console) -> int:
    """Print every check, and write CSV files and a plot; see ``paper.Chapter``."""
    found = offline_checks.yields(_offline(extent), outcomes)
    groups = {
        f"Table 4.4 (E5): {len(found.bound)} instances": offline_checks.packing_checks(found),
        "Table 4.5 (E5): packing and greedy": offline_checks.comparison_checks(found),
        "Figure 4.1 (E2): greedy pairs": offline_checks.greedy_checks(found, whole=extent.is_whole),
        "Table 4.6 (E6): CPSUM by parameter": offline_checks.parameter_checks(found),
        "Table 4.7 (E8): fluid utilisation with CPSUM": offline_checks.utilisation_checks(found),
        "Figure 4.3 (E7): the optimum of small instances": offline_checks.optimum_checks(
            _optimum(extent), outcomes, whole=extent.is_whole
        ),
    }
    plot_lines(
        {"CPSUM, mean of all scenarios": {"CPSUM": offline_checks.loss_by_slack(found)}},
        directory / "fig-4.2.png",
        quantity="slack (%)",
        measure="degradation from the bound (%)",
        reference=None,
    )
    outside = write_report(groups, cases(extent=extent), outcomes, directory, console)
    console.print(f"Tables, figures and single runs are in {directory}")
    return outside
