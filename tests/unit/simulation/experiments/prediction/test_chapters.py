"""The chapters of the paper: their runs, and reports made of figures that are given."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from lease_scheduler.prediction.lifetimes import Threat
from lease_scheduler.simulation.experiments.extent import Extent
from lease_scheduler.simulation.experiments.prediction import (
    power_cases,
    power_checks,
    prediction_3,
    prediction_4,
    prediction_durations,
    tier_cases,
    tier_checks,
)
from lease_scheduler.simulation.experiments.prediction.chapters import PAPER
from lease_scheduler.simulation.experiments.prediction.durations import POLICIES, DurationCase
from lease_scheduler.simulation.experiments.registry import find, names
from lease_scheduler.simulation.experiments.replications import Replication


def test_the_paper_is_listed() -> None:
    assert {"prediction", "prediction-3", "prediction-4", "prediction-durations"} <= set(names())
    assert find("prediction-4")[0] is PAPER


@pytest.mark.parametrize("chapter", [prediction_3, prediction_4, prediction_durations])
@pytest.mark.parametrize("extent", list(Extent))
def test_cases_have_names_of_their_own_and_a_cost(chapter: Any, extent: Extent) -> None:
    cases = chapter.cases(extent=extent)
    assert len({case.name for case in cases}) == len(cases) > 0
    assert all(PAPER.forecast(case) > 0 for case in cases)


def test_without_the_folder_of_logs_generated_workloads_remain(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LEASE_SCHEDULER_DATA", raising=False)
    kinds = {type(case).__name__ for case in prediction_3.cases(extent=Extent.ONCE)}
    assert kinds == {"RegistrationCase", "SweepCase"}
    kinds = {type(case).__name__ for case in prediction_4.cases(extent=Extent.ONCE)}
    assert kinds == {"PromiseCase", "AnatomyCase"}
    assert len(prediction_durations.cases(extent=Extent.ONCE)) == len(POLICIES)


def test_a_run_of_a_registration() -> None:
    found = power_cases.RegistrationCase("exponential", True, 3).run()
    assert found["uptime"][0] > found["uptime"][5] > 0.3
    assert len(found["utilisation"]) == 6


def test_a_short_sweep() -> None:
    """Prediction E5, two days: three nodes are enough for one request in 90 s, and not for one in 7 s."""
    assert power_cases.SweepCase(3, 4.0, days=2).run()["base_efficiency"] == pytest.approx(0.45, abs=0.1)
    assert set(power_cases.SweepCase(3, 1.5, days=1).run()) == {"requests"}


def test_checks_of_promises() -> None:
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


def test_checks_of_the_anatomy() -> None:
    good = {
        "counts": [1, 2, 9, 3],
        "seconds_0.01": [900] * 20,
        "seconds_0.05": [1500] * 20,
        "seconds_0.25": [3200] * 20,
    }
    bad = {**good, "seconds_0.05": [800] * 20}
    outcomes = {
        tier_cases.AnatomyCase(Threat.OLDER).name: good,
        tier_cases.AnatomyCase(Threat.ALL).name: bad,
    }
    outside = [check.name for check in tier_checks.anatomy_checks(outcomes) if not check.passed]
    assert outside == ["threat all: least distance of quantiles, s"]


def test_checks_of_recorded_clouds() -> None:
    outcomes = {}
    for case in power_cases.production():
        outcomes[case.name] = {
            "efficiency": 0.4 if case.saves_power else 0.2,
            "responsiveness": 0.96,
            "acceptance": 1.0,
        }
    outside = [check.name for check in power_checks.production_checks(outcomes) if not check.passed]
    assert outside == ["DS2: gain in efficiency", "DS3: gain in efficiency", "DS5: gain in efficiency"]


def test_the_report_of_durations(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LEASE_SCHEDULER_DATA", raising=False)
    outcomes = {case.name: {"slowdown": 9.0} for case in prediction_durations.cases(extent=Extent.ONCE)}
    outcomes[DurationCase("BLUE1", "requested").name]["slowdown"] = 10.0
    console = Console(record=True, width=160)
    assert (
        prediction_durations.report(outcomes, tmp_path, replications=[Replication(Extent.ONCE)], console=console) == 0
    )
    assert "-10.0%" in console.export_text()
    assert (tmp_path / "runs.csv").exists()
