"""Checks of ``sleeping_site``: figures 6.3 and 6.4 (Amini Salehi 2012, section 6.4; contention E12, E13)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import nextafter

from lease_scheduler.papers.checks import Check
from lease_scheduler.papers.contention.sleeping_site import HOSTS, POLICIES, EnergyCase
from lease_scheduler.simulation.campaigns.case import Outcome
from lease_scheduler.simulation.generators.reservations import SIZES
from lease_scheduler.simulation.significance import Interval, mean_interval, paired_t_test

Outcomes = Mapping[str, Outcome]

#: Runs of the default point with other times to wake: nothing, and ten minutes.
WAKE_TIMES = (0, 600)


@dataclass(frozen=True)
class Sweep:
    """A sweep over one parameter of the workload or the site.

    :ivar title: what is varied
    :ivar points: its values
    :ivar at: returns a case at a value
    :ivar saved_kwh: 95 % interval of what PEMP saves compared with SESP in the dissertation, or None
    """

    title: str
    points: Sequence[int]
    at: Callable[[EnergyCase, int], EnergyCase]
    saved_kwh: tuple[float, float] | None = None


_SIZES = tuple(SIZES)

SWEEPS: Mapping[str, Sweep] = {
    "a": Sweep("work of local requests (%)", (5, 10, 15, 20, 25, 30), lambda case, value: replace(case, local=value)),
    "b": Sweep(
        "duration of local requests (h)",
        (1, 2, 3, 4),
        lambda case, value: replace(case, hours=value),
        (193.5, 2_830.1),
    ),
    "c": Sweep(
        "nodes of local requests: 1 small, 2 medium, 3 large",
        (1, 2, 3),
        lambda case, value: replace(case, size=_SIZES[value - 1]),
        (360.8, 2_030.0),
    ),
    "d": Sweep("hosts", (144, 256, HOSTS), lambda case, value: replace(case, hosts=value)),
}

#: GESP saves at least 15 %, and has at least 1.3 times as many violations as SESP.
_GREEDY_ENERGY, _GREEDY_VIOLATIONS = 0.85, 1.3
_PREEMPTION_ENERGY = 1.03
_VIOLATIONS_APART = 3.0


class Results:
    """The figures of one sweep.

    :param base: what its points differ from
    :param seeds: seeds that were run
    """

    def __init__(self, outcomes: Outcomes, sweep: Sweep, base: EnergyCase, seeds: Sequence[int]) -> None:
        self._outcomes = outcomes
        self._sweep = sweep
        self._base = base
        self._seeds = seeds

    def cases(self, policy: str, point: int) -> list[EnergyCase]:
        """Return the runs of a policy at one point, one for each seed."""
        at = self._sweep.at(self._base, point)
        return [replace(at, policy=policy, seed=seed) for seed in self._seeds]

    def at(self, policy: str, point: int, column: str) -> list[float]:
        """Return a figure at one point, one value for each seed."""
        return [float(self._outcomes[case.name][column]) for case in self.cases(policy, point)]

    def line(self, policy: str, column: str) -> dict[int, float]:
        """Return the mean of a figure at each point."""
        return {point: _mean(self.at(policy, point, column)) for point in self._sweep.points}

    def samples(self, policy: str, column: str) -> list[float]:
        """Return a figure at all points with all seeds; samples of two policies are of the same workloads, in pairs."""
        return [value for point in self._sweep.points for value in self.at(policy, point, column)]

    def total(self, column: str) -> float:
        """Return the sum of a figure over all policies, points and seeds."""
        return sum(sum(self.samples(policy, column)) for policy in POLICIES)


def sweep_cases(base: EnergyCase, sweeps: Sequence[str], seeds: Sequence[int]) -> list[EnergyCase]:
    """Return the runs of some sweeps with all policies, each once."""
    found = [
        case
        for name in sweeps
        for point in SWEEPS[name].points
        for policy in POLICIES
        for case in Results({}, SWEEPS[name], base, seeds).cases(policy, point)
    ]
    return list(dict.fromkeys(found))


def energy_checks(outcomes: Outcomes, base: EnergyCase, sweeps: Sequence[str], seeds: Sequence[int]) -> list[Check]:
    """Return the checks of figure 6.3: the energy of the period."""
    checks = []
    for name in sweeps:
        sweep = SWEEPS[name]
        results = Results(outcomes, sweep, base, seeds)
        gesp, sesp, pemp = (results.samples(policy, "energy_kwh") for policy in POLICIES)
        least = min(_mean(sesp), _mean(pemp))
        checks.append(
            Check(
                f"({name}) energy, GESP / the better of SESP and PEMP",
                None,
                (_mean(gesp) / least,),
                None,
                _GREEDY_ENERGY,
                f"{_means(gesp, sesp, pemp)} kWh",
            )
        )
        checks.append(
            Check(f"({name}) energy, PEMP / SESP", None, (_mean(pemp) / _mean(sesp),), None, _PREEMPTION_ENERGY)
        )
        saved = [more - less for more, less in zip(sesp, pemp, strict=True)]
        note = f"95 % of ours: {_interval(mean_interval(saved))}, p = {paired_t_test(sesp, pemp).p_value:.2g}"
        if sweep.saved_kwh is not None:
            note += "; of the thesis: {:g}..{:g}".format(*sweep.saved_kwh)
        checks.append(
            Check(
                f"({name}) energy, SESP - PEMP (kWh)",
                None if sweep.saved_kwh is None else _mean(sweep.saved_kwh),
                tuple(saved),
                None,
                None,
                note,
            )
        )
        if name == "b":
            shortest = sweep.points[0]
            at = [_mean(results.at(policy, shortest, "energy_kwh")) for policy in ("PEMP", "SESP")]
            checks.append(
                Check(
                    f"({name}) energy, PEMP / SESP with {shortest} h", None, (at[0] / at[1],), None, nextafter(1.0, 0.0)
                )
            )
        if name == "a":
            most = sweep.points[-1]
            at = [_mean(results.at(policy, most, "energy_kwh")) for policy in ("PEMP", "SESP")]
            percent = (100 * (1 - at[0] / at[1]),)
            checks.append(
                Check(f"({name}) PEMP saves with {most} % (%)", 18.0, percent, 18.0, None, "soft; not reproduced")
            )
    return checks


def violation_checks(outcomes: Outcomes, base: EnergyCase, sweeps: Sequence[str], seeds: Sequence[int]) -> list[Check]:
    """Return the checks of figure 6.4: requests that wait too long, and that no local one is refused or late."""
    checks, apart = [], list[float]()
    for name in sweeps:
        results = Results(outcomes, SWEEPS[name], base, seeds)
        gesp, sesp, pemp = (results.samples(policy, "violations_percent") for policy in POLICIES)
        p_value = paired_t_test(gesp, sesp).p_value
        checks.append(
            Check(
                f"({name}) violations, GESP / SESP",
                None,
                (_mean(gesp) / _mean(sesp) if any(sesp) else 0.0,),
                _GREEDY_VIOLATIONS,
                None,
                f"{_means(gesp, sesp, pemp)} %, p = {p_value:.2g}",
            )
        )
        waits = [results.samples(policy, "mean_wait_h") for policy in POLICIES]
        ratio = (_mean(waits[0]) / _mean(waits[1]) if any(waits[1]) else 0.0,)
        checks.append(Check(f"({name}) mean wait, GESP / SESP", None, ratio, None, None, f"{_means(*waits)} h"))
        if name == "d":
            fewest = SWEEPS[name].points[0]
            at = [_mean(results.at(policy, fewest, "violations_percent")) for policy in POLICIES]
            said = ", ".join(f"{policy} {each:.3g}" for policy, each in zip(POLICIES, at, strict=True))
            note = f"text: above 70 with every policy; {said}"
            checks.append(
                Check(
                    f"({name}) violations on {fewest} hosts (%), least of all policies",
                    70.0,
                    (min(at),),
                    70.0,
                    None,
                    note,
                )
            )
        else:
            apart += [one - other for one, other in zip(pemp, sesp, strict=True)]
        refused, late = (results.total(column) for column in ("local_rejected", "local_late"))
        note = "144 hosts have no room for all of them" if name == "d" else ""
        checks.append(Check(f"({name}) local requests that are refused", None, (refused,), None, 0.0, note))
        checks.append(Check(f"({name}) local requests that are late", None, (late,), None, 0.0))
        lost = results.total("lost_work")
        checks.append(Check(f"({name}) external requests that lost work", None, (lost,), 0.0, 0.0))
    note = f"95 %: {_interval(mean_interval(apart))}"
    checks.append(
        Check("violations, PEMP - SESP (points)", 0.0, tuple(apart), -_VIOLATIONS_APART, _VIOLATIONS_APART, note)
    )
    return checks


def policy_checks(outcomes: Outcomes, cases: Sequence[EnergyCase]) -> list[Check]:
    """Return the checks of all workloads together, whose runs are given policy by policy on the same workloads."""
    energy, violations = (
        {policy: [float(outcomes[case.name][column]) for case in cases if case.policy == policy] for policy in POLICIES}
        for column in ("energy_kwh", "violations_percent")
    )
    saved = [more - less for more, less in zip(energy["SESP"], energy["PEMP"], strict=True)]
    p_value = paired_t_test(energy["SESP"], energy["PEMP"]).p_value
    checks = [
        Check(f"{policy} energy (kWh)", None, tuple(values), None, None, f"95 %: {_interval(mean_interval(values))}")
        for policy, values in energy.items()
    ]
    checks += [
        Check(f"{policy} violations (%)", None, tuple(values), None, None, f"95 %: {_interval(mean_interval(values))}")
        for policy, values in violations.items()
    ]
    note = f"95 %: {_interval(mean_interval(saved))}, p = {p_value:.2g}"
    return [*checks, Check("energy, SESP - PEMP (kWh)", None, tuple(saved), None, None, note)]


def sensitivity_checks(outcomes: Outcomes, base: EnergyCase, seeds: Sequence[int]) -> list[Check]:
    """Return how energy and violations at the default point depend on the time that a host takes to wake."""
    checks = []
    for policy in POLICIES:
        for column, unit in (("energy_kwh", "energy (kWh)"), ("violations_percent", "violations (%)")):
            means = {
                wake: _mean([float(outcomes[case.name][column]) for case in _waking(base, policy, wake, seeds)])
                for wake in (WAKE_TIMES[0], base.wake_s, WAKE_TIMES[1])
            }
            note = ", ".join(f"{mean:.4g} with {wake} s" for wake, mean in means.items())
            checks.append(Check(f"{policy} {unit}", None, (means[base.wake_s],), None, None, note))
    return checks


def sensitivity_cases(base: EnergyCase, seeds: Sequence[int]) -> list[EnergyCase]:
    """Return the runs of the default point with other times to wake."""
    return [case for policy in POLICIES for wake in WAKE_TIMES for case in _waking(base, policy, wake, seeds)]


def _waking(base: EnergyCase, policy: str, wake: int, seeds: Sequence[int]) -> list[EnergyCase]:
    return [replace(base, policy=policy, wake_s=wake, seed=seed) for seed in seeds]


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def _means(*samples: Sequence[float]) -> str:
    return ", ".join(f"{_mean(values):.4g}" for values in samples)


def _interval(found: Interval) -> str:
    return f"{found.low:.3g}..{found.high:.3g}"
