"""Lifetimes on a trace of Azure: single runs on a small trace, and the report."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from rich.console import Console

from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.simulation.experiments.extent import Extent
from lease_scheduler.simulation.experiments.prediction import azure_cases, prediction_azure
from lease_scheduler.simulation.experiments.prediction.azure_cases import (
    AZURE_PROMISES,
    AzureLivesCase,
    AzureTierCase,
    azure_leases,
    coverage,
    lives,
    two_tiers,
)
from lease_scheduler.simulation.experiments.prediction.chapters import PAPER
from lease_scheduler.simulation.experiments.registry import find
from lease_scheduler.simulation.formats.azure import AzureOptions


@pytest.fixture(name="trace")
def _trace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two batches of an hour each ten minutes, of three VMs and of one."""
    folder = tmp_path / "azure-v1"
    folder.mkdir()
    lines = range(0, 290_000, 600)
    for name, tokens in (("v1.dev.txt.gz", "g,g,b,|,g,|,"), ("v1.dev.c300000.txt.gz", "U1,U1,U1,|,U1,|,")):
        (folder / name).write_bytes(gzip.compress("".join(f"{at} {tokens}\n" for at in lines).encode()))
    (folder / "flav_map.txt").write_text("1,1.75 b\n2,3.5 g\n")
    (folder / "v1.interval_map.txt").write_text("3600 1\n")
    monkeypatch.setenv("LEASE_SCHEDULER_DATA", str(tmp_path))


def test_the_experiment_is_listed() -> None:
    assert find("prediction-azure") == (PAPER, {"prediction-azure": prediction_azure})


@pytest.mark.usefixtures("trace")
def test_vms_of_a_batch_are_of_one_tier() -> None:
    leases = azure_leases(AzureOptions())
    regular, preemptible = two_tiers(leases, seed=1)
    assert len(regular) + len(preemptible) == 4 * 484
    assert 800 < len(regular) < 1_140
    sizes = [each.cores for each in regular if each.arrival == regular[0].arrival]
    assert sizes in ([2, 2, 1], [2], [2, 2, 1, 2])
    assert [each.arrival for each in regular] == sorted(each.arrival for each in regular)
    assert two_tiers(leases, seed=2) != (regular, preemptible)


@pytest.mark.usefixtures("trace")
def test_all_vms_or_the_first_of_each_batch() -> None:
    leases = azure_leases(AzureOptions(length=600))
    assert len(lives(leases, of_batches=False)) == 4
    assert len(lives(leases, of_batches=True)) == 2


def test_bounds_are_judged_by_what_had_ended() -> None:
    """Prediction A7: lives of 600 s, and from the second day on of 20,000 s; the bound follows later."""
    vms = [(at, 600 if at < 86_400 else 20_000) for at in range(0, 290_000, 300)]
    found = coverage(vms, 0.95)
    assert 0.85 < found["covered"] < 0.95
    # Bounds that reach beyond the end are not judged.
    assert found["told"] < sum(at >= 86_400 for at, _ in vms)
    assert coverage([(at, 600) for at in range(0, 290_000, 300)], 0.5)["covered"] == 1.0


@pytest.mark.usefixtures("trace")
def test_single_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    assert AzureLivesCase(0.5, True).run()["covered"] >= 0.5
    monkeypatch.setattr(azure_cases, "CLOUDS", {"one": (1, 1.0)})
    free, assured = (AzureTierCase("one", promise).run() for promise in (None, 0.05))
    assert free["preempted"] == assured["preempted"] == 0.0
    assert free["admitted"] == 1.0
    assert 0.2 < free["utilisation"] < 0.9


def test_without_the_folder_of_logs_nothing_is_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LEASE_SCHEDULER_DATA", raising=False)
    assert prediction_azure.cases(extent=Extent.ONCE) == []
    assert prediction_azure.report({}, tmp_path, extent=Extent.ONCE, console=Console(record=True)) == 0
    with pytest.raises(InvalidValueError, match="LEASE_SCHEDULER_DATA"):
        AzureLivesCase(0.5, True).run()


@pytest.mark.usefixtures("trace")
@pytest.mark.parametrize("extent", list(Extent))
def test_the_report(tmp_path: Path, extent: Extent) -> None:
    """Bounds that hold too seldom and promises that are broken are outside; no promise has no band."""
    cases = prediction_azure.cases(extent=extent)
    assert len({case.name for case in cases}) == len(cases)
    assert all(PAPER.forecast(case) > 0 for case in cases)
    bound = {"covered": 0.8, "told": 10, "tightness": 2.0}
    tier = {"preempted": 0.07, "admitted": 0.5, "utilisation": 0.4, "admissions": 100}
    outcomes = {case.name: bound if isinstance(case, AzureLivesCase) else tier for case in cases}
    console = Console(record=True, width=160)
    broken = sum(promise is not None and promise < 0.07 for promise in AZURE_PROMISES) * 2
    assert prediction_azure.report(outcomes, tmp_path, extent=extent, console=console) == broken + 2
    assert "promise 5%: preempted" in console.export_text()
