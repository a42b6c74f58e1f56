"""Chapter 5 of Haizea's dissertation: runs, checks, tables and figures (Sotomayor 2010; haizea E1 and E2)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from rich.console import Console

from lease_scheduler.papers.checks import Check
from lease_scheduler.papers.data_folder import data_folder, left_out
from lease_scheduler.papers.extent import Extent
from lease_scheduler.papers.haizea import deadline_checks, reservation_checks
from lease_scheduler.papers.haizea.deadlines import MODES, TRACES
from lease_scheduler.papers.replications import FIRST_SEED, DefaultSeeds, Replication
from lease_scheduler.papers.report import write_report
from lease_scheduler.simulation.campaigns.case import Case, Outcome
from lease_scheduler.simulation.reports.plots import plot_against, plot_all_best_effort_grid, plot_utilisation

SEEDS = DefaultSeeds(4, whole=False)

#: Figure -> column, divisor and label of the abscissas, then of the ordinates.
_SHAPES = {
    "fig-5.3-wait-over-duration": ("duration_s", 3600, "requested duration (h)", "wait_s", 3600, "waiting time (h)"),
    "fig-5.4-slowdown-over-duration": ("duration_s", 3600, "requested duration (h)", "slowdown", 1, "bounded slowdown"),
    "fig-5.6-wait-over-nodes": ("nodes", 1, "nodes", "wait_s", 3600, "waiting time (h)"),
    "fig-5.7-slowdown-over-nodes": ("nodes", 1, "nodes", "slowdown", 1, "bounded slowdown"),
    "fig-5.9-wait-over-cpu-hours": ("cpu_hours", 1, "CPU hours", "wait_s", 3600, "waiting time (h)"),
    "fig-5.10-slowdown-over-cpu-hours": ("cpu_hours", 1, "CPU hours", "slowdown", 1, "bounded slowdown"),
}


def cases(*, extent: Extent, seed: int = FIRST_SEED) -> list[Case]:
    """Return all runs; see ``paper.Chapter``.

    Without the folder of workload logs, runs that need logs which cannot be shipped are left out; the report says so.
    """
    found: list[Case] = [*reservation_checks.table_cases((seed,))]
    if extent.is_whole:
        found += reservation_checks.grid_cases("generated", seed)
    if _has_logs(extent):
        found += deadline_checks.cases(seed)
    return found


def report(
    outcomes: Mapping[str, Outcome], directory: Path, *, replications: Sequence[Replication], console: Console
) -> int:
    """Print every check, and write CSV files and plots; see ``paper.Chapter``."""
    first = replications[0]
    lacking = left_out("table 5.2, figure 5.12") if first.extent.is_whole else ""
    outside = write_report(_checks, cases, replications, outcomes, directory, console, lacking)
    _draw(outcomes, directory, first)
    console.print(f"Tables, figures and single runs are in {directory}")
    return outside


def _has_logs(extent: Extent) -> bool:
    return data_folder() is not None and extent.is_whole


def _checks(outcomes: Mapping[str, Outcome], *, extent: Extent, seed: int) -> dict[str, list[Check]]:
    groups = {
        "Baseline (E1.0)": reservation_checks.baseline_checks(outcomes),
        "Table 5.1 (E1.1)": reservation_checks.table_checks(outcomes, (seed,)),
        "Figures 5.3 to 5.11 as numbers (E1.3)": reservation_checks.shape_checks(outcomes, (seed,)),
    }
    if extent.is_whole:
        groups["Figure 5.2 (E1.2)"] = reservation_checks.grid_checks(outcomes, "generated", seed)
    if _has_logs(extent):
        for step, title in (
            (False, "without the least-slack-first step, as the bands were set"),
            (True, "whole algorithm"),
        ):
            table = deadline_checks.table_checks(outcomes, seed, least_slack_first=step)
            figure = deadline_checks.utilisation_checks(outcomes, seed, least_slack_first=step)
            groups[f"Table 5.2 (E2.2), {title}"] = table
            groups[f"Figure 5.12 (E2.1), {title}"] = figure
    return groups


def _draw(outcomes: Mapping[str, Outcome], directory: Path, first: Replication) -> None:
    """Draw the figures of the first seed."""
    seed = first.seed
    for name, (quantity, divisor, quantity_label, measure, measure_divisor, measure_label) in _SHAPES.items():
        panels = reservation_checks.lowess_panels(outcomes, (seed,), quantity, measure, (divisor, measure_divisor))
        plot_against(panels, directory / f"{name}.png", quantity=quantity_label, measure=measure_label)
    if first.extent.is_whole:
        plot_all_best_effort_grid(
            reservation_checks.grid_ratios(outcomes, "generated", seed), directory / "fig-5.2.png"
        )
    if _has_logs(first.extent):
        for trace in TRACES:
            values = {mode: deadline_checks.utilisation(outcomes, seed, trace, mode) for mode in MODES}
            plot_utilisation(values, directory / f"fig-5.12-{trace.lower()}.png")
