"""Checks of ``suspension_parameters``: table 7.1 and figures 7.4 and 7.5 (Sotomayor 2010, section 7.2.3; haizea E5).

Every time is divided by the time of the same workload with instantaneous suspension. The bands are not fitted to our
figures.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

from lease_scheduler.papers.checks import Check
from lease_scheduler.papers.haizea.reservation_checks import TABLE_SETS
from lease_scheduler.papers.haizea.suspension_parameters import CORES_PER_HOST, MEMORIES, SuspensionCase
from lease_scheduler.plan.options import Exclusion
from lease_scheduler.simulation.campaigns.case import Outcome

#: Seed of the runs without reservations, in which nothing is random.
_SEED = 1

WORKLOADS: dict[str, str | None] = {"no reservations": None, **TABLE_SETS}

#: Workload -> (table 7.1 at 1000 Mb/s, at 100 Mb/s, difference in %, lower and upper bound of the difference).
_TABLE: dict[str, tuple[float, float, float, float | None, float]] = {
    "no reservations": (1.00, 1.00, 0.39, None, 1.0),
    "T10": (1.00, 1.00, 0.61, None, 2.0),
    "T20": (1.00, 1.04, 3.81, 1.5, 5.5),
    "T30": (1.04, 1.14, 8.98, 6.0, 12.0),
}

#: Workload -> largest relative time with any exclusion: value in the dissertation, upper bound.
_MOST = {"T10": (1.01, 1.02), "T20": (1.05, 1.06)}

Outcomes = Mapping[str, Outcome]


def table_cases(seeds: Sequence[int]) -> list[SuspensionCase]:
    """Return the runs for table 7.1: one core per host, 1 GB, global exclusion."""
    return [
        case
        for reservations in WORKLOADS.values()
        for seed in _seeds_of(reservations, seeds)
        for case in (
            SuspensionCase(reservations, seed),
            _global(reservations, seed, 1000),
            _global(reservations, seed, 100),
        )
    ]


def _seeds_of(reservations: str | None, seeds: Sequence[int]) -> Sequence[int]:
    """Return the seeds to run; without reservations one suffices, because nothing is random."""
    return seeds if reservations is not None else (_SEED,)


def grid_cases(seed: int = _SEED) -> list[SuspensionCase]:
    """Return the runs for figures 7.4 and 7.5: 128 sets of parameters, and those with instantaneous suspension."""
    grid = [
        SuspensionCase(reservations, _seed_of(reservations, seed), cores, exclusion, memory)
        for reservations in WORKLOADS.values()
        for cores in CORES_PER_HOST
        for exclusion in Exclusion
        for memory in MEMORIES
    ]
    return [*(SuspensionCase(reservations, _seed_of(reservations, seed)) for reservations in WORKLOADS.values()), *grid]


def _seed_of(reservations: str | None, seed: int) -> int:
    return _seeds_of(reservations, (seed,))[0]


def _global(reservations: str | None, seed: int, bandwidth: int) -> SuspensionCase:
    return SuspensionCase(reservations, seed, 1, Exclusion.GLOBAL, 1024, bandwidth)


def relative(outcomes: Outcomes, case: SuspensionCase) -> float:
    """Return the time for all best-effort leases, divided by the time with instantaneous suspension."""
    instantaneous = SuspensionCase(case.reservations, case.seed)
    return float(outcomes[case.name]["all_best_effort_s"]) / float(outcomes[instantaneous.name]["all_best_effort_s"])


def table_checks(outcomes: Outcomes, seeds: Sequence[int]) -> list[Check]:
    """Check table 7.1."""
    checks = []
    for label, (fast, slow, difference, low, high) in _TABLE.items():
        reservations = WORKLOADS[label]
        times = [
            tuple(relative(outcomes, _global(reservations, seed, bandwidth)) for seed in _seeds_of(reservations, seeds))
            for bandwidth in (1000, 100)
        ]
        differences = tuple(100 * (slowed / unslowed - 1) for unslowed, slowed in zip(*times, strict=True))
        checks += [
            Check(f"{label}: time at 1000 Mb/s", fast, times[0], None, None),
            Check(f"{label}: time at 100 Mb/s", slow, times[1], None, None),
            Check(f"{label}: difference, %", difference, differences, low, high),
        ]
    return checks


def grid_checks(outcomes: Outcomes, seed: int = _SEED) -> list[Check]:
    """Check the shapes of figures 7.4 and 7.5."""
    checks = []
    for label, reservations in WORKLOADS.items():
        times = {
            (cores, exclusion, memory): relative(
                outcomes, SuspensionCase(reservations, _seed_of(reservations, seed), cores, exclusion, memory)
            )
            for cores in CORES_PER_HOST
            for exclusion in Exclusion
            for memory in MEMORIES
        }
        local = max(time for (_, exclusion, _), time in times.items() if exclusion is Exclusion.LOCAL)
        checks.append(Check(f"{label}: largest with local exclusion", None, (local,), None, 1.03))
        if label in _MOST:
            thesis, most = _MOST[label]
            checks.append(Check(f"{label}: largest of all", thesis, (max(times.values()),), None, most))
        if label == "T30":
            for cores in CORES_PER_HOST:
                by_memory = [times[cores, Exclusion.GLOBAL, memory] for memory in MEMORIES]
                rising = sum(first <= second for first, second in pairwise(by_memory))
                name = f"T30, {cores} cores: steps of memory at which it rises with global exclusion"
                checks.append(Check(name, 3, (rising,), 3, None))
                checks.append(Check(f"T30, {cores} cores: global, 4096 MB", 1.14, (by_memory[-1],), 1.04, 1.15))
    return checks


def lines(outcomes: Outcomes, exclusion: Exclusion, seed: int) -> dict[str, dict[str, dict[int, float]]]:
    """Return the lines of figures 7.4 and 7.5: workload -> cores of a host -> MB of a VM -> relative time."""
    return {
        label: {
            f"{cores} to a host": {
                memory: relative(
                    outcomes, SuspensionCase(reservations, _seed_of(reservations, seed), cores, exclusion, memory)
                )
                for memory in MEMORIES
            }
            for cores in CORES_PER_HOST
        }
        for label, reservations in TABLE_SETS.items()
    }
