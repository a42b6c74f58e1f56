"""Checks of ``admission``: the queueing model, and figures 5.3 and 5.4 (Amini Salehi 2012; contention E10, E11)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import islice

from lease_scheduler.papers.checks import Check
from lease_scheduler.papers.contention.admission import GOLDEN, POLICIES, AdmissionCase, QueueCase, at
from lease_scheduler.policy.admission.queue_model import queues
from lease_scheduler.simulation.campaigns.case import Outcome
from lease_scheduler.simulation.significance import mean_interval, paired_t_test

#: Panel of the figures -> factor, its values, label.
SWEEPS: Mapping[str, tuple[str, tuple[float, ...], str]] = {
    "a": ("local_task", (60, 70, 80, 90, 100, 110), "mean local task (s)"),
    "b": ("local_gap", (2, 4, 6, 8, 10), "scale of local gaps (s)"),
    "c": ("external_task", (60, 70, 80, 90, 100, 110), "mean external task (s)"),
    "d": ("external_gap", (0.2, 0.7, 1.2, 1.7, 2.2, 2.7, 3.2), "scale of external gaps (s)"),
}

SPEEDS: Mapping[str, bool] = {"equal processors": True, "as fast as in the thesis": False}

#: Panel -> 95 % interval of the difference between RACP and PACP: violations, completed requests.
_THESIS = {"a": ("14.1..17.9", "14.1..17.9"), "c": ("14.8..18.6", "17.1..21.3")}

Outcomes = Mapping[str, Outcome]


def cases(seed: int, speeds: Sequence[bool]) -> list[AdmissionCase | QueueCase]:
    """Return all runs with a seed, each once."""
    found: list[AdmissionCase | QueueCase] = [QueueCase(seed=seed)]
    for equal in speeds:
        found += [point for _, point in _points(AdmissionCase(equal_speed=equal, seed=seed))]
    return list(dict.fromkeys(found))


def _points(base: AdmissionCase) -> list[tuple[str, AdmissionCase]]:
    return [
        (panel, at(base, factor, float(value))) for panel, (factor, values, _) in SWEEPS.items() for value in values
    ]


def model_checks(outcomes: Outcomes, seed: int) -> list[Check]:
    """Return the checks of the queueing model against simulations."""
    case = QueueCase(seed=seed)
    found = outcomes[case.name]
    checks = [
        _near("mean external service time", GOLDEN.mean_service, found["mean_service"], 0.01),
        _near("variance of external service times", GOLDEN.variance_of_service, found["variance_of_service"], 0.03),
    ]
    for queue in islice(queues(GOLDEN), case.places):
        name = f"{queue.places} admitted at a time"
        checks.append(_near(f"{name}: mean response", queue.response, found[f"response_{queue.places}"], 0.01))
        blocked = float(found[f"blocked_{queue.places}"])
        low, high = queue.blocked - 0.005, queue.blocked + 0.005
        checks.append(Check(f"{name}: share refused", None, (blocked,), low, high, f"model {queue.blocked:.4f}"))
    return checks


def _near(name: str, model: float, simulated: float, tolerance: float) -> Check:
    low, high = model * (1 - tolerance), model * (1 + tolerance)
    return Check(name, None, (float(simulated),), low, high, f"model {model:.6g}")


def values(outcomes: Outcomes, case: AdmissionCase, column: str, policy: str, seeds: Sequence[int]) -> list[float]:
    """Return a figure of one point, one value for each seed."""
    return [float(outcomes[replace(case, seed=seed).name][f"{column}_{policy}"]) for seed in seeds]


def line(
    outcomes: Outcomes, panel: str, column: str, policy: str, seeds: Sequence[int], equal: bool
) -> dict[int, float]:
    """Return the mean of a figure at each point of a panel, by ten times the value of its factor."""
    factor, points, _ = SWEEPS[panel]
    return {
        round(10 * value): _mean(
            values(outcomes, at(AdmissionCase(equal_speed=equal), factor, float(value)), column, policy, seeds)
        )
        for value in points
    }


def policy_checks(outcomes: Outcomes, seeds: Sequence[int], equal: bool) -> list[Check]:
    """Return the checks of figures 5.3 and 5.4 for one setting of speeds."""
    points = [point for _, point in _points(AdmissionCase(equal_speed=equal))]

    def means(column: str, policy: str) -> list[float]:
        return [_mean(values(outcomes, point, column, policy, seeds)) for point in points]

    late = {policy: means("violations", policy) for policy in POLICIES}
    done = {policy: means("completed", policy) for policy in POLICIES}
    below_racp = [mine <= other + 1 for mine, other in zip(late["PACP"], late["RACP"], strict=True)]
    below_cacp = [mine <= other + 1 for mine, other in zip(late["PACP"], late["CACP"], strict=True)]
    fewest = [
        mine <= min(others)
        for mine, *others in zip(done["AACP"], *(done[p] for p in POLICIES if p != "AACP"), strict=True)
    ]
    pacp_fewest, aacp_most = (
        _share([key(each[policy] for policy in POLICIES) == each[mine] for each in _rows(late)])
        for mine, key in (("PACP", min), ("AACP", max))
    )
    gain = max(racp - pacp for racp, pacp in zip(late["RACP"], late["PACP"], strict=True))
    more = max(pacp - racp for racp, pacp in zip(done["RACP"], done["PACP"], strict=True))
    checks = [
        Check("violations PACP <= RACP + 1 point, % of points", None, (_share(below_racp),), 80, None),
        Check("violations PACP <= CACP + 1 point, % of points", None, (_share(below_cacp),), 100, None),
        Check("completed CACP, %, least of all points", 100, (min(done["CACP"]),), 100, 100),
        Check("completed AACP is least, % of points", None, (_share(fewest),), 80, None),
        Check("violations PACP fewest of all policies, % of points", 100, (pacp_fewest,), 100, None, "soft"),
        Check("violations AACP most of all policies, % of points", 100, (aacp_most,), 100, None, "soft"),
        Check("violations, most that PACP is below RACP, points", 20, (gain,), 20, None, "soft; not reproduced"),
        Check("completed, most that PACP is above RACP, points", 25, (more,), 25, None, "soft; not reproduced"),
    ]
    for panel, (_, _, label) in SWEEPS.items():
        own = [point for letter, point in _points(AdmissionCase(equal_speed=equal)) if letter == panel]
        for column, title, sign in (("violations", "fewer violations", 1), ("completed", "more completed", -1)):
            racp, pacp = (
                [value for point in own for value in values(outcomes, point, column, policy, seeds)]
                for policy in ("RACP", "PACP")
            )
            gains = [sign * (r - p) for r, p in zip(racp, pacp, strict=True)]
            interval = mean_interval(gains)
            thesis = _THESIS.get(panel)
            said = "" if thesis is None else f"; thesis, in part of the range: {thesis[0 if sign > 0 else 1]}"
            p_value = paired_t_test(racp, pacp).p_value
            note = f"95 % over the points: {interval.low:.3g}..{interval.high:.3g}, p = {p_value:.2g}{said}"
            checks.append(Check(f"({panel}) {label}: {title}, PACP vs RACP", None, tuple(gains), None, None, note))
    return checks


def _rows(by_policy: Mapping[str, Sequence[float]]) -> list[dict[str, float]]:
    """Return for each point the figures by policy."""
    return [dict(zip(by_policy, values, strict=True)) for values in zip(*by_policy.values(), strict=True)]


def _share(holds: Sequence[bool]) -> float:
    return 100 * sum(holds) / len(holds)


def _mean(found: Sequence[float]) -> float:
    return sum(found) / len(found)
