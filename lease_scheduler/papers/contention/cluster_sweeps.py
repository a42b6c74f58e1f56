"""Sweeps over the load of the clusters: figures 4.2 to 4.6 (Amini Salehi 2012, section 4.4; contention E5-E9)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from lease_scheduler.papers.checks import Check
from lease_scheduler.papers.contention.cluster_checks import Outcomes
from lease_scheduler.papers.contention.clusters import POLICIES, ClusterCase
from lease_scheduler.simulation.generators.das2 import EXTERNAL
from lease_scheduler.simulation.significance import linear_regression, rank_correlation, two_way_anova


@dataclass(frozen=True)
class Sweep:
    """A sweep over one parameter of the workload.

    :ivar title: what is varied, with its unit
    :ivar points: value of the parameter -> value on the abscissa
    :ivar case: returns the run of a policy with a value of the parameter on a workload
    """

    title: str
    points: Mapping[float, float]
    case: Callable[[str, float, int], ClusterCase]

    def cases(self, numbers: Sequence[int]) -> list[ClusterCase]:
        """Return all runs."""
        return [self.case(policy, value, number) for number in numbers for value in self.points for policy in POLICIES]

    def values(self, outcomes: Outcomes, policy: str, column: str, numbers: Sequence[int]) -> dict[float, list[float]]:
        """Return a figure of a policy: value of the parameter -> the figure on each workload."""
        return {
            value: [float(outcomes[self.case(policy, value, number).name][column]) for number in numbers]
            for value in self.points
        }

    def line(self, outcomes: Outcomes, policy: str, column: str, numbers: Sequence[int]) -> dict[float, float]:
        """Return the mean of a figure of a policy: value on the abscissa -> mean."""
        found = self.values(outcomes, policy, column, numbers)
        return {self.points[value]: sum(values) / len(values) for value, values in found.items()}


def _mean_duration(mean: float) -> float:
    return round(ClusterCase("RR", 0, duration=mean).external.mean_runtime)


def _rate(gap: float) -> float:
    return round(1000 / ClusterCase("RR", 0, gap=gap).external.mean_gap, 1)


SWEEPS: Mapping[str, Sweep] = {
    "a": Sweep(
        "size of external requests, log2 of nodes",
        {value: value for value in (2.5, EXTERNAL.medium, 3.5)},
        lambda policy, value, number: ClusterCase(policy, number, medium=value),
    ),
    "b": Sweep(
        "mean duration of external requests, s",
        {value: _mean_duration(value) for value in (3.0, 4.0, EXTERNAL.runtime[0], 5.2)},
        lambda policy, value, number: ClusterCase(policy, number, duration=value),
    ),
    "c": Sweep(
        "external requests per 1000 s",
        {value: _rate(value) for value in (7.0, 5.0, 3.8)},
        lambda policy, value, number: ClusterCase(policy, number, gap=value),
    ),
    "d": Sweep(
        "local requests, % of the usual rate",
        {value: value for value in (50, 75, 100, 125)},
        lambda policy, value, number: ClusterCase(policy, number, local_rate=int(value)),
    ),
}

_MOST_P = 0.001
_LEAST_CORRELATION = 0.8
_LEAST_REGRESSION = 0.5


def preemption_checks(outcomes: Outcomes, numbers: Sequence[int]) -> list[Check]:
    """Return the checks of figure 4.3: which effects there are, and that preemptions rise with the load."""
    checks = []
    for letter, sweep in SWEEPS.items():
        cells = {
            (policy, str(value)): values
            for policy in POLICIES
            for value, values in sweep.values(outcomes, policy, "vm_preemptions", numbers).items()
        }
        found = two_way_anova(cells)
        note = f"soft; two-way ANOVA; factor: {found.columns:.2g}, interaction: {found.interaction:.2g}; text: < 0.001"
        checks.append(Check(f"({letter}) effect of the policy, p", None, (found.rows,), None, _MOST_P, note))
        for policy in POLICIES:
            line = sweep.line(outcomes, policy, "vm_preemptions", numbers)
            rho = rank_correlation(list(line), list(line.values()))
            values = "soft; " + ", ".join(f"{value:.0f}" for value in line.values())
            name = f"({letter}) preempted VMs of {policy} rise, rho"
            checks.append(Check(name, None, (rho,), _LEAST_CORRELATION, None, values))
    return checks


def regression_checks(outcomes: Outcomes, numbers: Sequence[int]) -> list[Check]:
    """Return the check of figure 4.2: with more preemptions, external requests take longer."""
    points = [
        (sweep.line(outcomes, policy, "vm_preemptions", numbers), sweep.line(outcomes, policy, "response_s", numbers))
        for sweep in SWEEPS.values()
        for policy in POLICIES
    ]
    preempted = [value for line, _ in points for value in line.values()]
    response = [value for _, line in points for value in line.values()]
    found = linear_regression(preempted, response)
    line = f"R = {found.intercept:.3g} s + {found.slope:.3g} s per VM"
    note = f"soft; {line} over {len(preempted)} points; thesis: 3.09 + 0.012"
    name = "correlation of response time and preempted VMs"
    return [Check(name, None, (found.correlation,), _LEAST_REGRESSION, None, note)]
