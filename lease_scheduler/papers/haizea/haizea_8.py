"""Chapter 8 of Haizea's dissertation: prices (Sotomayor 2010, section 8.3; haizea E6)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

from rich.console import Console

from lease_scheduler.papers.checks import Check
from lease_scheduler.papers.data_folder import data_folder, left_out
from lease_scheduler.papers.extent import Extent
from lease_scheduler.papers.haizea import pricing_checks
from lease_scheduler.papers.haizea.deadlines import TRACES, USERS
from lease_scheduler.papers.replications import FIRST_SEED, DefaultSeeds, Replication
from lease_scheduler.papers.report import write_report
from lease_scheduler.simulation.campaigns.case import Case, Outcome
from lease_scheduler.simulation.reports.plots import plot_rate_curves, plot_shares, plot_utilisation

SEEDS = DefaultSeeds(5, whole=False)

_RECORDED = "everything, because both logs of this chapter are there"

#: Trace -> numbers of its figures: revenue, rates.
_FIGURES = {"BLUE2": ("8.1", "8.3"), "DS": ("8.2", "8.4")}


def cases(*, extent: Extent, seed: int = FIRST_SEED) -> list[Case]:
    """Return all runs, or none without the folder of workload logs; see ``paper.Chapter``."""
    if data_folder() is None:
        return []
    early = pricing_checks.cases((seed,))
    return list(dict.fromkeys([*early, *(pricing_checks.grid_cases(seed) if extent.is_whole else [])]))


def report(
    outcomes: Mapping[str, Outcome], directory: Path, *, replications: Sequence[Replication], console: Console
) -> int:
    """Print every check, and write CSV files and plots; see ``paper.Chapter``."""
    if data_folder() is None:
        return write_report(_checks, cases, replications, outcomes, directory, console, left_out(_RECORDED))
    seeds = [each.seed for each in replications]
    checks = partial(_checks, seeds=len(seeds))
    outside = write_report(checks, cases, replications, outcomes, directory, console)
    _draw(outcomes, directory, seeds)
    console.print(f"Tables, figures and single runs are in {directory}")
    return outside


def _checks(outcomes: Mapping[str, Outcome], *, extent: Extent, seed: int, seeds: int = 1) -> dict[str, list[Check]]:
    if data_folder() is None:
        return {}
    groups = {
        "Figures 8.1 and 8.2 (E6): share of all that users would pay": pricing_checks.share_checks(
            outcomes, (seed,), seeds
        ),
        "What the text says of ADAPTIVE and MAXIMUM": pricing_checks.ratio_checks(outcomes, (seed,)),
        "What the text says of users and strategies": pricing_checks.order_checks(outcomes, (seed,)),
        "Figures 8.3 and 8.4: rates": pricing_checks.rate_checks(outcomes, (seed,)),
        "Figure 8.5: utilisation": pricing_checks.utilisation_checks(outcomes, (seed,)),
        "Sums": pricing_checks.sum_checks(outcomes, pricing_checks.cases((seed,))),
    }
    if extent.is_whole:
        groups["The other starts"] = pricing_checks.grid_checks(outcomes, seed)
        groups["Sums over all starts"] = pricing_checks.sum_checks(outcomes, pricing_checks.grid_cases(seed))
    return groups


def _draw(outcomes: Mapping[str, Outcome], directory: Path, seeds: Sequence[int]) -> None:
    for trace in TRACES:
        revenue, rates = _FIGURES[trace]
        plot_shares(
            {f"{users} users": pricing_checks.mean_shares(outcomes, seeds, trace, users) for users in USERS},
            directory / f"fig-{revenue}-{trace.lower()}.png",
            measure="share of all that users would pay",
        )
        plot_rate_curves(
            *pricing_checks.rate_curves(outcomes, seeds[0], trace), directory / f"fig-{rates}-{trace.lower()}.png"
        )
        plot_utilisation(
            pricing_checks.mean_utilisations(outcomes, seeds, trace),
            directory / f"fig-8.5-{trace.lower()}.png",
            law="users",
        )
