"""The checks of chapters 5 and 6 of Stillwell 2010: tables 5.2 and 6.1, figure 6.1."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from lease_scheduler.fractional.online.names import parse
from lease_scheduler.papers.checks import Check
from lease_scheduler.papers.dfrs.online_cases import LOG, OnlineCase
from lease_scheduler.papers.dfrs.published import COST, DEGRADATION
from lease_scheduler.simulation.campaigns.case import Outcome

#: The recommended algorithm: greedy admission that pauses or moves jobs, periodic remapping, starts whenever capacity
#: is free, and a minimum virtual time of 600 s on the first nodes.
BEST = "GreedyPM*/per/OPT=MIN/MVT=600"

Band = tuple[float | None, float | None]

#: Bands of the mean degradation of unscaled traces, from 30 on.
LUBLIN_BANDS: Mapping[str, Band] = {
    "FCFS": (3000, None),
    "Greedy*/OPT=MIN": (1000, None),
    **dict.fromkeys(("GreedyP*/OPT=MIN", "GreedyPM*/OPT=MIN"), (10, 150)),
    **dict.fromkeys(("Greedy/per/OPT=MIN", "Greedy*/per/OPT=MIN"), (22, 35)),
    **dict.fromkeys((f"{each}/per/OPT=MIN" for each in ("GreedyP", "GreedyPM", "GreedyP*", "GreedyPM*")), (14, 23)),
    **dict.fromkeys(("GreedyP*/per/OPT=MIN/MVT=600", BEST), (3.5, 6.5)),
    **dict.fromkeys((f"{each}/OPT=MIN/MVT=600" for each in ("MCB*", "MCB/per", "MCB*/per")), (6, 14)),
    "MCB*/per/OPT=MIN": (100, None),
    **dict.fromkeys(("/per/OPT=MIN/MVT=600", "/stretch-per/OPT=MAX/MVT=600"), (30, 48)),
}

#: Bands of the mean degradation of all weeks of HPC2N.
LOG_BANDS: Mapping[str, Band] = {
    BEST: (4.5, 8.5),
    "GreedyP*/per/OPT=MIN": (13, 21),
    "GreedyP*/OPT=MIN": (8, 20),
    "/per/OPT=MIN": (70, 140),
}

_NOTES = {"legacy EASY": "the published figures of EASY", "EASY": "without the published defect"}
#: By what factor costs may differ from the published ones.
_FACTOR = 2.5
#: GB/s, at most, of algorithms that never map everything anew.
_LITTLE = 0.15

_Floats = NDArray[np.float64]


def figures(cases: Iterable[OnlineCase], outcomes: Mapping[str, Outcome], row: str) -> _Floats:
    """Return the figures of an algorithm on all traces of some cases: traces x figures; see ``OnlineCase.run``."""
    return np.array([each for case in cases if row in case.rows for each in outcomes[case.name][row]])


def rows_of(cases: Iterable[OnlineCase]) -> list[str]:
    """Return the algorithms of some cases in the order in which they first occur."""
    return list(dict.fromkeys(row for case in cases for row in case.rows))


def degradation_checks(
    cases: Sequence[OnlineCase], outcomes: Mapping[str, Outcome], bands: Mapping[str, Band]
) -> list[Check]:
    """Return the checks of the mean degradation of each algorithm, on cases of one kind of traces (table 5.2)."""
    kind = 0 if cases[0].source == LOG else 1 if cases[0].load is None else 2
    checks = []
    for row in rows_of(cases):
        degradation = figures(cases, outcomes, row)[:, 0]
        published = DEGRADATION["EASY" if row == "legacy EASY" else row][kind] if row != "EASY" else None
        note = f"sd {degradation.std(ddof=1):.1f}, max {degradation.max():.1f}" if len(degradation) > 1 else ""
        note = "; ".join(part for part in (note, _NOTES.get(row, "")) if part)
        checks.append(Check(row, published, (float(degradation.mean()),), *bands.get(row, (None, None)), note))
    return checks


def claim_checks(cases: Sequence[OnlineCase], outcomes: Mapping[str, Outcome]) -> list[Check]:
    """Return the checks of statements about unscaled traces: orders of magnitude, and rows that are equal (E10)."""
    mean = {row: float(figures(cases, outcomes, row)[:, 0].mean()) for row in rows_of(cases)}
    bounds = [bound for case in cases for bound in outcomes[case.name]["bound"]]
    stretch, per = mean["/stretch-per/OPT=MAX/MVT=600"], mean["/per/OPT=MIN/MVT=600"]
    lowest = min(float(figures(cases, outcomes, row)[:, 0].min()) for row in mean)
    return [
        Check("bound of the largest stretch", None, (float(np.mean(bounds)),), None, None, f"max {max(bounds):.1f}"),
        Check("lowest degradation of any run", None, (lowest,), 1 - 1e-6, None, "no schedule is below the bound"),
        Check("EASY : best", 1000, (mean["EASY"] / mean[BEST],), 100, None, "without the published defect"),
        Check("FCFS : legacy EASY", 1.1, (mean["FCFS"] / mean["legacy EASY"],), 1, None),
        Check("FCFS : EASY", None, (mean["FCFS"] / mean["EASY"],), 1, None),
        Check("Greedy* : GreedyP*", 65, (mean["Greedy*/OPT=MIN"] / mean["GreedyP*/OPT=MIN"],), 5, None, "pauses help"),
        Check("/per : best", 9, (per / mean[BEST],), 5, None),
        Check("/stretch-per : /per", 1, (stretch / per,), 0.97, 1.03),
        Check(
            "MCB*/per without a bound : with one",
            32,
            (mean["MCB*/per/OPT=MIN"] / mean["MCB*/per/OPT=MIN/MVT=600"],),
            10,
            None,
        ),
    ]


def load_checks(cases: Sequence[OnlineCase], outcomes: Mapping[str, Outcome]) -> list[Check]:
    """Return the checks of the recommended algorithm at each load (E10)."""
    return [
        Check(f"load {load:g}: {BEST}", None, (degradation,), None, 7)
        for load, degradation in by_load(cases, outcomes, BEST).items()
    ]


def by_load(cases: Sequence[OnlineCase], outcomes: Mapping[str, Outcome], row: str) -> dict[float, float]:
    """Return load -> mean degradation."""
    loads = dict.fromkeys(case.load for case in cases if case.load is not None)
    return {
        load: float(figures((case for case in cases if case.load == load), outcomes, row)[:, 0].mean())
        for load in loads
    }


def cost_checks(cases: Sequence[OnlineCase], outcomes: Mapping[str, Outcome]) -> list[Check]:
    """Return the checks of bandwidth and occurrences on traces of a high load (table 6.1, E11)."""
    checks = []
    for row in rows_of(cases):
        found = figures(cases, outcomes, row)
        thesis = COST[row]
        total, published = found[:, 1] + found[:, 4], thesis[0] + thesis[1]
        maps_anew = parse(row).maps_anew
        low, high = (published / _FACTOR, published * _FACTOR) if maps_anew else (None, _LITTLE)
        checks.append(Check(f"{row}: GB/s", published, (float(total.mean()),), low, high, f"max {total.max():.2f}"))
        for place, label in ((0, "pauses, GB/s"), (2, "pauses per hour"), (4, "pauses per job")):
            for other, words in ((0, label), (1, label.replace("pauses", "moves"))):
                ours = found[:, 1 + place // 2 + 3 * other]
                checks.append(Check(f"{row}: {words}", thesis[place + other], (float(ours.mean()),), None, None))
    best = figures(cases, outcomes, BEST)
    ratios = {row: _pauses_by_moves(figures(cases, outcomes, row)) for row in rows_of(cases) if parse(row).maps_anew}
    periodic = {row: ratio for row, ratio in ratios.items() if row.startswith("Greedy")}
    at_events = {row: ratio for row, ratio in ratios.items() if row.startswith("MCB*")}
    highest = float((best[:, 1] + best[:, 4]).max())
    checks += [
        Check(f"{BEST}: highest GB/s of a trace", None, (highest,), None, 2),
        Check(f"{BEST}: GB/s of pauses : moves", 2.1, (ratios[BEST],), 1, None),
        Check("the same, least of all greedy rows that map anew", None, (min(periodic.values()),), 1, None),
        Check("the same, most of all MCB* rows", None, (max(at_events.values()),), None, 1),
    ]
    return checks


def _pauses_by_moves(found: _Floats) -> float:
    """Return the GB/s of pauses, divided by those of moves."""
    return float(found[:, 1].mean() / found[:, 4].mean())


def period_checks(title: str, cases: Sequence[OnlineCase], outcomes: Mapping[str, Outcome]) -> list[Check]:
    """Return the checks of how figures change with the period (figure 6.1, E12).

    :param title: kind of the traces
    """
    degradation, bandwidth = by_period(cases, outcomes)
    shortest, longest = min(degradation), max(degradation)
    rise = degradation[longest] / degradation[shortest]
    checks = [Check(f"{title}: degradation, period {longest} s : {shortest} s", None, (rise,), None, 3)]
    for period, share in ((2100, 0.5), (3900, 0.3)):
        part = bandwidth[period] / bandwidth[shortest]
        checks.append(Check(f"{title}: GB/s, period {period} s : {shortest} s", None, (part,), None, share))
    return checks


def by_period(
    cases: Sequence[OnlineCase], outcomes: Mapping[str, Outcome]
) -> tuple[dict[int, float], dict[int, float]]:
    """Return period -> mean degradation, and period -> mean GB/s, of the recommended algorithm."""
    found = {
        period: figures((case for case in cases if case.period == period), outcomes, BEST).mean(axis=0)
        for period in dict.fromkeys(case.period for case in cases)
    }
    return (
        {period: float(means[0]) for period, means in found.items()},
        {period: float(means[1] + means[4]) for period, means in found.items()},
    )
