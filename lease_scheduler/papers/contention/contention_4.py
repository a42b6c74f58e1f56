"""Chapter 4: a gateway before three clusters (Amini Salehi 2012, section 4.4; contention E5-E9)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from rich.console import Console

from lease_scheduler.papers.checks import Check
from lease_scheduler.papers.contention import cluster_checks, cluster_sweeps
from lease_scheduler.papers.contention.cluster_checks import AWARE, OTHERS, Results
from lease_scheduler.papers.contention.clusters import POLICIES, ClusterCase
from lease_scheduler.papers.extent import Extent
from lease_scheduler.papers.replications import FIRST_SEED, DefaultSeeds, Replication, block
from lease_scheduler.papers.report import write_report
from lease_scheduler.simulation.campaigns.case import Case, Outcome
from lease_scheduler.simulation.reports.plots import plot_bars, plot_lines

#: A seed is a block of workloads.
SEEDS = DefaultSeeds(1)

#: Number of workloads at the usual load, in the sweeps, and with a gateway that tries other clusters.
_USUAL = {Extent.QUICK: 8, Extent.ONCE: 16, Extent.REPEATED: 64}
_SWEPT = {Extent.QUICK: 0, Extent.ONCE: 2, Extent.REPEATED: 4}
_REROUTED = {Extent.QUICK: 0, Extent.ONCE: 4, Extent.REPEATED: 16}

#: Figure -> column, label of the ordinates.
_FIGURES = {
    "fig-4.3-preemptions": ("vm_preemptions", "preempted VMs"),
    "fig-4.4-utilisation": ("utilisation_percent", "utilisation (%)"),
    "fig-4.5-response": ("awrt_s", "weighted response time (s)"),
    "fig-4.6-rejections": ("fixed_rejected_percent", "rejected non-preemptable (%)"),
}


def cases(*, extent: Extent, seed: int = FIRST_SEED) -> list[Case]:
    """Return all runs; see ``paper.Chapter``. A first look is the usual load with few workloads."""
    found = [ClusterCase(policy, number) for number in block(seed, _USUAL[extent]) for policy in POLICIES]
    for sweep in cluster_sweeps.SWEEPS.values() if _SWEPT[extent] else ():
        found += sweep.cases(block(seed, _SWEPT[extent]))
    found += [
        ClusterCase(policy, number, reroutes=True)
        for number in block(seed, _REROUTED[extent])
        for policy in (*OTHERS, *AWARE)
    ]
    # The usual load is a point of sweeps, too.
    return list({case.name: case for case in found}.values())


def report(
    outcomes: Mapping[str, Outcome], directory: Path, *, replications: Sequence[Replication], console: Console
) -> int:
    """Print every check, and write CSV files and plots; see ``paper.Chapter``."""
    first = replications[0]
    outside = write_report(_checks, cases, replications, outcomes, directory, console)
    usual = Results(outcomes, block(first.seed, _USUAL[first.extent]))
    bars = {
        "preempted VMs": {policy: usual.mean(policy, "vm_preemptions") for policy in POLICIES},
        "AWRT (s)": {policy: usual.mean(policy, "awrt_s") for policy in POLICIES},
    }
    plot_bars(bars, directory / "usual-load.png", measure="preempted VMs, seconds")
    numbers = block(first.seed, _SWEPT[first.extent])
    for name, (column, label) in _FIGURES.items() if numbers else ():
        panels = {
            f"({letter}) {sweep.title}": {policy: sweep.line(outcomes, policy, column, numbers) for policy in POLICIES}
            for letter, sweep in cluster_sweeps.SWEEPS.items()
        }
        plot_lines(panels, directory / f"{name}.png", quantity="", measure=label, reference=None)
    console.print(f"Tables, figures and single runs are in {directory}")
    return outside


def _checks(outcomes: Mapping[str, Outcome], *, extent: Extent, seed: int) -> dict[str, list[Check]]:
    usual = Results(outcomes, block(seed, _USUAL[extent]))
    count = len(usual.numbers)
    found = {
        f"Usual load, {count} workloads (E5, E7); hard": cluster_checks.hard_checks(usual),
        "Dispatch by shares (E5); hard": cluster_checks.dispatch_checks(usual),
        f"Usual load, {count} workloads (E5 to E8): what the text says; soft": cluster_checks.soft_checks(usual),
        "Premises of the tests": cluster_checks.premises(usual),
        f"Means over {count} workloads": cluster_checks.overview(usual),
    }
    if numbers := block(seed, _SWEPT[extent]):
        title = f"Figure 4.3, {len(numbers)} workloads a point (E5); soft"
        found[title] = cluster_sweeps.preemption_checks(outcomes, numbers)
        found["Figure 4.2 (E9); soft"] = cluster_sweeps.regression_checks(outcomes, numbers)
    if numbers := block(seed, _REROUTED[extent]):
        title = f"The gateway tries other clusters after a refusal: means over {len(numbers)} workloads"
        found[title] = cluster_checks.overview(Results(outcomes, numbers, reroutes=True))
    return found
