"""Chapter 3: preemption policies on one site (Amini Salehi 2012, section 3.3; contention E1-E4)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from rich.console import Console

from lease_scheduler.papers.checks import Check
from lease_scheduler.papers.contention import site_checks
from lease_scheduler.papers.contention.one_site import POLICIES
from lease_scheduler.papers.extent import Extent
from lease_scheduler.papers.replications import FIRST_SEED, DefaultSeeds, Replication
from lease_scheduler.papers.report import write_report
from lease_scheduler.simulation.campaigns.case import Case, Outcome
from lease_scheduler.simulation.reports.plots import plot_lines

SEEDS = DefaultSeeds(6)

#: Figure -> column, label of the ordinates, policies.
_FIGURES = {
    "table-3.1-local": ("local_rejected_percent", "rejected local requests (%)", tuple(POLICIES)),
    "table-3.1-external": ("external_rejected_percent", "rejected external requests (%)", tuple(POLICIES)),
    "fig-3.4-utilisation": ("utilisation_percent", "utilisation (%)", ("MOV", "MLIP", "MOML")),
    "fig-3.5-preemptions": ("lease_preemptions", "preempted leases", ("MOV", "MLIP", "MOML")),
    "fig-3.6-response": ("response_h", "response time of best-effort requests (h)", ("MOV", "MLIP", "MOML")),
}


def cases(*, extent: Extent, seed: int = FIRST_SEED) -> list[Case]:
    """Return all runs; see ``paper.Chapter``. A first look is the sweep over best-effort requests."""
    return [*site_checks.cases(_sweeps(extent), (seed,))]


def report(
    outcomes: Mapping[str, Outcome], directory: Path, *, replications: Sequence[Replication], console: Console
) -> int:
    """Print every check, and write CSV files and plots; see ``paper.Chapter``."""
    seeds, sweeps = [each.seed for each in replications], _sweeps(replications[-1].extent)
    outside = write_report(_checks, cases, replications, outcomes, directory, console)
    for name, (column, label, policies) in _FIGURES.items():
        panels = {
            f"({letter}) {site_checks.SWEEPS[letter].title}": {
                policy: site_checks.Results(outcomes, site_checks.SWEEPS[letter], seeds).line(policy, column)
                for policy in policies
            }
            for letter in sweeps
        }
        plot_lines(panels, directory / f"{name}.png", quantity="%", measure=label, reference=None)
    console.print(f"Tables, figures and single runs are in {directory}")
    return outside


def _checks(outcomes: Mapping[str, Outcome], *, extent: Extent, seed: int) -> dict[str, list[Check]]:
    sweeps = _sweeps(extent)
    return {
        "Table 3.1 (E1): no preemption and MOML": site_checks.rejection_checks(outcomes, (seed,), sweeps),
        "Figure 3.5 (E3): preempted leases": site_checks.preemption_checks(outcomes, (seed,), sweeps),
        "Figures 3.4 and 3.6 (E2, E4): what the text says, without numbers; soft bands": site_checks.soft_checks(
            outcomes, (seed,), sweeps
        ),
    }


def _sweeps(extent: Extent) -> Sequence[str]:
    return tuple(site_checks.SWEEPS) if extent.is_whole else ("a",)
