"""Chapter 5: admission control (Amini Salehi 2012, section 5.3; contention E10 and E11)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from rich.console import Console

from lease_scheduler.papers.checks import Check
from lease_scheduler.papers.contention import admission_checks
from lease_scheduler.papers.contention.admission import POLICIES
from lease_scheduler.papers.extent import Extent
from lease_scheduler.papers.replications import FIRST_SEED, DefaultSeeds, Replication
from lease_scheduler.papers.report import write_report
from lease_scheduler.simulation.campaigns.case import Case, Outcome
from lease_scheduler.simulation.reports.plots import plot_lines

SEEDS = DefaultSeeds(5)

#: Figure -> column, label of the ordinates.
_FIGURES = {
    "fig-5.3-violations": ("violations", "violations (%)"),
    "fig-5.4-completed": ("completed", "completed requests (%)"),
}


def cases(*, extent: Extent, seed: int = FIRST_SEED) -> list[Case]:
    """Return all runs; see ``paper.Chapter``. A first look has equally fast processors only."""
    return [*admission_checks.cases(seed, list(_speeds(extent).values()))]


def report(
    outcomes: Mapping[str, Outcome], directory: Path, *, replications: Sequence[Replication], console: Console
) -> int:
    """Print every check, and write CSV files and plots; see ``paper.Chapter``."""
    seeds = [each.seed for each in replications]
    outside = write_report(_checks, cases, replications, outcomes, directory, console)
    for name, (column, label) in _FIGURES.items():
        panels = {
            f"({panel}) {factor}": _lines(outcomes, panel, column, seeds)
            for panel, (_, _, factor) in admission_checks.SWEEPS.items()
        }
        plot_lines(panels, directory / f"{name}.png", quantity="tenths of a second", measure=label, reference=None)
    console.print(f"Tables, figures and single runs are in {directory}")
    return outside


def _checks(outcomes: Mapping[str, Outcome], *, extent: Extent, seed: int) -> dict[str, list[Check]]:
    groups = {"The model and simulations of its queue": admission_checks.model_checks(outcomes, seed)}
    for title, equal in _speeds(extent).items():
        groups[f"Figures 5.3 and 5.4 (E10, E11), {title}"] = admission_checks.policy_checks(outcomes, (seed,), equal)
    return groups


def _speeds(extent: Extent) -> Mapping[str, bool]:
    return admission_checks.SPEEDS if extent.is_whole else {"equal processors": True}


def _lines(
    outcomes: Mapping[str, Outcome], panel: str, column: str, seeds: Sequence[int]
) -> dict[str, dict[int, float]]:
    return {policy: admission_checks.line(outcomes, panel, column, policy, seeds, True) for policy in POLICIES}
