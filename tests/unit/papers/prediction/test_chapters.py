"""The chapters of the paper: their runs, and reports made of figures that are given."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from lease_scheduler.papers.extent import Extent
from lease_scheduler.papers.prediction import (
    power_cases,
    power_checks,
    prediction_3,
    prediction_4,
    prediction_durations,
    tier_cases,
    tier_checks,
)
from lease_scheduler.papers.prediction.chapters import PAPER
from lease_scheduler.papers.prediction.durations import POLICIES, DurationCase
from lease_scheduler.papers.registry import find, names
from lease_scheduler.papers.replications import Replication
from lease_scheduler.prediction.lifetimes import Threat
from lease_scheduler.simulation.campaigns.case import CostedCase


def test_the_paper_is_listed() -> None:
    assert {"prediction", "prediction-3", "prediction-4", "prediction-durations"} <= set(names())
    assert find("prediction-4")[0] is PAPER


@pytest.mark.parametrize("chapter", [prediction_3, prediction_4, prediction_durations])
@pytest.mark.parametrize("extent", list(Extent))
def test_cases_have_unique_names_and_a_cost(chapter: Any, extent: Extent) -> None:
    cases = chapter.cases(extent=extent)
    assert len({case.name for case in cases}) == len(cases) > 0
    assert all(isinstance(case, CostedCase) and case.cost_s > 0 for case in cases)


@pytest.mark.parametrize("chapter", [prediction_3, prediction_4])
def test_all_that_is_random_depends_on_the_seed(chapter: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """What two seeds have in common has nothing random in it."""
    monkeypatch.setenv("LEASE_SCHEDULER_DATA", ".")
    first, second = ({case.name: case for case in chapter.cases(extent=Extent.ONCE, seed=seed)} for seed in (1, 2))
    common = [case for name, case in first.items() if name in second]
    assert all(
        isinstance(case, power_cases.ProductionCase) or (isinstance(case, tier_cases.PairCase) and not case.is_assured)
        for case in common
    )
    assert len(common) < len(first) == len(second)


def test_without_the_folder_of_logs_generated_workloads_remain(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LEASE_SCHEDULER_DATA", raising=False)
    kinds = {type(case).__name__ for case in prediction_3.cases(extent=Extent.ONCE)}
    assert kinds == {"RegistrationCase", "SweepCase"}
    kinds = {type(case).__name__ for case in prediction_4.cases(extent=Extent.ONCE)}
    assert kinds == {"PromiseCase", "AnatomyCase"}
    assert len(prediction_durations.cases(extent=Extent.ONCE)) == len(POLICIES)


def test_in_a_run_of_a_registration_earlier_nodes_are_up_longer() -> None:
    found = power_cases.RegistrationCase("exponential", True, 3).run()
    assert found["uptime"][0] > found["uptime"][5] > 0.3
    assert len(found["utilisation"]) == 6


def test_a_sweep_has_no_efficiency_where_nodes_are_too_few() -> None:
    """Prediction E5, two days: three nodes are enough for one request in 90 s, and not for one in 7 s."""
    assert power_cases.SweepCase(3, 4.0, days=2).run()["base_efficiency"] == pytest.approx(0.45, abs=0.1)
    assert set(power_cases.SweepCase(3, 1.5, days=1).run()) == {"requests"}


def test_one_run_that_breaks_its_promise_fails_the_checks() -> None:
    """A single run that breaks a promise is outside, whatever the mean is."""
    outcomes = {
        tier_cases.PromiseCase(promise, seed).name: {
            "admitted": 0.71 - 0.02 * place,
            "preempted": 0.38 if promise is None else promise * (1.1 if (promise, seed) == (0.05, 2) else 0.1),
        }
        for place, promise in enumerate(tier_cases.PROMISES)
        for seed in (1, 2, 3)
    }
    checks = tier_checks.promise_checks(outcomes, (1, 2, 3))
    assert [check.name for check in checks if check.passed is False] == [
        "promise 0.25: admitted",
        "promise 0.05: preempted, worst run",
    ]


def test_curves_of_the_anatomy_may_fall_by_a_fifth_only() -> None:
    """Prediction E7: the curves may fall by a fifth from slot to slot, up to twelve."""
    good = {"counts": [1, 2, 9, 3], **{f"seconds_{each}": [each * 2e4] * 20 for each in (0.01, 0.05, 0.1, 0.25)}}
    bad = {**good, "counts": [9, 1], "seconds_0.1": [2_000] * 11 + [1_500] * 9, "seconds_0.05": [7_600] * 20}
    outcomes = {
        tier_cases.AnatomyCase(Threat.OLDER).name: good,
        tier_cases.AnatomyCase(Threat.ALL).name: bad,
    }
    outside = [check.name for check in tier_checks.anatomy_checks(outcomes) if not check.passed]
    assert outside == [
        "threat all: most samples at free slots",
        "threat all: least growth from slot to slot, 1 to 12",
        "threat all: seconds at 15 slots, 0.05",
    ]


def test_shares_of_pairs_must_be_near_the_published_tables() -> None:
    """Prediction E8: shares within .05 of the tables, and more than the promise preempted without one."""
    outcomes = {}
    for case in tier_cases.pairs():
        published = tier_checks._PAIRS[tier_cases.PAIR_NAMES[case.pair]][case.is_assured]
        outcomes[case.name] = dict(zip(("regular_admitted", "admitted", "preempted"), published, strict=True))
    assert all(check.passed for check in tier_checks.pair_checks(outcomes))
    outcomes[tier_cases.pairs()[0].name]["preempted"] = 0.01
    outcomes[tier_cases.pairs()[1].name]["regular_admitted"] = 0.971
    outside = [check.name for check in tier_checks.pair_checks(outcomes) if not check.passed]
    assert outside == ["A-B no promise: preempted", "A-B promise: regular admitted"]


@pytest.mark.parametrize("lost", [0.006, -0.006])
def test_a_promise_must_not_change_admissions_of_regular_requests(lost: float) -> None:
    """Prediction E9: by at most .005, in either direction."""
    cases = [*tier_cases.pairs(), *tier_cases.sizes()]
    outcomes = {
        case.name: {
            "regular_admitted": 0.95 - case.nodes / 1_000 - (lost if case.is_assured and case.nodes == 5 else 0.0),
            "admitted": 0.5,
            "preempted": 0.0,
        }
        for case in cases
    }
    outside = [check.name for check in tier_checks.size_checks(outcomes) if check.passed is False]
    # Of a small cloud no more may be admitted than of a large one.
    assert outside[:1] == ["A-B on 5: regular lost by the promise"]


def test_a_wrong_gain_of_the_recorded_clouds_fails_the_checks() -> None:
    outcomes = {}
    for case in power_cases.production():
        outcomes[case.name] = {
            "efficiency": 0.4 if case.saves_power else 0.2,
            "responsiveness": 0.96,
            "acceptance": 1.0,
        }
    outside = [check.name for check in power_checks.production_checks(outcomes) if check.passed is False]
    assert outside == ["DS2: gain in efficiency", "DS3: gain in efficiency", "DS5: gain in efficiency"]


def test_the_order_of_the_recorded_clouds_is_checked() -> None:
    """Prediction E3: DS3 > DS2 > DS5. Each factor may be within its 20 % and the order another."""
    efficiency = {"DS2": 0.25, "DS3": 0.574, "DS5": 0.304}
    outcomes = {}
    for case in power_cases.production():
        saved = efficiency[case.trace] if case.saves_power else 0.2
        outcomes[case.name] = {"efficiency": saved, "responsiveness": 0.96, "acceptance": 1.0}
    outside = [check.name for check in power_checks.production_checks(outcomes) if check.passed is False]
    assert outside == ["gain of DS2 by that of DS5"]


def test_saving_must_not_cost_efficiency_at_any_size() -> None:
    """Prediction E4: at no size may saving cost efficiency, and no node that goes may let more in."""
    outcomes = {}
    for case in power_cases.cut_down():
        outcomes[case.name] = {
            "acceptance": 0.999 - 0.002 * case.removed,
            "efficiency": 0.8 if case.saves_power else 0.6 + 0.01 * case.removed,
            "responsiveness": 0.97,
        }
    assert not [check.name for check in power_checks.cut_down_checks(outcomes) if check.passed is False]
    last = [case.name for case in power_cases.cut_down() if case.removed == power_cases.MOST_REMOVED]
    for name in last:
        outcomes[name] = {"acceptance": 0.98, "efficiency": 0.8 if "awake" in name else 0.7, "responsiveness": 0.97}
    outside = [check.name for check in power_checks.cut_down_checks(outcomes) if check.passed is False]
    assert outside == ["largest growth of acceptance by removing a node", "least gain by saving"]


def test_the_report_shows_the_difference_in_slowdown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LEASE_SCHEDULER_DATA", raising=False)
    outcomes = {case.name: {"slowdown": 9.0} for case in prediction_durations.cases(extent=Extent.ONCE)}
    outcomes[DurationCase("BLUE1", "requested").name]["slowdown"] = 10.0
    console = Console(record=True, width=160)
    assert (
        prediction_durations.report(outcomes, tmp_path, replications=[Replication(Extent.ONCE)], console=console) == 0
    )
    assert "-10.0%" in console.export_text()
    assert (tmp_path / "runs.csv").exists()
