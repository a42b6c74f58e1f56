"""Checks of ``best_effort_and_reservations``: table 5.1, figure 5.2 and the shapes of figures 5.3-5.11.

See Sotomayor 2010, section 5.4 (haizea E1). The bands allow for the spread between seeds, and for differences in what
an independent repetition models; they are not fitted to our figures.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from lease_scheduler.papers.checks import Check
from lease_scheduler.papers.haizea.best_effort_and_reservations import HOURS, LOADS, SIZES, ReservationCase, set_name
from lease_scheduler.simulation.campaigns.case import Outcome
from lease_scheduler.simulation.metrics import spearman

#: Seconds until all best-effort leases are done, in the dissertation, without reservations and without suspension.
BASELINE = 2_668_432

#: The three sets of table 5.1.
TABLE_SETS = {"T10": "U10_Nmedium_D4h", "T20": "U20_Nmedium_D3h", "T30": "U30_Nmedium_D2h"}

#: Seed of the sets that are given, such as those of 2008, whatever the seed of the experiment is.
GRID_SEED = 1

#: Measure -> configuration -> set -> (value in the dissertation, lower bound, upper bound).
_TABLE: dict[str, dict[str, dict[str, tuple[float, float, float]]]] = {
    "extra time, %": {
        "NOVM-NOSR": {"T10": (5.15, 3, 7.5), "T20": (7.37, 5.5, 9.5), "T30": (26.71, 22, 31)},
        "NOVM-SR": {"T10": (0.46, -1, 1.5), "T20": (1.26, 0, 2.5), "T30": (6.09, 2.5, 8)},
        "VM-PREDEPLOY": {"T10": (0.46, -1, 1.5), "T20": (1.40, 0, 3), "T30": (5.99, 3, 9)},
    },
    "mean wait, 1000 s": {
        "NOVM-NOSR": {"T10": (14.05, 11, 18), "T20": (24.73, 20, 30), "T30": (86.50, 70, 105)},
        "NOVM-SR": {"T10": (6.24, 5.3, 8), "T20": (10.76, 9, 14), "T30": (26.00, 21, 36)},
        "VM-PREDEPLOY": {"T10": (6.18, 5.3, 9.5), "T20": (10.88, 9, 17), "T30": (27.43, 22, 50)},
    },
    "mean bounded slowdown": {
        "NOVM-NOSR": {"T10": (56.55, 42, 72), "T20": (90.65, 72, 110), "T30": (318.56, 250, 390)},
        "NOVM-SR": {"T10": (28.05, 23, 37), "T20": (51.40, 42, 66), "T30": (134.46, 110, 190)},
        "VM-PREDEPLOY": {"T10": (24.66, 20, 37), "T20": (47.27, 38, 66), "T30": (121.33, 100, 200)},
    },
}

_RATIOS = {"T10": (2.25, 1.7), "T20": (2.30, 1.8), "T30": (3.33, 2.2)}

_TEN_MINUTES, _SIX_HOURS, _WIDE = 600, 21_600, 10

Outcomes = Mapping[str, Outcome]


def table_cases(seeds: Sequence[int]) -> list[ReservationCase]:
    """Return the runs for table 5.1 and the shapes; those with the first seed have the figures of single leases."""
    cases = [ReservationCase(None, "generated", 0, name) for name in ("NOVM-NOSR", "NOVM-SR")]
    for reservations in TABLE_SETS.values():
        for configuration in ("NOVM-NOSR", "NOVM-SR", "VM-PREDEPLOY", "VM-PREDEPLOY (legacy)"):
            for seed in seeds:
                cases.append(table_case(reservations, configuration, seed, seeds))
    return cases


def cases_of_2008() -> list[ReservationCase]:
    """Return the runs for table 5.1 with the author's sets of 2008."""
    return [
        ReservationCase(reservations, "2008", 0, configuration)
        for reservations in TABLE_SETS.values()
        for configuration in next(iter(_TABLE.values()))
    ]


def table_case(reservations: str, configuration: str, seed: int, seeds: Sequence[int]) -> ReservationCase:
    """Return one run for table 5.1.

    :param seeds: all seeds that are run; the run with the first one has the figures of single leases
    """
    return ReservationCase(reservations, "generated", seed, configuration, by_lease=seed == seeds[0])


def grid_cases(source: str, seed: int = GRID_SEED) -> list[ReservationCase]:
    """Return the runs for figure 5.2: the 72 sets, without and with suspension."""
    return [
        grid_case(load, hours, size, source, configuration, seed)
        for load in LOADS
        for hours in HOURS
        for size in SIZES
        for configuration in ("NOVM-NOSR", "NOVM-SR")
    ]


def grid_case(load: int, hours: int, size: str, source: str, configuration: str, seed: int) -> ReservationCase:
    """Return one run for figure 5.2."""
    return ReservationCase(set_name(load, hours, size), source, seed, configuration)


def baseline_checks(outcomes: Outcomes) -> list[Check]:
    """Check the time for all best-effort leases without reservations (E1.0)."""
    ours = outcomes[ReservationCase(None, "generated", 0, "NOVM-NOSR").name]["all_best_effort_s"]
    with_suspension = outcomes[ReservationCase(None, "generated", 0, "NOVM-SR").name]["all_best_effort_s"]
    return [
        Check("all best-effort done, no reservations, s", BASELINE, (ours,), BASELINE * 0.999, BASELINE * 1.001),
        Check("the same with suspension, s", None, (with_suspension,), None, None),
    ]


def table_checks(outcomes: Outcomes, seeds: Sequence[int]) -> list[Check]:
    """Check table 5.1, and the ratios of waits without and with suspension (E1.1)."""
    checks = []
    for measure, configurations in _TABLE.items():
        for configuration, sets in configurations.items():
            for label, (thesis, low, high) in sets.items():
                values = _values(outcomes, TABLE_SETS[label], configuration, seeds, measure)
                note = ""
                if configuration == "VM-PREDEPLOY":
                    legacy = _values(outcomes, TABLE_SETS[label], "VM-PREDEPLOY (legacy)", seeds, measure)
                    note = f"author's overheads {sum(legacy) / len(legacy):.4g}"
                checks.append(Check(f"{label} {configuration}: {measure}", thesis, values, low, high, note))
    for label, (thesis, low) in _RATIOS.items():
        waits = [
            _values(outcomes, TABLE_SETS[label], name, seeds, "mean wait, 1000 s") for name in ("NOVM-NOSR", "NOVM-SR")
        ]
        ratios = tuple(without / having for without, having in zip(*waits, strict=True))
        checks.append(Check(f"{label}: wait without over wait with suspension", thesis, ratios, low, None))
    return checks


def checks_of_2008(outcomes: Outcomes) -> list[Check]:
    """Return the figures of table 5.1 with the author's sets of 2008, without bands."""
    return [
        Check(
            f"{label} {configuration}: {measure}",
            thesis,
            (_measure(outcomes[ReservationCase(TABLE_SETS[label], "2008", 0, configuration).name], measure),),
            None,
            None,
        )
        for measure, configurations in _TABLE.items()
        for configuration, sets in configurations.items()
        for label, (thesis, _, _) in sets.items()
    ]


def _values(
    outcomes: Outcomes, reservations: str, configuration: str, seeds: Sequence[int], measure: str
) -> tuple[float, ...]:
    return tuple(
        _measure(outcomes[table_case(reservations, configuration, seed, seeds).name], measure) for seed in seeds
    )


def _measure(outcome: Outcome, measure: str) -> float:
    if measure == "extra time, %":
        return 100 * (float(outcome["all_best_effort_s"]) / BASELINE - 1)
    if measure == "mean wait, 1000 s":
        return float(outcome["mean_wait_s"]) / 1000
    return float(outcome["mean_slowdown"])


def grid_ratios(outcomes: Outcomes, source: str, seed: int = GRID_SEED) -> dict[str, dict[tuple[int, int, str], float]]:
    """Return the values of figure 5.2.

    :param source: as in ``ReservationCase``
    :return: configuration -> (load, hours, size) -> time for all best-effort leases divided by the baseline
    """
    return {
        configuration: {
            (load, hours, size): outcomes[grid_case(load, hours, size, source, configuration, seed).name][
                "all_best_effort_s"
            ]
            / BASELINE
            for load in LOADS
            for hours in HOURS
            for size in SIZES
        }
        for configuration in ("NOVM-NOSR", "NOVM-SR")
    }


def grid_checks(outcomes: Outcomes, source: str, seed: int = GRID_SEED) -> list[Check]:
    """Check the ordering in figure 5.2 (E1.2).

    The sets of 2008 scatter differently, so they are reported without bands.

    :param source: as in ``ReservationCase``
    """
    ratios = grid_ratios(outcomes, source, seed)
    without, having = ratios["NOVM-NOSR"], ratios["NOVM-SR"]
    ordered = sum(having[cell] <= without[cell] for cell in without)
    most_with = 100 * (max(having.values()) - 1)
    most_without = 100 * (max(without.values()) - 1)
    falling = sum(
        all(without[load, a, "medium"] >= without[load, b, "medium"] for a, b in pairwise(HOURS))
        for load in (20, 25, 30)
    )
    judged = source == "generated"
    name = "fig. 5.2" if judged else "fig. 5.2, sets of 2008"
    return [
        Check(f"{name}: sets of 72 in which suspension is not slower", 72, (ordered,), 72 if judged else None, None),
        Check(f"{name}: worst extra time with suspension, %", 6.0, (most_with,), *((4, 9) if judged else (None, None))),
        Check(f"{name}: worst extra time without, %", 29.36, (most_without,), *((24, 36) if judged else (None, None))),
        Check(
            f"{name}: of medium 20, 25, 30 %, loads at which it falls with the duration",
            3,
            (falling,),
            3 if judged else None,
            None,
            "without suspension",
        ),
    ]


def shape_checks(outcomes: Outcomes, seeds: Sequence[int]) -> list[Check]:
    """Check the shapes of figures 5.3 to 5.11 as numbers, for the first seed (E1.3)."""
    checks = []
    for label, reservations in TABLE_SETS.items():
        without, having = (
            _columns(outcomes[table_case(reservations, name, seeds[0], seeds).name])
            for name in ("NOVM-NOSR", "NOVM-SR")
        )
        rho = spearman(without["duration_s"], without["wait_s"]) or 0.0
        rho_having = spearman(having["duration_s"], having["wait_s"]) or 0.0
        short = [_mean_wait(c, c["duration_s"] <= _TEN_MINUTES) for c in (without, having)]
        long = [_mean_wait(c, c["duration_s"] > _SIX_HOURS) for c in (without, having)]
        checks += [
            Check(f"{label}: Spearman of duration and wait without suspension", None, (rho,), 0.35, None),
            Check(f"{label}: the same, less that with suspension", None, (rho - rho_having,), 0.15, None),
            Check(f"{label}: wait of leases <= 10 min, without over with", None, (short[0] / short[1],), None, 1.0),
            Check(f"{label}: wait of leases > 6 h, without over with", None, (long[0] / long[1],), 4.0, None),
        ]
        for configuration in ("NOVM-NOSR", "NOVM-SR", "VM-PREDEPLOY"):
            columns = _columns(outcomes[table_case(reservations, configuration, seeds[0], seeds).name])
            wide = columns["nodes"] >= _WIDE
            ratio = _mean_wait(columns, wide) / _mean_wait(columns, ~wide)
            checks.append(Check(f"{label} {configuration}: wait of >= 10 nodes over < 10", None, (ratio,), 2.5, None))
    return checks


def _columns(outcome: Outcome) -> dict[str, Any]:
    return {name: np.array(outcome[name]) for name in ("duration_s", "nodes", "cpu_hours", "wait_s", "slowdown")}


def _mean_wait(columns: Mapping[str, Any], chosen: Any) -> float:
    return float(columns["wait_s"][chosen].mean())


def lowess_panels(
    outcomes: Outcomes, seeds: Sequence[int], quantity: str, measure: str, scale: tuple[float, float]
) -> dict[str, dict[str, tuple[Any, Any]]]:
    """Return the points of figures 5.3-5.11.

    :param quantity: column of the abscissas
    :param measure: column of the ordinates
    :param scale: divisors of quantity and measure, for their units
    :return: set -> configuration -> (quantities, measures)
    """
    panels = {}
    for label, reservations in TABLE_SETS.items():
        curves = {}
        for configuration in ("NOVM-NOSR", "NOVM-SR", "VM-PREDEPLOY"):
            columns = _columns(outcomes[table_case(reservations, configuration, seeds[0], seeds).name])
            curves[configuration] = (columns[quantity] / scale[0], columns[measure] / scale[1])
        panels[label] = curves
    return panels
