"""The checks of chapter 3 of Pucher 2016 (E1 to E5).

Bands are those of the specification, section 5, unless their note says something else. A figure has no band if the
specification has none, or if it follows from its definition.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from statistics import fmean

from lease_scheduler.papers.checks import Check
from lease_scheduler.papers.prediction.power_cases import (
    ACCEPTANCE,
    CUT_DOWN,
    LAWS,
    MOST_REMOVED,
    RESPONSIVENESS,
    SWEEP_MU,
    SWEEP_NODES,
    ProductionCase,
    RegistrationCase,
    SweepCase,
    cut_down,
)
from lease_scheduler.simulation.campaigns.case import Outcome

_NODES = "ABCDEF"
#: Tables 3.3 and 3.5, the means of the real cluster; means of many generated traces, around which ours must lie.
_UTILISATION = {
    "exponential": ((0.8742, 0.7551, 0.5250, 0.2311, 0.0344, 0.0), (0.876, 0.756, 0.524, 0.224, 0.043, 0.004), 0.02),
    "log-normal": ((0.8550, 0.7223, 0.5213, 0.2025, 0.0696, 0.0202), (0.85, 0.73, 0.515, 0.23, 0.05, 0.005), 0.03),
}
#: Tables 3.4 and 3.6.
_UPTIME = {
    "exponential": (1.0, 1.0, 1.0, 0.9312, 0.7704, 0.5529),
    "log-normal": (0.9851, 0.9851, 0.9652, 0.9178, 0.7292, 0.5805),
}
_FACTORS = {"DS2": 1.5, "DS3": 2.6, "DS5": 1.3}
#: Quoted cells of figure 3.5: nodes, mu -> efficiency without saving, as far as one was quoted, and the reproduction's.
_QUOTED = {
    (3, 4.0): (0.5, 0.453),
    (4, 3.5): (0.5, 0.539),
    (7, 3.0): (0.5, 0.502),
    (12, 2.5): (0.5, 0.485),
    (19, 2.0): (0.5, 0.505),
    (19, 1.5): (0.83, 0.818),
}


_OURS = "not a band of the specification"


def registration_checks(law: str, outcomes: Mapping[str, Outcome], seeds: range) -> list[Check]:
    """Return the checks of tables 3.3 and 3.4, or 3.5 and 3.6.

    :param law: a key of ``LAWS``
    """
    awake = [outcomes[RegistrationCase(law, False, seed).name] for seed in seeds]
    asleep = [outcomes[RegistrationCase(law, True, seed).name] for seed in seeds]
    thesis, middle, width = _UTILISATION[law]
    checks = []
    for place, node in enumerate(_NODES):
        used = _mean_at(awake, "utilisation", place)
        checks.append(
            Check(f"utilisation of {node}", thesis[place], used, middle[place] - width, middle[place] + width)
        )
    up = [_mean_at(asleep, "uptime", place) for place in range(len(_NODES))]
    for place, node in enumerate(_NODES):
        low = 0.98 if law == "exponential" and node in "ABC" else 0.5 if node == "F" else None
        checks.append(Check(f"uptime of {node}", _UPTIME[law][place], up[place], low, 0.62 if node == "F" else None))
    means = tuple(fmean(each["uptime"]) for each in asleep)
    checks.append(Check("uptime of all", fmean(_UPTIME[law]), (fmean(means),), 0.84, 0.90))
    steps = [fmean(first) - fmean(second) for first, second in pairwise(up)]
    checks.append(Check("least step of uptime from node to node", None, (min(steps),), 0.0, None))
    late = tuple(1 - each["responsiveness"] for each in asleep)
    checks.append(Check("starts delayed by a wake-up", None, (fmean(late),), None, 0.05))
    return checks


def production_checks(outcomes: Mapping[str, Outcome]) -> list[Check]:
    """Return the checks of figure 3.2, and the same figures with the change points of the service."""
    checks, gains = [], {}
    for trace, factor in _FACTORS.items():
        awake, asleep = (outcomes[ProductionCase(trace, saves).name] for saves in (False, True))
        gains[trace] = asleep["efficiency"] / awake["efficiency"]
        checks.append(Check(f"{trace}: gain in efficiency", factor, (gains[trace],), 0.8 * factor, 1.2 * factor))
        checks.append(
            Check(f"{trace}: responsiveness", None, (asleep["responsiveness"],), 0.95, None, "objective 0.95")
        )
        lost = awake["acceptance"] - asleep["acceptance"]
        checks.append(Check(f"{trace}: acceptance lost by saving", None, (lost,), None, 0.0))
    for more, less in pairwise(sorted(_FACTORS, key=lambda trace: -_FACTORS[trace])):
        name, published = f"gain of {more} by that of {less}", _FACTORS[more] / _FACTORS[less]
        checks.append(Check(name, published, (gains[more] / gains[less],), 1.0, None, "the order; soft"))
    for trace in _FACTORS:
        awake = outcomes[ProductionCase(trace, False).name]
        live = outcomes[ProductionCase(trace, True, detects_changes=True).name]
        note = "as policy_power = predictive does"
        gain = live["efficiency"] / awake["efficiency"]
        checks.append(Check(f"{trace}, change points: gain in efficiency", None, (gain,), None, None, note))
        checks.append(
            Check(f"{trace}, change points: responsiveness", None, (live["responsiveness"],), None, None, note)
        )
    return checks


def cut_down_checks(outcomes: Mapping[str, Outcome]) -> list[Check]:
    """Return the checks of figures 3.3 and 3.4.

    That at least as many nodes can go at 99 % as at 99.9 % is not checked, because it follows from the definitions.
    """
    awake, asleep = (
        [outcomes[each.name] for each in cut_down() if each.saves_power is saves] for saves in (False, True)
    )
    removable = {
        share: max((n for n in range(MOST_REMOVED + 1) if awake[n]["acceptance"] >= share), default=0)
        for share in (0.999, 0.99)
    }
    growth = [after["acceptance"] - before["acceptance"] for before, after in pairwise(awake)]
    rise = [after["efficiency"] - before["efficiency"] for before, after in pairwise(awake)]
    kept = range(removable[0.99] + 1)
    saving = [asleep[n]["efficiency"] for n in kept]
    gain = min(after["efficiency"] - before["efficiency"] for before, after in zip(awake, asleep, strict=True))
    prompt = min(asleep[n]["responsiveness"] for n in kept)
    other = f"{CUT_DOWN}; the trace of the dissertation is not named"
    until = "while 99 % are accepted"
    return [
        Check("nodes that can go, 99 % accepted", 9, (removable[0.99],), None, None, other),
        Check("nodes that can go, 99.9 % accepted", 6, (removable[0.999],), None, None, other),
        Check("largest growth of acceptance by removing a node", None, (max(growth),), None, 0.0),
        Check("least growth of efficiency by removing a node", None, (min(rise[: removable[0.99]]),), 0.0, None, until),
        Check("spread of efficiency with saving", None, (max(saving) - min(saving),), None, 0.05, until),
        Check("least gain by saving", None, (gain,), 0.0, None),
        Check("least responsiveness", None, (prompt,), RESPONSIVENESS, None, until),
    ]


def sweep_checks(outcomes: Mapping[str, Outcome], seed: int = 1) -> list[Check]:
    """Return the checks of figure 3.5."""
    cells = {(nodes, mu): outcomes[SweepCase(nodes, mu, seed=seed).name] for nodes in SWEEP_NODES for mu in SWEEP_MU}
    checks = []
    for (nodes, mu), (thesis, middle) in _QUOTED.items():
        ours = (cells[nodes, mu]["base_efficiency"],)
        checks.append(Check(f"{nodes} nodes, mu {mu}: efficiency", thesis, ours, middle - 0.04, middle + 0.04))
    busiest = cells[19, 1.5]
    checks.append(Check("19 nodes, mu 1.5: with saving", 0.84, (busiest["saving_efficiency"],), 0.779, 0.859, _OURS))
    whole = [each for each in cells.values() if "saving_efficiency" in each]
    gain = min(each["saving_efficiency"] - each["base_efficiency"] for each in whole)
    checks.append(Check("least gain by saving, all cells", None, (gain,), -0.01, None))
    late = min(each["saving_responsiveness"] for each in whole)
    checks.append(Check("least responsiveness, all cells", None, (late,), RESPONSIVENESS, None, _OURS))
    for nodes, mu in ((3, 3.5), (12, 1.5)):
        is_full = float("base_efficiency" not in cells[nodes, mu])
        checks.append(Check(f"{nodes} nodes, mu {mu}: under {ACCEPTANCE:.0%} accepted", 1, (is_full,), 1, 1))
    for mu, nearest in ((4.0, 3), (3.5, 4), (3.0, 7), (2.5, 12), (2.0, 19)):
        known = [nodes for nodes in SWEEP_NODES if "base_efficiency" in cells[nodes, mu]]
        found = min((abs(cells[nodes, mu]["base_efficiency"] - 0.5), nodes) for nodes in known)[1]
        checks.append(Check(f"mu {mu}: nodes for half utilisation", nearest, (found,), nearest, nearest))
    return checks


def sweep_lines(outcomes: Mapping[str, Outcome], seed: int = 1) -> dict[str, dict[str, dict[int, float]]]:
    """Return the efficiencies of figure 3.5: without and with saving, mu, nodes, efficiency."""
    return {
        title: {
            f"mu {mu}": {
                nodes: outcomes[SweepCase(nodes, mu, seed=seed).name][key]
                for nodes in SWEEP_NODES
                if key in outcomes[SweepCase(nodes, mu, seed=seed).name]
            }
            for mu in SWEEP_MU
        }
        for title, key in (("all nodes awake", "base_efficiency"), ("nodes asleep", "saving_efficiency"))
    }


def uptime_bars(outcomes: Mapping[str, Outcome], seeds: range) -> dict[str, dict[str, float]]:
    """Return the uptimes of tables 3.4 and 3.6: law, node, uptime."""
    return {
        law: {
            node: fmean(outcomes[RegistrationCase(law, True, seed).name]["uptime"][place] for seed in seeds)
            for place, node in enumerate(_NODES)
        }
        for law in LAWS
    }


def _mean_at(outcomes: list[Outcome], key: str, place: int) -> tuple[float]:
    """Return the mean over the seeds, as the bands are for means."""
    return (fmean(each[key][place] for each in outcomes),)
