"""Chapter 4 of Pucher 2016: preemptible instances with an assured lifetime (E6 to E9)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from rich.console import Console

from lease_scheduler.papers.checks import Check
from lease_scheduler.papers.data_folder import data_folder, left_out
from lease_scheduler.papers.extent import Extent
from lease_scheduler.papers.prediction import tier_cases, tier_checks
from lease_scheduler.papers.replications import FIRST_SEED, DefaultSeeds, Replication, block
from lease_scheduler.papers.report import write_report
from lease_scheduler.prediction.lifetimes import Threat
from lease_scheduler.simulation.campaigns.case import Case, Outcome
from lease_scheduler.simulation.reports.plots import plot_lines

#: A seed is a block of generated requests, and the instants of all samples.
SEEDS = DefaultSeeds(1)
_RECORDED = "the recorded clouds of E8 and E9"


def cases(*, extent: Extent, seed: int = FIRST_SEED) -> list[Case]:
    """Return all runs; see ``paper.Chapter``."""
    runs: list[Case] = [
        tier_cases.PromiseCase(preemption, each) for preemption in tier_cases.PROMISES for each in _requests(seed)
    ]
    runs += [tier_cases.AnatomyCase(threat, seed) for threat in Threat]
    if data_folder() is not None:
        runs += tier_cases.pairs(seed)
        runs += tier_cases.sizes(seed) if extent.is_whole else []
    return runs


def report(
    outcomes: Mapping[str, Outcome], directory: Path, *, replications: Sequence[Replication], console: Console
) -> int:
    """Print every check, and write CSV files and a plot; see ``paper.Chapter``."""
    plot_lines(
        tier_checks.quantile_lines(outcomes, replications[0].seed),
        directory / "fig-4.3.png",
        quantity="free slots",
        measure="assured lifetime (s)",
    )
    outside = write_report(_checks, cases, replications, outcomes, directory, console, left_out(_RECORDED))
    console.print(f"Tables, figures and single runs are in {directory}")
    return outside


def _checks(outcomes: Mapping[str, Outcome], *, extent: Extent, seed: int) -> dict[str, list[Check]]:
    groups = {
        "Figure 4.1: generated requests (E6)": tier_checks.promise_checks(outcomes, _requests(seed)),
        "Figures 4.2 and 4.3: the samples (E7)": tier_checks.anatomy_checks(outcomes, seed),
    }
    if data_folder() is not None:
        groups["Tables 4.3 and 4.4: recorded clouds (E8)"] = tier_checks.pair_checks(outcomes, seed)
        if extent.is_whole:
            groups["Figures 4.8 and 4.9: fewer nodes (E9)"] = tier_checks.size_checks(outcomes, seed)
    return groups


def _requests(seed: int) -> tuple[int, ...]:
    return tuple(1 + number for number in block(seed, len(tier_cases.TIER_SEEDS)))
