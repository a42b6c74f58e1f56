"""Lifetimes on a trace of Azure: single runs on a small trace, and the report."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from rich.console import Console

from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.papers.extent import Extent
from lease_scheduler.papers.prediction import azure_cases, azure_causes, prediction_azure
from lease_scheduler.papers.prediction.azure_cases import (
    AZURE_PROMISES,
    END,
    AzureLivesCase,
    AzureTierCase,
    azure_vms,
    coverage,
    lives,
    two_tiers,
)
from lease_scheduler.papers.prediction.azure_causes import (
    LIVES_CAUSES,
    AzureCauseCase,
    AzureLivesCauseCase,
    Levels,
    Order,
    reordered,
)
from lease_scheduler.papers.prediction.chapters import PAPER
from lease_scheduler.papers.registry import find
from lease_scheduler.papers.replications import Replication
from lease_scheduler.simulation.campaigns.case import CostedCase
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
    vms = azure_vms(AzureOptions())
    regular, preemptible = two_tiers(vms, seed=1)
    assert len(regular) + len(preemptible) == 4 * 484
    assert 800 < len(regular) < 1_140
    sizes = [each.cores for each in regular if each.arrival == regular[0].arrival]
    assert sizes in ([2, 2, 1], [2], [2, 2, 1, 2])
    assert [each.arrival for each in regular] == sorted(each.arrival for each in regular)
    assert two_tiers(vms, seed=2) != (regular, preemptible)


@pytest.mark.usefixtures("trace")
def test_lives_are_those_of_all_vms_or_of_the_first_of_each_batch() -> None:
    vms = azure_vms(AzureOptions(length=600))
    assert len(lives(vms, of_batches=False)) == 4
    assert len(lives(vms, of_batches=True)) == 2


def test_bounds_are_judged_by_lives_that_had_ended() -> None:
    """Prediction A7: lives of 600 s, and from the second day on of 20,000 s; the bound follows later."""
    vms = [(at, 600 if at < 86_400 else 20_000) for at in range(0, 290_000, 300)]
    found = coverage(vms, 0.95)
    assert 0.85 < found["covered"] < 0.95
    # Bounds that reach beyond the end are not judged.
    assert found["told"] < sum(at >= 86_400 for at, _ in vms)
    assert coverage([(at, 600) for at in range(0, 290_000, 300)], 0.5)["covered"] == 1.0


@pytest.mark.usefixtures("trace")
def test_a_cloud_that_is_not_crowded_preempts_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    assert AzureLivesCase(0.5, True).run()["covered"] >= 0.5
    monkeypatch.setattr(azure_cases, "CLOUDS", {"one": (1, 1.0)})
    free, assured = (AzureTierCase("one", promise).run() for promise in (None, 0.05))
    assert free["preempted"] == assured["preempted"] == 0.0
    assert free["admitted"] == 1.0
    assert 0.2 < free["utilisation"] < 0.9


def test_without_the_folder_of_logs_nothing_is_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LEASE_SCHEDULER_DATA", raising=False)
    assert prediction_azure.cases(extent=Extent.ONCE) == []
    assert (
        prediction_azure.report({}, tmp_path, replications=[Replication(Extent.ONCE)], console=Console(record=True))
        == 0
    )
    with pytest.raises(InvalidValueError, match="LEASE_SCHEDULER_DATA"):
        AzureLivesCase(0.5, True).run()


@pytest.mark.usefixtures("trace")
@pytest.mark.parametrize("extent", list(Extent))
def test_broken_bounds_and_promises_fail_the_checks(tmp_path: Path, extent: Extent) -> None:
    """Bounds that hold too seldom and promises that are broken are outside; no promise has no band."""
    cases = prediction_azure.cases(extent=extent)
    assert len({case.name for case in cases}) == len(cases)
    assert all(isinstance(case, CostedCase) and case.cost_s > 0 for case in cases)
    bound = {"covered": 0.8, "told": 10, "tightness": 2.0, "held": 0.8, "unknown": 0.03, "all": 12}
    tier = {"preempted": 0.07, "admitted": 0.5, "utilisation": 0.4, "admissions": 100, "incidents": 2}
    tier["samples_per_level"] = 3
    of_lives = (AzureLivesCase, AzureLivesCauseCase)
    outcomes = {case.name: bound if isinstance(case, of_lives) else tier for case in cases}
    console = Console(record=True, width=160)
    # With levels of slots and pooled ones, on two clouds.
    broken = sum(promise is not None and promise < 0.07 for promise in AZURE_PROMISES) * 4
    causes = len(LIVES_CAUSES) + len(Order) * 2 + 1
    assert (
        prediction_azure.report(outcomes, tmp_path, replications=[Replication(extent)], console=console)
        == broken + 2 + causes
    )
    text = console.export_text()
    assert "promise 5%: preempted" in text
    assert "promise 1%, pooled: preempted" in text
    assert "of 3.00% more nobody knows" in text
    assert "50% admitted" in text


@pytest.mark.usefixtures("trace")
def test_other_orders_have_the_same_vms() -> None:
    """Twice each, of which the second time is judged; VMs of a batch stay together unless each has its own instant."""
    vms = azure_vms(AzureOptions(length=6_000))
    assert reordered(vms, Order.RECORDED, 1) == (vms, 86_400, END)
    for order in (Order.AGAIN, Order.BATCHES, Order.VMS):
        found, begin, end = reordered(vms, order, 1)
        assert (begin, end) == (END, 2 * END)
        early, late = found[: len(vms)], found[len(vms) :]
        for half in (early, late):
            assert sorted((vm.batch, vm.cores, vm.seconds) for vm in half) == sorted(
                (vm.batch, vm.cores, vm.seconds) for vm in vms
            )
        assert 0 <= early[0].arrival <= early[-1].arrival < END <= late[0].arrival <= late[-1].arrival < end
        instants = {vm.batch: {each.arrival for each in late if each.batch == vm.batch} for vm in vms}
        assert any(len(each) > 1 for each in instants.values()) is (order is Order.VMS)
        assert ([vm.arrival for vm in late] == [vm.arrival + END for vm in vms]) is (order is Order.AGAIN)
        assert reordered(vms, order, 1)[0] == found


@pytest.mark.usefixtures("trace")
def test_only_crowded_orders_preempt_without_a_promise(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(azure_causes, "CLOUDS", {azure_causes.CLOUD: (1, 1.0)})
    monkeypatch.setattr(azure_causes, "NODES", dict.fromkeys(Order, 1))
    for order in Order:
        found = {each: AzureCauseCase(order, each).run() for each in Levels}
        assert found[Levels.NO_PROMISE]["samples_per_level"] == 0
        is_crowded = order in (Order.BATCHES, Order.VMS)
        for what in ("preempted", "incidents"):
            assert (found[Levels.NO_PROMISE][what] > 0) is is_crowded
        assert found[Levels.SLOTS]["samples_per_level"] > 0
        assert found[Levels.BOUND]["admitted"] <= found[Levels.POOLED]["admitted"] <= found[Levels.SLOTS]["admitted"]
    # All lives are in one bin, so a bound holds whatever the order is.
    assert all(case.run()["held"] >= 0.95 for case in LIVES_CAUSES)


def test_a_bound_holds_more_often_when_lives_are_learnt_at_once() -> None:
    """Lives of 600 s, and of 100,000 s for every fourth VM from the second day on."""
    vms = [(at, 100_000 if at > 86_400 and at % 1_200 == 0 else 600) for at in range(0, 290_000, 300)]
    found = coverage(vms, 0.95)
    assert found["held"] < 1 - found["unknown"] < 1
    # Those that ran at the end of the trace have been learnt too late, or never.
    at_once = coverage(vms, 0.95, learns_at_once=True, detects_changes=False)
    assert at_once["held"] + at_once["unknown"] > 0.98 > found["held"] + found["unknown"]
