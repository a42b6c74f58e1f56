"""Comparisons with chapters 6 and 7 (haizea E3, E5); ``lease-sim experiment`` does the runs themselves."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from lease_scheduler.papers.extent import Extent
from lease_scheduler.papers.haizea import haizea_6, haizea_7, image_checks, suspension_checks
from lease_scheduler.papers.haizea.image_transfers import ImageCase
from lease_scheduler.papers.haizea.suspension_parameters import CORES, CORES_PER_HOST, SuspensionCase
from lease_scheduler.papers.replications import Replication
from lease_scheduler.plan.options import Exclusion
from lease_scheduler.simulation.campaigns.case import Case, Outcome


def _like_the_dissertation(case: Case) -> Outcome:
    """Return outcomes within every band: longer transfers and less reuse mean longer waits."""
    outcome: dict[str, Any] = {
        "all_best_effort_s": 2_600_000,
        "mean_wait_s": 10_000.0,
        "mean_slowdown": 40.0,
        "late_reservations": 0,
    }
    if isinstance(case, ImageCase):
        factor = {"VM-MULT": 2.0, "VM-REUSE-UNIFORM": 1.2, "VM-REUSE-SKEWED": 1.1}[case.configuration]
        outcome["image_transfers"] = round(2000 * factor)
        if case.bandwidth == 100:
            outcome["mean_wait_s"] *= factor
            outcome["mean_slowdown"] *= factor
    elif isinstance(case, SuspensionCase) and case.exclusion is not None:
        load = {None: 0.0, "U10_Nmedium_D4h": 0.005, "U20_Nmedium_D3h": 0.02, "U30_Nmedium_D2h": 0.05}
        weight = 1 if case.exclusion is Exclusion.LOCAL else 1 + case.memory_mb / 4096
        slow = 2.5 if case.bandwidth == 100 else 1.0
        cost = 0.01 if case.exclusion is Exclusion.LOCAL else load[case.reservations]
        outcome["all_best_effort_s"] *= 1 + cost * weight * slow
    return outcome


@pytest.mark.parametrize("extent", Extent)
def test_the_figures_of_the_dissertation_pass(extent: Extent, tmp_path: Path) -> None:
    """Every band is checked: both experiments print, write and draw their results."""

    for experiment, pictures in ((haizea_6, {"table-6.1-wait.png", "table-6.1-slowdown.png"}), (haizea_7, set[str]())):
        directory = tmp_path / experiment.__name__
        directory.mkdir()
        outcomes = {case.name: _like_the_dissertation(case) for case in experiment.cases(extent=extent)}

        outside = experiment.report(
            outcomes, directory, replications=[Replication(extent)], console=Console(quiet=True)
        )

        report = (directory / "report.txt").read_text()
        assert outside == 0, report
        assert {path.name for path in directory.iterdir()} >= {"report.txt", "checks.csv", "runs.csv", *pictures}


def test_a_late_reservation_and_a_wrong_order_fail_the_checks() -> None:
    cases = image_checks.cases((1,))
    outcomes = {case.name: _like_the_dissertation(case) for case in cases}
    late = next(case for case in cases if isinstance(case, ImageCase))
    outcomes[late.name]["late_reservations"] = 1
    slow = ImageCase("U20_Nmedium_D3h", 1, "VM-REUSE-SKEWED", 100)
    outcomes[slow.name]["mean_wait_s"] = 90_000.0

    judged = [*image_checks.ratio_checks(outcomes, (1,)), *image_checks.promise_checks(outcomes, (1,))]
    assert sorted(check.name for check in judged if check.passed is False) == [
        "T10: reservations that start late for their image",
        "T20: mean wait, 1000 s of VM-REUSE-SKEWED-BW100 over VM-REUSE-UNIFORM-BW100",
    ]


def test_the_grid_of_chapter_7_has_128_runs_and_four_baselines() -> None:
    """haizea 5.5."""
    cases = suspension_checks.grid_cases()
    assert len(cases) == len({case.name for case in cases}) == 128 + 4
    assert [CORES // cores for cores in CORES_PER_HOST] == [144, 72, 36, 18]
