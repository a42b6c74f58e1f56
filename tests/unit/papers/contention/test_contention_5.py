"""The event model of chapter 5 of Amini Salehi 2012 and its checks (contention E10, E11)."""

from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rich.console import Console

from lease_scheduler.papers.contention import admission_checks, contention_5
from lease_scheduler.papers.contention.admission import AdmissionCase, QueueCase
from lease_scheduler.papers.contention.interrupted_service import IdleTime, serve
from lease_scheduler.papers.extent import Extent
from lease_scheduler.papers.replications import Replication


def test_idle_time_excludes_local_requests() -> None:
    """Local requests at 10 (5 s), 12 (4 s) and 30 (2 s) keep the server busy in [10, 19) and [30, 32)."""
    idle = IdleTime(np.array([10.0, 12.0, 30.0]), np.array([5.0, 4.0, 2.0]))
    assert idle.until(np.array([0.0, 10, 15, 19, 25, 30, 31, 32, 40])).tolist() == [0, 10, 10, 10, 16, 21, 21, 21, 29]
    assert idle.instants(np.array([1.0, 10, 11, 21, 22, 100])).tolist() == [1, 10, 20, 30, 33, 111]


def test_without_local_requests_all_time_is_idle() -> None:
    idle = IdleTime(np.empty(0), np.empty(0))
    assert idle.until(np.array([3.0])).tolist() == idle.instants(np.array([3.0])).tolist() == [3]


def test_idle_time_begins_after_local_requests_at_zero() -> None:
    idle = IdleTime(np.array([0.0, 1.0]), np.array([3.0, 1.0]))
    assert idle.until(np.array([2.0, 4.0, 5.0])).tolist() == [0, 0, 1]
    assert idle.instants(np.array([1.0])).tolist() == [5]


@pytest.mark.parametrize(
    ("places", "expected"),
    [(None, [4, 8, 12, 24]), (2, [4, 8, np.nan, 24]), (1, [4, np.nan, np.nan, 24])],
)
def test_requests_without_a_free_place_are_refused(places: int | None, expected: list[float]) -> None:
    """The place in service counts. A request that arrives as another one ends finds its place free."""
    ends = serve(np.array([0.0, 1.0, 2.0, 20.0]), np.array([4.0] * 4), places)
    assert np.array_equal(ends, np.array(expected, dtype=float), equal_nan=True)
    assert serve(np.array([0.0, 4.0]), np.array([4.0, 1.0]), 1).tolist() == [4, 5]


@pytest.fixture(scope="module")
def default_point() -> dict[str, Any]:
    return AdmissionCase().run()


def test_the_default_point_admits_what_the_paper_says(default_point: dict[str, Any]) -> None:
    """contention 5.3: PACP admits 1 at a time on the smallest cluster; RACP 2, 3 and 4."""
    assert default_point["places_PACP"].split()[0] == "1" and default_point["places_PACP"].split()[2] == "any"
    assert default_point["places_RACP"] == "2 3 4"
    assert default_point["completed_CACP"] == 100
    assert default_point["violations_PACP"] < min(default_point[f"violations_{p}"] for p in ("CACP", "AACP", "RACP"))


def test_the_checks_are_able_to_fail(default_point: dict[str, Any], tmp_path: Path) -> None:
    """All points like the default one, and then with a PACP that is worse than all others."""
    queue = QueueCase(requests=30_000)
    simulated = queue.run()
    cases = contention_5.cases(extent=Extent.ONCE)
    good = {case.name: simulated if isinstance(case, QueueCase) else default_point for case in cases}
    bad = {
        name: found if "violations_PACP" not in found else {**found, "violations_PACP": 99.0, "completed_AACP": 99.9}
        for name, found in good.items()
    }
    console = Console(file=io.StringIO())
    checks = admission_checks.policy_checks(good, (1,), True)
    assert [check.passed for check in checks[:4]] == [True] * 4
    assert [check.passed for check in admission_checks.policy_checks(bad, (1,), True)[:4]] == [
        False,
        False,
        True,
        False,
    ]
    assert contention_5.report(bad, tmp_path, replications=[Replication(Extent.ONCE)], console=console) >= 6
    assert (tmp_path / "fig-5.3-violations.png").exists()


def _points(equal: bool) -> list[AdmissionCase]:
    return [case for case in admission_checks.cases(1, [equal]) if isinstance(case, AdmissionCase)]


def test_the_gates_hold_at_all_points() -> None:
    """contention E10, E11: PACP violates no more than RACP + 1 point at 80 % of points, and than CACP + 1 at all.

    The policies themselves, with the first seed of the experiment and equal processors, at each point of its sweeps.
    """
    found = {case.name: case.run() for case in _points(True)}

    gates = admission_checks.policy_checks(found, (1,), True)[:4]

    assert [(gate.low, gate.passed) for gate in gates] == [(80, True), (100, True), (100, True), (80, True)]


@pytest.mark.parametrize(
    ("policy", "worse_at", "expected"),
    [
        ("RACP", 4, [True, True, True, True]),
        ("RACP", 5, [False, True, True, True]),
        ("CACP", 0, [True, True, True, True]),
        ("CACP", 1, [True, False, True, True]),
    ],
)
def test_a_gate_fails_at_one_point_too_many(policy: str, worse_at: int, expected: list[bool]) -> None:
    """Of the 24 points of the sweeps, 80 % are 20; three sweeps share the default point, which is good here."""
    fine: dict[str, Any] = {"completed_CACP": 100.0, "completed_AACP": 10.0, "completed_RACP": 50.0}
    fine |= {"completed_PACP": 40.0, **{f"violations_{each}": 20.0 for each in ("PACP", "CACP", "AACP", "RACP")}}
    found = {}
    others = [case for case in _points(True) if case != AdmissionCase()]
    for number, case in enumerate([*others, AdmissionCase()]):
        worse = {f"violations_{policy}": 18.9} if number < worse_at else {}
        found[case.name] = {**fine, **worse}

    assert [gate.passed for gate in admission_checks.policy_checks(found, (1,), True)[:4]] == expected


def test_claims_of_the_text_are_judged_at_each_point() -> None:
    """PACP is to have the fewest violations at all points, and AACP the most; one point of each is another way."""
    found = {
        case.name: {
            **{f"violations_{policy}": value for policy, value in (("PACP", 10.0), ("RACP", 30.0), ("CACP", 20.0))},
            **{f"completed_{policy}": value for policy, value in (("PACP", 75.0), ("RACP", 50.0), ("CACP", 100.0))},
            "violations_AACP": 40.0,
            "completed_AACP": 10.0,
        }
        for case in _points(True)
    }
    names = ("fewest of all", "AACP most", "PACP is below", "PACP is above")

    def results() -> list[bool | None]:
        checks = admission_checks.policy_checks(found, (1,), True)
        return [check.passed for name in names for check in checks if name in check.name]

    assert results() == [True] * 4
    odd = next(case for case in _points(True) if case != AdmissionCase())
    found[odd.name] |= {"violations_PACP": 31.0}
    assert results() == [False, True, True, True]
    for each in found.values():
        each |= {"violations_RACP": 29.0, "completed_PACP": 74.0}
    assert results() == [False, True, False, False]


def test_cases_have_unique_names() -> None:
    """A point that is in every sweep is run once."""
    cases = admission_checks.cases(1, [True])
    points = sum(len(values) for _, values, _ in admission_checks.SWEEPS.values())
    assert len({case.name for case in cases}) == len(cases) == points - 3 + 1
    assert replace(AdmissionCase(), seed=2).name != AdmissionCase().name
