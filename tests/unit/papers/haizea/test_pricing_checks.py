"""Comparisons with chapter 8 (haizea E6); ``lease-sim experiment haizea-8`` does the runs themselves."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

from lease_scheduler.model.host import Site
from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.lease import LeaseRequest
from lease_scheduler.model.nodes import NodeSet
from lease_scheduler.model.resources import MEMORY_MB, VCPU, Resources
from lease_scheduler.papers.extent import Extent
from lease_scheduler.papers.haizea import deadline_checks, deadlines, haizea_8, pricing_checks, pricing_strategies
from lease_scheduler.papers.haizea.deadlines import MODES, USERS, DeadlineCase, annotated, run_settings
from lease_scheduler.papers.haizea.pricing_strategies import PARTS, PriceCase, RateSweepCase, revenue_shares
from lease_scheduler.papers.replications import Replication
from lease_scheduler.simulation import metrics
from lease_scheduler.simulation.campaigns.case import Case, Outcome
from lease_scheduler.simulation.run import Run
from lease_scheduler.simulation.workload import Workload, WorkloadLease

#: Deadline -> share that MAXIMUM earns; strategy -> users -> share of that, so that the dissertation's claims hold.
_MOST = {"TIGHT": 0.68, "UNIFORM": 0.8, "LOOSE": 0.92}
_EARNED = {
    "ADAPTIVE": {"CHEAP": 0.28, "UNIFORM": 0.55, "RICH": 0.65, "CONSTANT": 0.95},
    "RANDOM": {"CHEAP": 0.25, "UNIFORM": 0.38, "RICH": 0.48, "CONSTANT": 0.06},
    "CONSTANT": {"CHEAP": 0.25, "UNIFORM": 0.2, "RICH": 0.12, "CONSTANT": 1.0},
}
_RATES = {"CHEAP": 0.85, "UNIFORM": 4.94, "RICH": 9.0, "CONSTANT": 1.0}
_UTILISATION = {"BLUE2": 0.42, "DS": 0.25}


def _like_the_dissertation(case: Case) -> Outcome:
    """Return outcomes within every band."""
    if isinstance(case, RateSweepCase):
        curves = {name: [0.2, 0.3] for name in ("earned", "underpriced", "rejected")}
        rate = _RATES[case.users]
        return {"adaptive_rate": rate, "median_rate": rate, "best_rate": 0.8 * rate, "rates": [1.0, 2.0], **curves}
    if isinstance(case, DeadlineCase):
        worth = {f"{users}_{name}": 7.0 * share for users in USERS for name, share in _worth(case.deadline).items()}
        return {"utilisation": _UTILISATION[case.trace] + 0.3 * _MOST[case.deadline], "wall_s": 1.0, **worth}
    assert isinstance(case, PriceCase)
    earned = _EARNED[case.strategy][case.users] * _MOST[case.deadline]
    underpriced = 0.5 * (1 - earned)
    shares = (earned, underpriced, 0.3 * (1 - earned), 0.2 * (1 - earned))
    spread = 0.01 if case.strategy == "ADAPTIVE" else 0.3
    return {
        **dict(zip(PARTS, shares, strict=True)),
        "utilisation": _UTILISATION[case.trace] + spread * (_MOST[case.deadline] - 0.8),
        "final_rate": _RATES[case.users],
        "wall_s": 1.0,
    }


def _worth(deadline: str) -> dict[str, float]:
    return {"all": 1.0, "done": _MOST[deadline], "rejected": 1 - _MOST[deadline]}


@pytest.mark.parametrize("extent", Extent)
def test_the_figures_of_the_dissertation_pass(extent: Extent, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every band is checked; the results are printed, written and drawn."""
    monkeypatch.setenv("LEASE_SCHEDULER_DATA", str(tmp_path))
    outcomes = {case.name: _like_the_dissertation(case) for case in haizea_8.cases(extent=extent)}

    outside = haizea_8.report(outcomes, tmp_path, replications=[Replication(extent)], console=Console(quiet=True))

    assert outside == 0, (tmp_path / "report.txt").read_text()
    figures = {f"fig-{name}.png" for name in ("8.1-blue2", "8.2-ds", "8.3-blue2", "8.4-ds", "8.5-blue2", "8.5-ds")}
    assert {path.name for path in tmp_path.iterdir()} >= {"report.txt", "checks.csv", "runs.csv", *figures}


def test_figures_outside_their_bands_fail_the_checks() -> None:
    cases = pricing_checks.cases((1,))
    outcomes = {case.name: _like_the_dissertation(case) for case in cases}
    outcomes[PriceCase("DS", "EARLY", "LOOSE", "RICH", "ADAPTIVE", 1).name].update(
        {"earned": 0.2, "not schedulable": 0.0, "utilisation": 0.6, "final_rate": 11.0}
    )

    judged = [
        check
        for checks in (
            pricing_checks.ratio_checks,
            pricing_checks.order_checks,
            pricing_checks.rate_checks,
            pricing_checks.utilisation_checks,
        )
        for check in checks(outcomes, (1,))
    ]
    judged += pricing_checks.sum_checks(outcomes, cases)

    assert [check.name for check in judged if check.passed is False] == [
        "DS LOOSE, RICH users: ADAPTIVE over MAXIMUM",
        "DS EARLY/LOOSE, RICH users: earned by ADAPTIVE beyond RANDOM",
        "DS LOOSE, RICH users: final rate",
        "DS LOOSE, RICH users, ADAPTIVE: utilisation",
        "DS: spread of utilisation of RANDOM beyond ADAPTIVE's",
        "DS: spread of utilisation of CONSTANT beyond ADAPTIVE's",
        "DS: spread of utilisation of MAXIMUM beyond ADAPTIVE's",
        "largest difference of the four parts' sum from 1, 90 results",
    ]


def test_strategies_that_do_not_differ_fail_the_checks_of_their_order() -> None:
    cases = pricing_checks.cases((1,))
    outcomes = {case.name: _like_the_dissertation(case) for case in cases}
    for case in cases:
        if isinstance(case, PriceCase):
            outcomes[case.name].update(dict.fromkeys(PARTS, 0.25))

    assert all(check.passed is False for check in pricing_checks.order_checks(outcomes, (1,)))


def test_the_dissertation_s_648_results_share_their_runs() -> None:
    """haizea 5.6, 9.5: nine profiles, 36 annotations, two traces; 54 runs are those of chapter 5."""
    grid = pricing_checks.grid_cases()
    shared = [case for case in grid if isinstance(case, DeadlineCase)]
    of_chapter_5 = {case.name for case in deadline_checks.cases(1)}

    assert len({case.name for case in grid}) == len(grid)
    # MAXIMUM has one run for all users, which is also that of CONSTANT for users who would all pay its rate.
    assert len(shared) * len(USERS) + len(grid) - len(shared) + 2 * 9 * 2 == 648
    assert len(shared) == 54
    assert {case.name for case in shared} <= of_chapter_5


def _made_up(_: str, count: int = 60) -> Workload:
    """Return a made-up week on eight hosts for six users."""
    numbers = random.Random(8)
    one_core = Resources({VCPU: 100, MEMORY_MB: 1024})
    leases = []
    for number in range(count):
        duration = numbers.randrange(1, 24) * 3_600
        request = LeaseRequest(
            lease_id=str(number),
            kind=LeaseKind.BEST_EFFORT,
            submitted=number * 604_800 // count,
            nodes=(NodeSet(numbers.randrange(1, 9), one_core),),
            duration=duration,
            preemptible=True,
            user=f"user-{numbers.randrange(6)}",
        )
        leases.append(WorkloadLease(request, duration // numbers.randrange(1, 4)))
    return Workload("made up", tuple(leases), Site.homogeneous(8, one_core))


@pytest.mark.parametrize("mode", MODES)
def test_a_run_without_prices_shows_what_maximum_earns(mode: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """haizea F79: MAXIMUM is never rejected, so the schedule is the same for all users."""
    monkeypatch.setattr(deadlines, "read_trace", _made_up)
    case = DeadlineCase("BLUE2", "EARLY", "UNIFORM", mode, 1)
    outcomes = {case.name: case.run()}

    for users in USERS:
        workload = annotated(_made_up("BLUE2"), case.start, case.deadline, case.seed, users)
        result = Run(workload, run_settings(mode).with_policies(pricing="maximum")).execute()
        revenue = metrics.revenue(result.leases)
        assert revenue is not None
        total = revenue.earned + revenue.missed
        expected = (revenue.earned, revenue.undercharged, revenue.rejected_by_user, revenue.rejected)
        assert revenue.rejected > 0, "or the workload is too small to tell anything"
        found = list(revenue_shares(outcomes, case, users).values())
        assert found == pytest.approx([part / total for part in expected], abs=1e-9)
    workload = annotated(_made_up("BLUE2"), case.start, case.deadline, case.seed, "CONSTANT")
    constant = Run(workload, run_settings(mode).with_policies(pricing="constant")).execute()
    at_most = Run(workload, run_settings(mode).with_policies(pricing="maximum")).execute()
    assert constant.leases == at_most.leases, "1.00 is what they would all just pay"


def test_the_experiment_runs_on_a_small_workload(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """haizea E6, F77-F82, F89: every run, sum and sweep; only the bands belong to other workloads."""
    for module in (deadlines, pricing_strategies):
        monkeypatch.setattr(module, "read_trace", lambda name: _made_up(name, 20))
    monkeypatch.setenv("LEASE_SCHEDULER_DATA", str(tmp_path))
    cases = haizea_8.cases(extent=Extent.QUICK)
    outcomes = {case.name: case.run() for case in cases}

    haizea_8.report(outcomes, tmp_path, replications=[Replication(Extent.QUICK)], console=Console(width=160))

    assert "Figures 8.3 and 8.4: rates" in capsys.readouterr().out
    assert all(check.passed for check in pricing_checks.sum_checks(outcomes, pricing_checks.cases((1,))))
    for case in cases:
        if isinstance(case, RateSweepCase):
            parts = [np.array(outcomes[case.name][part]) for part in ("earned", "underpriced", "rejected")]
            assert sum(parts) == pytest.approx(1, abs=1e-5)
        elif isinstance(case, PriceCase):
            shares = revenue_shares(outcomes, case, case.users)
            assert min(shares.values()) >= -1e-12
            if case.strategy == "ADAPTIVE":
                assert 0.05 < outcomes[case.name]["final_rate"] < 15.01


def test_without_the_folder_of_logs_the_report_says_that_everything_is_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("LEASE_SCHEDULER_DATA", raising=False)

    assert haizea_8.cases(extent=Extent.REPEATED) == []
    assert haizea_8.report({}, tmp_path, replications=[Replication(Extent.REPEATED)], console=Console(quiet=True)) == 0

    report = (tmp_path / "report.txt").read_text()
    assert report.startswith("Left out, as LEASE_SCHEDULER_DATA names no folder: everything")
