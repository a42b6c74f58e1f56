"""Checks of ``pricing_strategies``: figures 8.1 to 8.5 (Sotomayor 2010, section 8.3; haizea E6).

The dissertation gives numbers for some of its figures only. Where it gives none, our shares are compared with those of
an independent repetition, which had three seeds and no preemption.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import sqrt

import numpy as np

from lease_scheduler.papers.checks import Check
from lease_scheduler.papers.haizea.deadlines import DEADLINES, MODES, STARTS, TRACES, USERS, DeadlineCase
from lease_scheduler.papers.haizea.pricing_strategies import (
    PARTS,
    STRATEGIES,
    PriceCase,
    RateSweepCase,
    case_of,
    revenue_shares,
)
from lease_scheduler.papers.replications import FIRST_SEED
from lease_scheduler.simulation.campaigns.case import Outcome
from lease_scheduler.simulation.reports.plots import Points

Outcomes = Mapping[str, Outcome]
PricingCase = DeadlineCase | PriceCase | RateSweepCase

#: Trace -> deadline -> users -> share that each of ``STRATEGIES`` earned in the independent repetition, EARLY start.
_REPEATED: dict[str, dict[str, dict[str, tuple[float, ...]]]] = {
    "BLUE2": {
        "TIGHT": {
            "CHEAP": (0.20, 0.24, 0.19, 0.66),
            "UNIFORM": (0.40, 0.29, 0.16, 0.71),
            "RICH": (0.52, 0.35, 0.09, 0.71),
            "CONSTANT": (0.66, 0.05, 0.70, 0.70),
        },
        "LOOSE": {
            "CHEAP": (0.23, 0.24, 0.21, 0.91),
            "UNIFORM": (0.45, 0.31, 0.19, 0.92),
            "RICH": (0.61, 0.45, 0.11, 0.93),
            "CONSTANT": (0.88, 0.05, 0.93, 0.93),
        },
    },
    "DS": {
        "TIGHT": {
            "CHEAP": (0.23, 0.21, 0.25, 0.65),
            "UNIFORM": (0.40, 0.29, 0.12, 0.65),
            "RICH": (0.47, 0.33, 0.08, 0.65),
            "CONSTANT": (0.62, 0.05, 0.65, 0.65),
        },
        "LOOSE": {
            "CHEAP": (0.26, 0.21, 0.27, 0.91),
            "UNIFORM": (0.47, 0.34, 0.17, 0.91),
            "RICH": (0.57, 0.42, 0.11, 0.90),
            "CONSTANT": (0.86, 0.04, 0.90, 0.90),
        },
    },
}
_REPEATED_SEEDS = 3
#: Largest standard deviation of a share between seeds.
_DEVIATION = 0.1

#: ADAPTIVE in the dissertation: (trace, deadline, users) -> share earned, and its ratio to the share of MAXIMUM.
_STATED = {
    ("BLUE2", "TIGHT", "UNIFORM"): (0.4128, 0.6125),
    ("BLUE2", "LOOSE", "RICH"): (0.6117, 0.6406),
    ("DS", "TIGHT", "UNIFORM"): (0.3626, 0.5549),
    ("DS", "LOOSE", "RICH"): (0.6574, 0.7092),
}

#: Users -> band of the ratio of what ADAPTIVE earns to what MAXIMUM earns.
_RATIOS: dict[str, tuple[float, float | None]] = {
    "UNIFORM": (0.45, 0.75),
    "RICH": (0.5, 0.78),
    "CONSTANT": (0.9, None),
}

#: Users -> final rate of ADAPTIVE in the repetition, and its standard deviation.
_FINAL_RATES = {"CHEAP": (0.90, 0.16), "UNIFORM": (4.9, 0.5), "RICH": (9.2, 0.17), "CONSTANT": (1.00, 0.0)}
_SIGMAS = 4
#: Tolerance where the standard deviation is 0: all users pay 1.00, and rates differ only in how far they converged.
_CONVERGED = 0.05

#: Figures 8.3 and 8.4: trace -> users -> median rate, and final rate of ADAPTIVE.
_SWEPT = {
    "BLUE2": {"CHEAP": (0.71, 0.85), "UNIFORM": (4.75, 4.94), "RICH": (9.68, 8.99)},
    "DS": {"CHEAP": (0.70, 0.75), "UNIFORM": (1.90, 4.84), "RICH": (7.75, 9.19)},
}

#: Figure 8.5, users with different rates: trace -> (smallest, largest) value in the dissertation, and band.
_UTILISATION = {
    "BLUE2": ((0.3517, 0.4754), (0.30, 0.52)),
    "DS": ((0.1725, 0.3383), (0.15, 0.37)),
}

_DIVERSE_USERS = ("CHEAP", "UNIFORM", "RICH")
#: The smallest difference that counts: a thousandth of all that users would pay.
_MORE = 0.001
_START = "EARLY"


def cases(seeds: Sequence[int]) -> list[PricingCase]:
    """Return the runs for all figures: the three cells with EARLY start, with suspension, and the rate sweeps."""
    sweeps = [RateSweepCase(trace, users, seed) for trace in TRACES for users in USERS for seed in seeds]
    runs = [
        case_of(trace, _START, deadline, users, strategy, seed)
        for seed in seeds
        for trace in TRACES
        for deadline in DEADLINES
        for users in USERS
        for strategy in STRATEGIES
    ]
    return [*sweeps, *dict.fromkeys(runs)]


def grid_cases(seed: int = FIRST_SEED) -> list[DeadlineCase | PriceCase]:
    """Return the runs for the dissertation's grid of 648 results, with a seed.

    Some results share a run, see ``case_of``. Without preemption there are runs for MAXIMUM only.
    """
    runs = [
        case_of(trace, start, deadline, users, strategy, seed, mode)
        for trace in TRACES
        for start in STARTS
        for deadline in DEADLINES
        for users in USERS
        for strategy in STRATEGIES
        for mode in MODES
        if strategy == "MAXIMUM" or mode != "no preemption"
    ]
    return list(dict.fromkeys(runs))


def share_checks(outcomes: Outcomes, seeds: Sequence[int], repetitions: int = 1) -> list[Check]:
    """Check figures 8.1 and 8.2: the share of all that users would pay that each strategy earns.

    A band extends to either side by twice the standard deviation of the difference between the repetition's mean and
    ours.

    :param seeds: seeds of the values
    :param repetitions: number of seeds over which the mean will be taken that has to lie in the band
    """
    spread = 2 * _DEVIATION * sqrt(1 / _REPEATED_SEEDS + 1 / max(repetitions, len(seeds)))
    checks = []
    for trace, deadlines in _REPEATED.items():
        for deadline, rows in deadlines.items():
            for users, repeated in rows.items():
                for strategy, value in zip(STRATEGIES, repeated, strict=True):
                    stated = _STATED.get((trace, deadline, users)) if strategy in ("ADAPTIVE", "MAXIMUM") else None
                    thesis = None if stated is None else stated[0] / (1 if strategy == "ADAPTIVE" else stated[1])
                    ours = _shares(outcomes, seeds, trace, _START, deadline, users, strategy)
                    name = f"{trace} {deadline}, {users} users, {strategy}: earned"
                    low, high = max(0.0, value - spread), min(1.0, value + spread)
                    checks.append(Check(name, thesis, ours, low, high, f"repetition {value:.2f}"))
    return checks


def ratio_checks(outcomes: Outcomes, seeds: Sequence[int]) -> list[Check]:
    """Check the ratio of what ADAPTIVE earns to what MAXIMUM earns."""
    checks = []
    for trace in TRACES:
        for deadline in DEADLINES:
            for users, (low, high) in _RATIOS.items():
                adaptive, most = (
                    _shares(outcomes, seeds, trace, _START, deadline, users, strategy)
                    for strategy in ("ADAPTIVE", "MAXIMUM")
                )
                stated = _STATED.get((trace, deadline, users))
                ours = tuple(a / b for a, b in zip(adaptive, most, strict=True))
                name = f"{trace} {deadline}, {users} users: ADAPTIVE over MAXIMUM"
                checks.append(Check(name, None if stated is None else stated[1], ours, low, high))
    return checks


def order_checks(outcomes: Outcomes, seeds: Sequence[int], start: str = _START) -> list[Check]:
    """Check statements of the text: ADAPTIVE earns more than RANDOM and CONSTANT.

    With CHEAP users, it loses more by underpricing than it earns.
    """
    checks = []
    for trace in TRACES:
        for deadline in DEADLINES:
            cell = f"{trace} {start}/{deadline}"
            for users in ("UNIFORM", "RICH"):
                adaptive = _shares(outcomes, seeds, trace, start, deadline, users, "ADAPTIVE")
                for other in ("RANDOM", "CONSTANT"):
                    less = _shares(outcomes, seeds, trace, start, deadline, users, other)
                    name = f"{cell}, {users} users: earned by ADAPTIVE beyond {other}"
                    checks.append(Check(name, None, _differences(adaptive, less), _MORE, None))
            earned, lost = (
                _shares(outcomes, seeds, trace, start, deadline, "CHEAP", "ADAPTIVE", part)
                for part in ("earned", "underpriced")
            )
            name = f"{cell}, CHEAP users: ADAPTIVE's underpricing beyond its earnings"
            checks.append(Check(name, None, _differences(lost, earned), _MORE, None))
    return checks


def rate_checks(outcomes: Outcomes, seeds: Sequence[int]) -> list[Check]:
    """Check the rates of figures 8.3 and 8.4: the final rates of ADAPTIVE in runs and sweeps, and the median rates."""
    checks = []
    for trace in TRACES:
        for users, (rate, deviation) in _FINAL_RATES.items():
            spread = _SIGMAS * deviation or _CONVERGED
            median, adaptive = _SWEPT[trace].get(users, (None, None))
            for deadline in DEADLINES:
                ours = tuple(
                    float(outcomes[PriceCase(trace, _START, deadline, users, "ADAPTIVE", seed).name]["final_rate"])
                    for seed in seeds
                )
                name = f"{trace} {deadline}, {users} users: final rate"
                checks.append(Check(name, adaptive, ours, rate - spread, rate + spread))
            swept = _swept(outcomes, seeds, trace, users, "adaptive_rate")
            name = f"{trace}, {users} users: final rate, every lease feasible"
            checks.append(Check(name, adaptive, swept, rate - spread, rate + spread))
            if median is not None:
                medians = _swept(outcomes, seeds, trace, users, "median_rate")
                checks.append(
                    Check(f"{trace}, {users} users: median rate of the requests", median, medians, None, None)
                )
        best = _swept(outcomes, seeds, trace, "RICH", "best_rate")
        beyond = _differences(_swept(outcomes, seeds, trace, "RICH", "adaptive_rate"), best)
        checks.append(
            Check(f"{trace}, RICH users: ADAPTIVE's rate beyond the one that earns most", None, beyond, _MORE, None)
        )
    return checks


def utilisation_checks(outcomes: Outcomes, seeds: Sequence[int]) -> list[Check]:
    """Check figure 8.5: utilisation with users of different rates, EARLY start."""
    checks = []
    for trace, ((least, most), (low, high)) in _UTILISATION.items():
        spreads = {}
        for strategy in STRATEGIES:
            values = {
                (deadline, users): _utilisations(outcomes, seeds, trace, deadline, users, strategy)
                for deadline in DEADLINES
                for users in _DIVERSE_USERS
            }
            means = [_mean(value) for value in values.values()]
            spreads[strategy] = max(means) - min(means)
            if strategy == "ADAPTIVE":
                checks += [
                    Check(f"{trace} {deadline}, {users} users, ADAPTIVE: utilisation", None, value, low, high)
                    for (deadline, users), value in values.items()
                ]
        note = f"thesis: {least:.2%} to {most:.2%} over all starts"
        checks.append(
            Check(f"{trace} ADAPTIVE: spread of utilisation", most - least, (spreads["ADAPTIVE"],), None, None, note)
        )
        checks += [
            Check(
                f"{trace}: spread of utilisation of {other} beyond ADAPTIVE's",
                None,
                (spreads[other] - spreads["ADAPTIVE"],),
                0.0,
                None,
            )
            for other in STRATEGIES[1:]
        ]
    return checks


def sum_checks(outcomes: Outcomes, of: Iterable[PricingCase]) -> list[Check]:
    """Check that the four parts of every run add up to all that users would pay."""
    errors = [
        abs(sum(revenue_shares(outcomes, case, users).values()) - 1)
        for case in of
        if not isinstance(case, RateSweepCase)
        for users in ([case.users] if isinstance(case, PriceCase) else USERS)
    ]
    return [
        Check(
            f"largest difference of the four parts' sum from 1, {len(errors)} results", None, (max(errors),), None, 1e-6
        )
    ]


def grid_checks(outcomes: Outcomes, seed: int) -> list[Check]:
    """Check the six other cells, and report what suspension earns beyond preemption without it."""
    checks = [check for start in STARTS if start != _START for check in order_checks(outcomes, (seed,), start)]
    for trace in TRACES:
        for strategy in STRATEGIES:
            gains = [
                _earned(outcomes, case_of(trace, start, deadline, users, strategy, seed, MODES[2]), users)
                - _earned(outcomes, case_of(trace, start, deadline, users, strategy, seed, MODES[1]), users)
                for start in STARTS
                for deadline in DEADLINES
                for users in USERS
            ]
            name = f"{trace} {strategy}: earned by suspension beyond preemption without it, mean of 36 results"
            checks.append(Check(name, None, (_mean(gains),), None, None))
    return checks


def mean_shares(
    outcomes: Outcomes, seeds: Sequence[int], trace: str, users: str
) -> dict[str, dict[str, dict[str, float]]]:
    """Return the values of figures 8.1 and 8.2: deadline -> strategy -> part -> mean over the seeds."""
    return {
        deadline: {
            strategy: {
                part: _mean(_shares(outcomes, seeds, trace, _START, deadline, users, strategy, part)) for part in PARTS
            }
            for strategy in STRATEGIES
        }
        for deadline in DEADLINES
    }


def mean_utilisations(outcomes: Outcomes, seeds: Sequence[int], trace: str) -> dict[str, dict[tuple[str, str], float]]:
    """Return the values of figure 8.5: strategy -> (users, deadline) -> mean over the seeds."""
    return {
        strategy: {
            (users, deadline): _mean(_utilisations(outcomes, seeds, trace, deadline, users, strategy))
            for users in _DIVERSE_USERS
            for deadline in DEADLINES
        }
        for strategy in STRATEGIES
    }


def rate_curves(
    outcomes: Outcomes, seed: int, trace: str
) -> tuple[dict[str, dict[str, Points]], dict[str, dict[str, float]]]:
    """Return the curves and marks of figures 8.3 and 8.4.

    :return: users -> part -> rates and shares; users -> label of a rate -> rate
    """
    curves, marks = {}, {}
    for users in _DIVERSE_USERS:
        swept = outcomes[RateSweepCase(trace, users, seed).name]
        rates = np.array(swept["rates"])
        curves[f"{users} users"] = {
            part: (rates, np.array(swept[part])) for part in ("earned", "underpriced", "rejected")
        }
        marks[f"{users} users"] = {"median of the requests": swept["median_rate"], "ADAPTIVE": swept["adaptive_rate"]}
    return curves, marks


def _shares(
    outcomes: Outcomes,
    seeds: Sequence[int],
    trace: str,
    start: str,
    deadline: str,
    users: str,
    strategy: str,
    part: str = "earned",
) -> tuple[float, ...]:
    found = (case_of(trace, start, deadline, users, strategy, seed) for seed in seeds)
    return tuple(revenue_shares(outcomes, case, users)[part] for case in found)


def _earned(outcomes: Outcomes, case: DeadlineCase | PriceCase, users: str) -> float:
    return revenue_shares(outcomes, case, users)["earned"]


def _swept(outcomes: Outcomes, seeds: Sequence[int], trace: str, users: str, figure: str) -> tuple[float, ...]:
    return tuple(float(outcomes[RateSweepCase(trace, users, seed).name][figure]) for seed in seeds)


def _utilisations(
    outcomes: Outcomes, seeds: Sequence[int], trace: str, deadline: str, users: str, strategy: str
) -> tuple[float, ...]:
    found = (case_of(trace, _START, deadline, users, strategy, seed) for seed in seeds)
    return tuple(float(outcomes[case.name]["utilisation"]) for case in found)


def _differences(first: Sequence[float], second: Sequence[float]) -> tuple[float, ...]:
    return tuple(a - b for a, b in zip(first, second, strict=True))


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)
