"""Chapter 5: admission control (Amini Salehi 2012, section 5.3; contention E10 and E11)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from rich.console import Console

from lease_scheduler.simulation.campaigns.case import Case, Outcome
from lease_scheduler.simulation.experiments.contention import admission_checks
from lease_scheduler.simulation.experiments.contention.admission import POLICIES
from lease_scheduler.simulation.experiments.extent import Extent
from lease_scheduler.simulation.experiments.report import write_report
from lease_scheduler.simulation.reports.plots import plot_lines

_SEEDS = (1, 2, 3, 4, 5)

#: Figure -> column, label of the ordinates.
_FIGURES = {
    "fig-5.3-violations": ("violations", "violations (%)"),
    "fig-5.4-completed": ("completed", "completed requests (%)"),
}


def cases(*, extent: Extent) -> list[Case]:
    """Return all runs; see ``paper.Chapter``. A first look has equally fast processors only."""
    return [*admission_checks.cases(extent.seeds(_SEEDS), list(_speeds(extent).values()))]


def report(outcomes: Mapping[str, Outcome], directory: Path, *, extent: Extent, console: Console) -> int:
    """Print every check, and write CSV files and plots; see ``paper.Chapter``."""
    seeds, speeds = extent.seeds(_SEEDS), _speeds(extent)
    groups = {"The model and simulations of its queue": admission_checks.model_checks(outcomes)}
    for title, equal in speeds.items():
        groups[f"Figures 5.3 and 5.4 (E10, E11), {title}"] = admission_checks.policy_checks(outcomes, seeds, equal)
    outside = write_report(groups, cases(extent=extent), outcomes, directory, console)
    for name, (column, label) in _FIGURES.items():
        panels = {
            f"({panel}) {factor}": _lines(outcomes, panel, column, seeds)
            for panel, (_, _, factor) in admission_checks.SWEEPS.items()
        }
        plot_lines(panels, directory / f"{name}.png", quantity="tenths of a second", measure=label, reference=None)
    console.print(f"Tables, figures and single runs are in {directory}")
    return outside


def _speeds(extent: Extent) -> Mapping[str, bool]:
    return admission_checks.SPEEDS if extent.is_whole else {"equal processors": True}


def _lines(
    outcomes: Mapping[str, Outcome], panel: str, column: str, seeds: Sequence[int]
) -> dict[str, dict[int, float]]:
    return {policy: admission_checks.line(outcomes, panel, column, policy, seeds, True) for policy in POLICIES}
