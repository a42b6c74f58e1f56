"""The chapters of the paper: their runs, and reports made of a small one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from lease_scheduler.simulation.experiments.dfrs import dfrs_4, offline_checks
from lease_scheduler.simulation.experiments.dfrs.chapters import PAPER
from lease_scheduler.simulation.experiments.dfrs.offline_cases import OfflineCase, OptimumCase, instances_of
from lease_scheduler.simulation.experiments.extent import Extent
from lease_scheduler.simulation.experiments.registry import find, names


def test_the_paper_is_listed() -> None:
    assert {"dfrs", "dfrs-4"} <= set(names())
    assert find("dfrs-4")[0] is PAPER


@pytest.mark.parametrize("extent", list(Extent))
def test_cases_have_names_of_their_own_and_a_cost(extent: Extent) -> None:
    cases = dfrs_4.cases(extent=extent)
    assert len({case.name for case in cases}) == len(cases)
    assert all(PAPER.forecast(case) > 0 for case in cases)


def test_the_numbers_of_instances_are_those_of_the_dissertation() -> None:
    """dfrs E1, E7: 72,900 and 1,458."""
    counts = {OfflineCase: 0, OptimumCase: 0}
    for case in dfrs_4.cases(extent=Extent.ONCE):
        assert isinstance(case, OfflineCase | OptimumCase)
        counts[type(case)] += 27 * case.instances
    assert list(counts.values()) == [72_900, 1_458]


@pytest.fixture(scope="module")
def offline() -> dict[str, Any]:
    return OfflineCase(200, 2, 0.25, 1).run()


@pytest.fixture(scope="module")
def small() -> dict[str, Any]:
    return OptimumCase(8, 2, 0.25, 1).run()


def test_a_run_has_a_figure_for_each_instance(offline: dict[str, Any]) -> None:
    """dfrs E5, E8: packing is nearer to the bound than greedy placement."""
    assert len(offline["bound"]) == len(offline["CPSUM"]) == len(offline["GREEDY"]) == 27
    solved = [each for each in zip(offline["CPSUM"], offline["GREEDY"], strict=True) if None not in each]
    assert sum(packed > greedy for packed, greedy in solved) > 20
    assert all(after >= before for before, after in zip(offline["before"], offline["after"], strict=True))
    assert len(offline["pairs"]) == 49


def test_no_two_instances_are_the_same() -> None:
    runs = [OptimumCase(8, 2, sigma, 2) for sigma in (0.25, 0.5)]
    needs = [instance.fluid.tobytes() for run in runs for _, instance, _ in instances_of(run, 4)]
    assert len(set(needs)) == len(needs) == 2 * 27 * 2


def test_a_report_of_small_runs(offline: dict[str, Any], small: dict[str, Any], tmp_path: Path) -> None:
    outcomes = {
        case.name: offline if isinstance(case, OfflineCase) else small for case in dfrs_4.cases(extent=Extent.QUICK)
    }
    with (tmp_path / "console.txt").open("w") as file:
        console = Console(file=file, width=160)
        outside = dfrs_4.report(outcomes, tmp_path, extent=Extent.QUICK, console=console)
    report = (tmp_path / "report.txt").read_text()
    assert outside == report.count("MISS")
    assert "PPSUM-legacy: unsolved (%)" in report and "LPBOUND" in report
    assert (tmp_path / "fig-4.2.png").stat().st_size > 0


def test_figures_of_yields(offline: dict[str, Any]) -> None:
    """dfrs F32, F33: by hand, of four instances."""
    run = OfflineCase(200, 2, 0.25, 1)
    nothing = [None] * 4
    four = dict.fromkeys(offline, nothing) | {
        "guaranteed": [0.0] * 4,
        "slack": [0.1] * 4,
        "bound": [0.5, 0.8, 0.0, None],
        "CPSUM": [0.4, None, 0.0, None],
        "GREEDY": [0.2, 0.4, 0.0, None],
    }
    found = offline_checks.yields([run], {run.name: four})
    assert found.loss("CPSUM") == pytest.approx([0.2, 0])
    assert found.loss("GREEDY", relative=False) == pytest.approx([0.3, 0.4, 0])
    assert found.unsolved("CPSUM") == 25
    assert found.success_over("GREEDY", "CPSUM") == 25 and found.success_over("CPSUM", "GREEDY") == 0
    assert found.gain_over("CPSUM", "GREEDY") == pytest.approx(100)
