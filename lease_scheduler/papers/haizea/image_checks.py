"""Checks of ``image_transfers``: table 6.1 and figures 6.1 to 6.2 (Sotomayor 2010, section 6.4; haizea E3).

The bands are for ratios to runs with predeployed images; they are not fitted to our figures.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

from lease_scheduler.papers.checks import Check
from lease_scheduler.papers.haizea.best_effort_and_reservations import HOURS, LOADS, SIZES, ReservationCase, set_name
from lease_scheduler.papers.haizea.image_transfers import BANDWIDTHS, CONFIGURATIONS, PREDEPLOYED, ImageCase
from lease_scheduler.papers.haizea.reservation_checks import BASELINE, TABLE_SETS
from lease_scheduler.papers.replications import FIRST_SEED
from lease_scheduler.simulation.campaigns.case import Outcome

#: Row of table 6.1 -> (wait in 1000 s, bounded slowdown), each for T10, T20 and T30.
_TABLE: dict[str, tuple[tuple[float, ...], tuple[float, ...]]] = {
    "VM-PREDEPLOY": ((6.18, 10.88, 27.43), (24.66, 47.27, 121.33)),
    "VM-MULT": ((6.29, 10.69, 27.48), (30.36, 49.06, 144.39)),
    "VM-REUSE-UNIFORM": ((5.76, 9.81, 24.63), (26.67, 44.46, 134.65)),
    "VM-REUSE-SKEWED": ((5.67, 10.30, 22.96), (26.64, 48.90, 115.44)),
    "VM-MULT-BW100": ((12.10, 23.44, 49.16), (74.95, 132.78, 292.96)),
    "VM-REUSE-UNIFORM-BW100": ((7.05, 12.35, 30.74), (36.01, 62.05, 157.42)),
    "VM-REUSE-SKEWED-BW100": ((5.13, 9.98, 24.96), (23.07, 43.83, 118.64)),
}

#: Row -> band of its wait divided by the wait with predeployed images.
_WAIT_RATIOS = {"VM-MULT": (0.9, 1.25), "VM-MULT-BW100": (1.6, 2.6), "VM-REUSE-UNIFORM-BW100": (0.9, 1.5)}

_FAST_ROWS = ("VM-PREDEPLOY", *CONFIGURATIONS)

_GRID = [(load, hours, size) for load in LOADS for hours in HOURS for size in SIZES]

_MEASURES = {"mean wait, 1000 s": ("mean_wait_s", 1000.0), "mean bounded slowdown": ("mean_slowdown", 1.0)}

Outcomes = Mapping[str, Outcome]


def cases(seeds: Sequence[int]) -> list[ReservationCase | ImageCase]:
    """Return the runs for table 6.1."""
    return [_case(row, reservations, seed) for reservations in TABLE_SETS.values() for row in _TABLE for seed in seeds]


def grid_cases(seed: int = FIRST_SEED) -> list[ReservationCase | ImageCase]:
    """Return the runs for figure 6.2: the 72 sets of reservations at 1000 Mb/s."""
    return [_case(row, set_name(*cell), seed) for cell in _GRID for row in _FAST_ROWS]


def grid_ratios(outcomes: Outcomes, seed: int) -> dict[str, dict[tuple[int, int, str], float]]:
    """Return the values of figure 6.2.

    :return: row -> (load, hours, size) -> time for all best-effort leases divided by the baseline of chapter 5
    """
    return {
        row: {
            cell: float(outcomes[_case(row, set_name(*cell), seed).name]["all_best_effort_s"]) / BASELINE
            for cell in _GRID
        }
        for row in _FAST_ROWS
    }


def grid_checks(outcomes: Outcomes, seed: int) -> list[Check]:
    """Check figure 6.2: at 1000 Mb/s, neither transfers nor reuse change the time for all best-effort leases."""
    ratios = grid_ratios(outcomes, seed)
    spreads = [max(ratios[row][cell] for row in ratios) / min(ratios[row][cell] for row in ratios) for cell in _GRID]
    note = "largest over smallest configuration"
    return [
        Check("fig. 6.2: largest spread of a set, %", None, (100 * (max(spreads) - 1),), None, 3.0, note),
        Check("fig. 6.2: mean spread of a set, %", None, (100 * (_mean(spreads) - 1),), None, None, note),
    ]


def _case(row: str, reservations: str, seed: int) -> ReservationCase | ImageCase:
    if row == "VM-PREDEPLOY":
        return ReservationCase(reservations, "generated", seed, PREDEPLOYED)
    configuration, _, bandwidth = row.partition("-BW")
    return ImageCase(reservations, seed, configuration, int(bandwidth or 1000))


def table_checks(outcomes: Outcomes, seeds: Sequence[int]) -> list[Check]:
    """Return the rows of table 6.1 without bands; ``ratio_checks`` has the bands."""
    return [
        Check(
            f"{label} {row}: {measure}",
            thesis[index][position],
            tuple(value / divisor for value in _values(outcomes, row, reservations, seeds, column)),
            None,
            None,
        )
        for index, (measure, (column, divisor)) in enumerate(_MEASURES.items())
        for row, thesis in _TABLE.items()
        for position, (label, reservations) in enumerate(TABLE_SETS.items())
    ]


def ratio_checks(outcomes: Outcomes, seeds: Sequence[int]) -> list[Check]:
    """Check the statements about table 6.1: the effects of bandwidth and reuse, relative to predeployed images."""
    checks = []
    for position, (label, reservations) in enumerate(TABLE_SETS.items()):
        for row, (low, high) in _WAIT_RATIOS.items():
            waits = (_values(outcomes, name, reservations, seeds, "mean_wait_s") for name in (row, "VM-PREDEPLOY"))
            ratios = tuple(slow / fast for slow, fast in zip(*waits, strict=True))
            thesis = _TABLE[row][0][position] / _TABLE["VM-PREDEPLOY"][0][position]
            checks.append(Check(f"{label}: wait of {row} over predeployed", thesis, ratios, low, high))
        for index, (measure, (column, _)) in enumerate(_MEASURES.items()):
            checks += _order_checks(outcomes, seeds, label, reservations, measure, column, index, position)
    return checks


def _order_checks(
    outcomes: Outcomes,
    seeds: Sequence[int],
    label: str,
    reservations: str,
    measure: str,
    column: str,
    index: int,
    position: int,
) -> list[Check]:
    """Check that at 100 Mb/s skewed reuse is not worse than uniform reuse, and uniform reuse not worse than none."""
    order = ("VM-REUSE-SKEWED-BW100", "VM-REUSE-UNIFORM-BW100", "VM-MULT-BW100")
    checks = []
    for better, worse in pairwise(order):
        ours = tuple(
            a / b
            for a, b in zip(
                _values(outcomes, better, reservations, seeds, column),
                _values(outcomes, worse, reservations, seeds, column),
                strict=True,
            )
        )
        thesis = _TABLE[better][index][position] / _TABLE[worse][index][position]
        checks.append(Check(f"{label}: {measure} of {better} over {worse}", thesis, ours, None, 1.0))
    return checks


def promise_checks(outcomes: Outcomes, seeds: Sequence[int]) -> list[Check]:
    """Check that no reservation starts late for its image, and how reuse affects transfers and the total time.

    With reuse there are fewer transfers, and the time for all best-effort leases stays the same.
    """
    checks = []
    for label, reservations in TABLE_SETS.items():
        late = [
            outcomes[ImageCase(reservations, seed, name, bandwidth).name]["late_reservations"]
            for name in CONFIGURATIONS
            for bandwidth in BANDWIDTHS
            for seed in seeds
        ]
        checks.append(Check(f"{label}: reservations that start late for their image", 0, (sum(late),), 0, 0))
        counts = {name: _values(outcomes, name, reservations, seeds, "image_transfers") for name in CONFIGURATIONS}
        for fewer, more in (("VM-REUSE-UNIFORM", "VM-MULT"), ("VM-REUSE-SKEWED", "VM-REUSE-UNIFORM")):
            ours = tuple(a / b for a, b in zip(counts[fewer], counts[more], strict=True))
            checks.append(Check(f"{label}: transfers of {fewer} over {more}", None, ours, None, 0.9999))
        times = [_mean(_values(outcomes, name, reservations, seeds, "all_best_effort_s")) for name in _FAST_ROWS]
        spread = 100 * (max(times) / min(times) - 1)
        note = "largest over smallest mean"
        checks.append(Check(f"{label}: all best-effort at 1000 Mb/s, spread in %", None, (spread,), None, 3.0, note))
    return checks


def bars(outcomes: Outcomes, seeds: Sequence[int], column: str, divisor: float) -> dict[str, dict[str, float]]:
    """Return the bars of a plot of table 6.1: set -> row -> mean over the seeds.

    :param column: key of the measure in an outcome
    :param divisor: divisor of the values, for their unit
    """
    return {
        label: {row: _mean(_values(outcomes, row, reservations, seeds, column)) / divisor for row in _TABLE}
        for label, reservations in TABLE_SETS.items()
    }


def _values(outcomes: Outcomes, row: str, reservations: str, seeds: Sequence[int], column: str) -> tuple[float, ...]:
    return tuple(float(outcomes[_case(row, reservations, seed).name][column]) for seed in seeds)


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)
