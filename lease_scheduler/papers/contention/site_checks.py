"""Checks of ``one_site``: table 3.1 and figures 3.4 to 3.6 (Amini Salehi 2012, section 3.3; contention E1-E4)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from lease_scheduler.papers.checks import Check
from lease_scheduler.papers.contention.one_site import POLICIES, SiteCase
from lease_scheduler.simulation.campaigns.case import Outcome
from lease_scheduler.simulation.significance import Interval, mean_interval, paired_t_test, rank_correlation

Outcomes = Mapping[str, Outcome]


@dataclass(frozen=True)
class Sweep:
    """A sweep over one parameter of the workload.

    :ivar title: what is varied
    :ivar points: values, in per cent
    :ivar case: returns the run of a policy at a value with a seed
    :ivar decrease: mean decrease of the local rejection rate in table 3.1, in points
    :ivar interval: its 95 % confidence interval there
    :ivar least_decrease: lower bound for ours
    """

    title: str
    points: Sequence[int]
    case: Callable[[str, int, int], SiteCase]
    decrease: float
    interval: tuple[float, float]
    least_decrease: float


SWEEPS: Mapping[str, Sweep] = {
    "a": Sweep(
        "best-effort requests, % of external ones",
        (10, 20, 30, 40, 50),
        lambda policy, point, seed: SiteCase(policy, best_effort=point, seed=seed),
        72.0,
        (51.1, 92.8),
        55.0,
    ),
    "b": Sweep(
        "requests with a deadline, % of external ones",
        (10, 20, 30, 40, 50),
        lambda policy, point, seed: SiteCase(policy, best_effort=100 - point, seed=seed),
        54.3,
        (35.0, 73.7),
        40.0,
    ),
    "c": Sweep(
        "local requests, % of all",
        (20, 30, 40, 50, 60, 70),
        lambda policy, point, seed: SiteCase(policy, local=point, seed=seed),
        58.2,
        (40.3, 75.9),
        40.0,
    ),
}

#: Sweep (c) with requests that are half as long, so that all local ones together fit on the site.
_HALF_LOAD = replace(
    SWEEPS["c"], case=lambda policy, point, seed: SiteCase(policy, local=point, seed=seed, hours=SiteCase.hours // 2)
)
_PREEMPTING = tuple(policy for policy in POLICIES if policy != "NOP")

#: Largest accepted rise of the external rejection rate, in points.
_MOST_MORE_REJECTED = 2.0
#: Smallest accepted utilisation with MOV beyond that with MLIP, in points.
_LEAST_MORE_USED = -0.1


def cases(sweeps: Sequence[str], seeds: Sequence[int]) -> list[SiteCase]:
    """Return the runs of some sweeps, each once."""
    found = [
        SWEEPS[name].case(policy, point, seed)
        for seed in seeds
        for name in sweeps
        for point in SWEEPS[name].points
        for policy in POLICIES
    ]
    if "c" in sweeps:
        found += [
            _HALF_LOAD.case(policy, point, seed)
            for seed in seeds
            for point in _HALF_LOAD.points
            for policy in _PREEMPTING
        ]
    return list(dict.fromkeys(found))


class Results:
    """The figures of one sweep.

    :param sweep: the sweep
    :param seeds: seeds that were run
    """

    def __init__(self, outcomes: Outcomes, sweep: Sweep, seeds: Sequence[int]) -> None:
        self._outcomes = outcomes
        self._sweep = sweep
        self._seeds = seeds

    def at(self, policy: str, point: int, column: str) -> list[float]:
        """Return a figure at one point, one value for each seed."""
        return [float(self._outcomes[self._sweep.case(policy, point, seed).name][column]) for seed in self._seeds]

    def line(self, policy: str, column: str) -> dict[int, float]:
        """Return the mean of a figure at each point."""
        return {point: _mean(self.at(policy, point, column)) for point in self._sweep.points}

    def samples(self, policy: str, column: str) -> list[float]:
        """Return a figure at all points with all seeds; samples of two policies are of the same workloads, in pairs."""
        return [value for point in self._sweep.points for value in self.at(policy, point, column)]

    def total(self, column: str) -> float:
        """Return the sum of a figure over all policies, points and seeds."""
        return sum(sum(self.at(policy, point, column)) for policy in POLICIES for point in self._sweep.points)


def rejection_checks(outcomes: Outcomes, seeds: Sequence[int], sweeps: Sequence[str]) -> list[Check]:
    """Return the checks of table 3.1: without preemption, and with MOML."""
    checks = []
    for name in sweeps:
        sweep = SWEEPS[name]
        results = Results(outcomes, sweep, seeds)
        before, after = (results.samples(policy, "local_rejected_percent") for policy in ("NOP", "MOML"))
        decreases = [b - a for b, a in zip(before, after, strict=True)]
        low, high = sweep.interval
        checks.append(
            Check(
                f"({name}) decrease of local rejections, points",
                sweep.decrease,
                tuple(decreases),
                sweep.least_decrease,
                None,
                f"95 % of ours: {_interval(mean_interval(decreases))}; of the thesis: {low:g}..{high:g}",
            )
        )
        p_value = paired_t_test(before, after).p_value
        checks.append(Check(f"({name}) p of that decrease", 0.001, (p_value,), None, 0.01))
        rejected, fewer = (results.samples(policy, "external_rejected_percent") for policy in ("NOP", "MOML"))
        rises = [a - b for b, a in zip(rejected, fewer, strict=True)]
        checks.append(
            Check(
                f"({name}) rise of external rejections, points",
                None,
                tuple(rises),
                None,
                _MOST_MORE_REJECTED,
                f"95 % of ours: {_interval(mean_interval(rises))}; not significant in the thesis",
            )
        )
    return checks


def preemption_checks(outcomes: Outcomes, seeds: Sequence[int], sweeps: Sequence[str]) -> list[Check]:
    """Return the checks of figure 3.5: which policies preempt more, and that nothing suspendable loses work."""
    checks = []
    for name in sweeps:
        results = Results(outcomes, SWEEPS[name], seeds)
        means = {policy: _mean(results.samples(policy, "lease_preemptions")) for policy in POLICIES}
        for fewer, more, bound in (("MLIP", "MOML", 1.0), ("MOML", "MOV", 1.0), ("MLIP", "MOV", 0.95)):
            first, second = (results.samples(policy, "lease_preemptions") for policy in (fewer, more))
            p_value = paired_t_test(first, second).p_value
            checks.append(
                Check(
                    f"({name}) preemptions, {fewer} / {more}",
                    None,
                    (means[fewer] / means[more],),
                    None,
                    bound,
                    f"{means[fewer]:.0f} and {means[more]:.0f}, p = {p_value:.2g}",
                )
            )
        lost = results.total("suspendable_that_lost_work")
        checks.append(Check(f"({name}) suspendable requests that lost work", None, (lost,), 0, 0, "all policies"))
    if "c" in sweeps:
        results = Results(outcomes, SWEEPS["c"], seeds)
        for policy in _PREEMPTING:
            line = results.line(policy, "lease_preemptions")
            correlation = rank_correlation(list(line), list(line.values()))
            checks.append(
                Check(f"(c) {policy} preemptions rise with local share, rho", None, (correlation,), 0.8, None)
            )
        half = Results(outcomes, _HALF_LOAD, seeds)
        for policy in _PREEMPTING:
            line = half.line(policy, "lease_preemptions")
            correlation = rank_correlation(list(line), list(line.values()))
            note = ", ".join(f"{value:.0f}" for value in line.values())
            checks.append(Check(f"(c) {policy}, the same at half the load", None, (correlation,), None, None, note))
    return checks


def soft_checks(outcomes: Outcomes, seeds: Sequence[int], sweeps: Sequence[str]) -> list[Check]:
    """Return the checks of what the text says of figures 3.4 and 3.6, which give no numbers."""
    checks = []
    for name in sweeps:
        results = Results(outcomes, SWEEPS[name], seeds)
        mov, mlip = (results.samples(policy, "utilisation_percent") for policy in ("MOV", "MLIP"))
        differences = tuple(a - b for a, b in zip(mov, mlip, strict=True))
        note = f"text: MOV uses most; 95 %: {_interval(mean_interval(differences))}"
        checks.append(
            Check(f"({name}) utilisation, MOV - MLIP, points", None, differences, _LEAST_MORE_USED, None, note)
        )
        mov, mlip = (results.samples(policy, "response_h") for policy in ("MOV", "MLIP"))
        ratio = (_mean(mlip) / _mean(mov),)
        checks.append(
            Check(f"({name}) response time, MLIP / MOV", None, ratio, None, 1.05, "text: MLIP is the shortest")
        )
    for name, column, title, note, most in (
        ("c", "utilisation_percent", "utilisation falls with local share, rho", "text: almost linear", -0.8),
        ("b", "response_h", "response time falls with the share of deadlines, rho", "text: it falls", -0.999),
    ):
        if name in sweeps:
            results = Results(outcomes, SWEEPS[name], seeds)
            for policy in ("MOV", "MLIP", "MOML"):
                line = results.line(policy, column)
                correlation = (rank_correlation(list(line), list(line.values())),)
                checks.append(Check(f"({name}) {policy} {title}", None, correlation, None, most, note))
    return checks


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def _interval(found: Interval) -> str:
    return f"{found.low:.3g}..{found.high:.3g}"
