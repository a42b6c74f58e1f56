"""The checks of chapter 4 of Pucher 2016 (E6 to E9).

Bands are those of the specification, section 5, unless their note says something else. A figure has no band if the
specification has none, or if it follows from its definition.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from math import nextafter
from statistics import fmean

from lease_scheduler.papers.checks import Check
from lease_scheduler.papers.prediction.requests import TRACES
from lease_scheduler.papers.prediction.tier_cases import (
    PAIR_NAMES,
    PAIRS,
    PROMISE,
    PROMISES,
    SIZES,
    AnatomyCase,
    PairCase,
    PromiseCase,
)
from lease_scheduler.papers.prediction.tier_cases import pair as cases_of
from lease_scheduler.prediction.lifetimes import Threat
from lease_scheduler.simulation.campaigns.case import Outcome

#: Promise -> published shares admitted and preempted (figure 4.1), and the band of the share admitted.
_GENERATED: Mapping[float | None, tuple[float | None, float | None, float | None, float | None]] = {
    None: (0.70, 0.39, 0.67, 0.75),
    0.25: (0.60, 0.09, 0.56, 0.64),
}
#: Pair -> published shares without and with a promise: regular admitted, preemptible admitted, preempted.
_PAIRS = {
    "A-B": ((0.977, 1.000, 0.013), (0.977, 0.884, 0.009)),
    "B-A": ((1.000, 0.850, 0.024), (1.000, 0.757, 0.000)),
    "C-D": ((1.000, 0.943, 0.016), (1.000, 0.491, 0.002)),
    "D-C": ((0.997, 0.963, 0.013), (0.999, 0.278, 0.006)),
}
#: Published seconds at 15 free slots (figure 4.3).
_AT_15 = {0.01: 900, 0.05: 1500, 0.25: 3200}


def promise_checks(outcomes: Mapping[str, Outcome], seeds: tuple[int, ...]) -> list[Check]:
    """Return the checks of figure 4.1."""
    found = {preemption: [outcomes[PromiseCase(preemption, seed).name] for seed in seeds] for preemption in PROMISES}
    checks = []
    for preemption, runs in found.items():
        admitted, preempted, low, high = _GENERATED.get(preemption, (None, None, None, None))
        title = "no promise" if preemption is None else f"promise {preemption}"
        ours = tuple(each["admitted"] for each in runs)
        checks.append(Check(f"{title}: admitted", admitted, ours, low, high))
        # Every single run has to keep the promise.
        worst = (max(each["preempted"] for each in runs),)
        if preemption is None:
            checks.append(
                Check(f"{title}: preempted", preempted, tuple(each["preempted"] for each in runs), 0.33, 0.43)
            )
        else:
            checks.append(Check(f"{title}: preempted, worst run", preempted, worst, None, preemption))
    means = [fmean(each["admitted"] for each in found[preemption]) for preemption in PROMISES]
    steps = [before - after for before, after in pairwise(means)]
    checks.append(Check("least loss of admissions by a stricter promise", None, (min(steps),), 1e-9, None))
    ratio = fmean(each["preempted"] for each in found[0.25]) / fmean(each["preempted"] for each in found[None])
    checks.append(Check("preempted with promise 0.25, by that without", 0.23, (ratio,), None, 1 / 3))
    return checks


def anatomy_checks(outcomes: Mapping[str, Outcome], seed: int = 1) -> list[Check]:
    """Return the checks of figures 4.2 and 4.3.

    That lifetimes are longer for more probable preemptions is not checked, because all quantiles are of the same
    samples.
    """
    checks = []
    for threat in Threat:
        found = outcomes[AnatomyCase(threat, seed).name]
        counts = found["counts"]
        name = f"threat {threat.value}"
        checks.append(Check(f"{name}: most samples at free slots", 3, (counts.index(max(counts)) + 1,), 2, 8))
        quantiles = [found[f"seconds_{preemption}"] for preemption in PROMISES if preemption]
        steps = min(b / a for each in quantiles for a, b in pairwise(each[:12]))
        checks.append(Check(f"{name}: least growth from slot to slot, 1 to 12", None, (steps,), 0.8, None))
        for preemption, seconds in _AT_15.items():
            ours = found[f"seconds_{preemption}"][14]
            checks.append(
                Check(f"{name}: seconds at 15 slots, {preemption}", seconds, (ours,), seconds / 5, seconds * 5)
            )
    return checks


def pair_checks(outcomes: Mapping[str, Outcome], seed: int = 1) -> list[Check]:
    """Return the checks of tables 4.3 and 4.4."""
    checks = []
    for pair in PAIRS:
        name = PAIR_NAMES[pair]
        base, assured = (outcomes[case.name] for case in cases_of(pair, TRACES[pair[0]].nodes, seed))
        for found, (regular, admitted, preempted) in zip((base, assured), _PAIRS[name], strict=True):
            title = f"{name} promise" if found is assured else f"{name} no promise"
            least = base["regular_admitted"] - 0.005 if found is assured else 0.0
            checks.append(
                Check(
                    f"{title}: regular admitted",
                    regular,
                    (found["regular_admitted"],),
                    max(least, regular - 0.05),
                    regular + 0.05,
                )
            )
            ours = (found["admitted"],)
            checks.append(Check(f"{title}: admitted", admitted, ours, admitted - 0.05, admitted + 0.05))
            ours = (found["preempted"],)
            if found is assured:
                checks.append(Check(f"{title}: preempted", preempted, ours, None, PROMISE))
            else:
                note = "soft: no reading of the dissertation reaches it" if name == "A-B" else ""
                checks.append(Check(f"{title}: preempted", preempted, ours, nextafter(PROMISE, 1), None, note))
    return checks


def size_checks(outcomes: Mapping[str, Outcome], seed: int = 1) -> list[Check]:
    """Return the checks of figures 4.8 and 4.9."""
    checks = []
    for pair, counts in SIZES.items():
        name = PAIR_NAMES[pair]
        for nodes in counts:
            base, assured = (outcomes[case.name] for case in cases_of(pair, nodes, seed))
            checks.append(Check(f"{name} on {nodes}: preempted", None, (assured["preempted"],), None, PROMISE))
            checks.append(
                Check(f"{name} on {nodes}: preempted without promise", None, (base["preempted"],), None, None)
            )
            checks.append(Check(f"{name} on {nodes}: admitted", None, (assured["admitted"],), None, None))
            lost = base["regular_admitted"] - assured["regular_admitted"]
            checks.append(Check(f"{name} on {nodes}: regular lost by the promise", 0, (lost,), -0.005, 0.005))
        small, whole = (
            outcomes[PairCase(pair, True, nodes, seed).name]["regular_admitted"] for nodes in (counts[-1], counts[0])
        )
        low = 0.9 if name == "C-D" else None
        checks.append(Check(f"{name} on {counts[-1]}: regular admitted", None, (small,), low, whole))
    return checks


def quantile_lines(outcomes: Mapping[str, Outcome], seed: int = 1) -> dict[str, dict[str, dict[int, float]]]:
    """Return the assured seconds of figure 4.3: threat, probability, free slots, seconds."""
    return {
        f"preempted by {threat.value}": {
            f"{preemption}": dict(enumerate(outcomes[AnatomyCase(threat, seed).name][f"seconds_{preemption}"][:20], 1))
            for preemption in PROMISES[1:]
        }
        for threat in Threat
    }
