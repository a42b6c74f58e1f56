"""Chapter 6 of Haizea's dissertation: image transfers (Sotomayor 2010, section 6.4; haizea E3)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from rich.console import Console

from lease_scheduler.simulation.campaigns.case import Case, Outcome
from lease_scheduler.simulation.experiments import image_checks
from lease_scheduler.simulation.experiments.report import write_report
from lease_scheduler.simulation.reports.plots import plot_all_best_effort_grid, plot_bars

_SEEDS = (1, 2, 3, 4)


def cases(*, quick: bool) -> list[Case]:
    """Every run; see ``chapters.Chapter``.

    :param quick: one seed and table 6.1 only
    """
    table = image_checks.cases(_seeds(quick))
    return list(dict.fromkeys([*table, *([] if quick else image_checks.grid_cases())]))


def report(outcomes: Mapping[str, Outcome], directory: Path, *, quick: bool, console: Console) -> int:
    """Print every check and write CSV files and plots; see ``chapters.Chapter``."""
    seeds = _seeds(quick)
    groups = {
        "Table 6.1 (E3), mean over seeds": image_checks.table_checks(outcomes, seeds),
        "What table 6.1 says of bandwidth and reuse": image_checks.ratio_checks(outcomes, seeds),
        "Promises, transfers and figure 6.2 on the three sets": image_checks.promise_checks(outcomes, seeds),
    }
    if not quick:
        groups["Figure 6.2, all sets"] = image_checks.grid_checks(outcomes)
        plot_all_best_effort_grid(image_checks.grid_ratios(outcomes), directory / "fig-6.2.png")
    outside = write_report(groups, cases(quick=quick), outcomes, directory, console)
    for name, column, divisor, label in (
        ("table-6.1-wait", "mean_wait_s", 1000, "mean wait (1000 s)"),
        ("table-6.1-slowdown", "mean_slowdown", 1, "mean bounded slowdown"),
    ):
        plot_bars(image_checks.bars(outcomes, seeds, column, divisor), directory / f"{name}.png", measure=label)
    console.print(f"Tables, figures and single runs are in {directory}")
    return outside


def _seeds(quick: bool) -> Sequence[int]:
    return _SEEDS[:1] if quick else _SEEDS
