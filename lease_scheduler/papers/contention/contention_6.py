"""Chapter 6: hosts that sleep (Amini Salehi 2012, section 6.4; contention E12 and E13)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path

from rich.console import Console

from lease_scheduler.papers.checks import Check
from lease_scheduler.papers.contention import energy_checks
from lease_scheduler.papers.contention.sleeping_site import POLICIES, EnergyCase
from lease_scheduler.papers.extent import Extent
from lease_scheduler.papers.replications import FIRST_SEED, DefaultSeeds, Replication
from lease_scheduler.papers.report import write_report
from lease_scheduler.simulation.campaigns.case import Case, Outcome
from lease_scheduler.simulation.generators.reservations import HOURS, SIZES, UTILISATIONS
from lease_scheduler.simulation.reports.plots import plot_lines

SEEDS = DefaultSeeds(4)
_BASE = EnergyCase("SESP")
#: Reading of the data -> what the points differ from. A first look has the first of them only.
_READINGS: Mapping[str, EnergyCase] = {
    "external requests scaled to 34.8 %": _BASE,
    "external requests as recorded": replace(_BASE, is_scaled=False),
}

#: Figure -> column, label of the ordinates.
_FIGURES = {
    "fig-6.3-energy": ("energy_kwh", "energy (kWh)"),
    "fig-6.4-violations": ("violations_percent", "violations (%)"),
}


def cases(*, extent: Extent, seed: int = FIRST_SEED) -> list[Case]:
    """Return all runs; see ``paper.Chapter``. A first look is one sweep over the scaled workload.

    With repetitions there are also the other combinations of the 72 workloads, and the other reading of the share of
    local requests.
    """
    seeds, found = (seed,), list[EnergyCase]()
    for base in _readings(extent).values():
        found += energy_checks.sweep_cases(base, _sweeps(extent), seeds)
    if extent.is_whole:
        found += energy_checks.sensitivity_cases(_BASE, seeds)
    if extent is Extent.REPEATED:
        found += energy_checks.sweep_cases(replace(_BASE, of_all=True), "a", seeds)
        found += _all_workloads(seeds)
    return [*dict.fromkeys(found)]


def report(
    outcomes: Mapping[str, Outcome], directory: Path, *, replications: Sequence[Replication], console: Console
) -> int:
    """Print every check, and write CSV files and plots; see ``paper.Chapter``."""
    extent, seeds = replications[-1].extent, [each.seed for each in replications]
    sweeps, readings = _sweeps(extent), _readings(extent)
    outside = write_report(_checks, cases, replications, outcomes, directory, console)
    for name, (column, label) in _FIGURES.items():
        for sweep in sweeps:
            panels = {
                title: {
                    policy: energy_checks.Results(outcomes, energy_checks.SWEEPS[sweep], base, seeds).line(
                        policy, column
                    )
                    for policy in POLICIES
                }
                for title, base in readings.items()
            }
            quantity = energy_checks.SWEEPS[sweep].title
            plot_lines(panels, directory / f"{name}-{sweep}.png", quantity=quantity, measure=label, reference=None)
    console.print(f"Tables, figures and single runs are in {directory}")
    return outside


def _checks(outcomes: Mapping[str, Outcome], *, extent: Extent, seed: int) -> dict[str, list[Check]]:
    seeds, sweeps = (seed,), _sweeps(extent)
    groups: dict[str, list[Check]] = {}
    for title, base in _readings(extent).items():
        groups[f"Figure 6.3 (E12), {title}"] = energy_checks.energy_checks(outcomes, base, sweeps, seeds)
        groups[f"Figure 6.4 (E13), {title}"] = energy_checks.violation_checks(outcomes, base, sweeps, seeds)
    if extent.is_whole:
        groups["Time to wake, scaled requests"] = energy_checks.sensitivity_checks(outcomes, _BASE, seeds)
    if extent is Extent.REPEATED:
        of_all = replace(_BASE, of_all=True)
        groups["Figure 6.3 (E12), local work as a share of all work"] = energy_checks.energy_checks(
            outcomes, of_all, "a", seeds
        )
        groups["All 72 workloads, scaled requests"] = energy_checks.policy_checks(outcomes, _all_workloads(seeds))
    return groups


def _sweeps(extent: Extent) -> Sequence[str]:
    return tuple(energy_checks.SWEEPS) if extent.is_whole else ("b",)


def _readings(extent: Extent) -> Mapping[str, EnergyCase]:
    if extent.is_whole:
        return _READINGS
    title, base = next(iter(_READINGS.items()))
    return {title: base}


def _all_workloads(seeds: Sequence[int]) -> list[EnergyCase]:
    """Return the runs of the 72 workloads with all policies (section 6.4.1)."""
    return [
        EnergyCase(policy, local, hours, size, seed=seed)
        for local, hours, size, seed, policy in product(UTILISATIONS, HOURS, SIZES, seeds, POLICIES)
    ]
