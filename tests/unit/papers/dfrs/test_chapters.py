"""The chapters of the paper: their runs, and reports made of a small one."""

from __future__ import annotations

import gzip
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from rich.console import Console

from lease_scheduler.fractional.online.names import NAMES
from lease_scheduler.papers.dfrs import (
    azure_hosts,
    dfrs_4,
    dfrs_5,
    dfrs_6,
    dfrs_consolidation,
    dfrs_hosts,
    offline_checks,
    online_checks,
)
from lease_scheduler.papers.dfrs.azure_hosts import SHAPES, AzureHostsCase
from lease_scheduler.papers.dfrs.chapters import CHAPTERS, FURTHER, PAPER
from lease_scheduler.papers.dfrs.consolidation import CLOUDS, POLICIES, ConsolidationCase
from lease_scheduler.papers.dfrs.offline_cases import OfflineCase, OptimumCase, instances_of
from lease_scheduler.papers.dfrs.online_cases import BATCH, OnlineCase
from lease_scheduler.papers.dfrs.published import COST, DEGRADATION
from lease_scheduler.papers.extent import Extent
from lease_scheduler.papers.registry import find, names
from lease_scheduler.papers.replications import Replication
from lease_scheduler.simulation.campaigns.case import CostedCase


def test_the_paper_is_listed() -> None:
    assert {"dfrs", "dfrs-4", "dfrs-5", "dfrs-6", "dfrs-hosts", "dfrs-consolidation"} <= set(names())
    assert find("dfrs-4")[0] is PAPER


@pytest.mark.parametrize("extent", list(Extent))
def test_cases_have_unique_names_and_a_cost(extent: Extent) -> None:
    cases = [case for chapter in (*CHAPTERS.values(), *FURTHER.values()) for case in chapter.cases(extent=extent)]
    assert len({case.name for case in cases}) == len(cases)
    assert all(isinstance(case, CostedCase) and case.cost_s > 0 for case in cases)


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


def test_the_offline_report_has_its_tables_and_pictures(
    offline: dict[str, Any], small: dict[str, Any], tmp_path: Path
) -> None:
    outcomes = {
        case.name: offline if isinstance(case, OfflineCase) else small for case in dfrs_4.cases(extent=Extent.QUICK)
    }
    with (tmp_path / "console.txt").open("w") as file:
        console = Console(file=file, width=160)
        outside = dfrs_4.report(outcomes, tmp_path, replications=[Replication(Extent.QUICK)], console=console)
    report = (tmp_path / "report.txt").read_text()
    assert outside == report.count("MISS")
    assert "PPSUM-legacy: unsolved (%)" in report and "LPBOUND" in report
    rows = [line.split("|") for line in report.splitlines() if line.startswith("| ")]
    bands = {row[1].strip(): row[5].strip() for row in rows}
    assert bands["P3, P4, P7 above P1, P2, P5, P6 (points)"] == ">= 30"
    assert bands["of the 8 best pairs, among our 8 best"] == ">= 8"
    assert bands["slack 0.1, D = 2: degradation, absolute"] == "0.02..0.08"
    assert bands["slack 0.4: degradation grows with D"] == ">= 0"
    assert (tmp_path / "fig-4.2.png").stat().st_size > 0


def test_figures_of_yields_are_those_computed_by_hand(offline: dict[str, Any]) -> None:
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


def test_the_published_figures_are_those_of_all_algorithms() -> None:
    """dfrs B.1 to B.6: 116 algorithms, and two batch schedulers, which cost nothing."""
    assert set(COST) == set(NAMES)
    assert set(DEGRADATION) == {*NAMES, "FCFS", "EASY"}
    assert DEGRADATION["GreedyPM*/per/OPT=MIN/MVT=600"] == (6.9, 4.8, 6.1)
    assert COST["GreedyPM*/per/OPT=MIN/MVT=600"] == (0.54, 0.26, 33.80, 56.45, 5.11, 6.84)


def test_the_whole_campaign_has_all_algorithms_without_programs(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """dfrs E9: 182 weeks, 100 unscaled and 900 scaled traces; those that need linear programs on 30 traces."""
    monkeypatch.setenv("LEASE_SCHEDULER_DATA", str(tmp_path))
    counts: dict[tuple[str, bool, str], int] = {}
    for case in dfrs_5.cases(extent=Extent.ONCE):
        assert isinstance(case, OnlineCase)
        for row in case.rows:
            key = case.source, case.load is None, row
            counts[key] = counts.get(key, 0) + case.count
    for row in (*BATCH, *NAMES):
        kinds = [("HPC2N", True), ("Lublin", True), ("Lublin", False)]
        assert [counts.get((*kind, row), 0) for kind in kinds] == ([0, 30, 0] if "AVG" in row else [182, 100, 900])


def test_a_run_has_figures_for_each_trace_and_algorithm() -> None:
    """dfrs F57, F59, F60: and whoever moves nothing has no costs."""
    case = OnlineCase("Lublin", 0.9, 3, 1, ("FCFS", "Greedy*/OPT=MIN", "GreedyP*/OPT=MIN"))
    found = case.run()
    assert len(found["bound"]) == len(found["FCFS"]) == 1
    assert found["FCFS"][0][0] > found["GreedyP*/OPT=MIN"][0][0] >= 1
    assert found["FCFS"][0][1:] == found["Greedy*/OPT=MIN"][0][1:] == [0] * 6
    bandwidth, per_hour, per_job = found["GreedyP*/OPT=MIN"][0][1:4]
    assert bandwidth > 0 and per_hour > 0 and per_job > 0 and found["GreedyP*/OPT=MIN"][0][4:] == [0] * 3


@pytest.mark.parametrize("chapter", [dfrs_5, dfrs_6])
def test_the_online_reports_have_their_tables_and_pictures(
    chapter: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """dfrs E10 to E12: with figures that are made up: a degradation of 5, and half as much traffic as period."""
    monkeypatch.setenv("LEASE_SCHEDULER_DATA", str(tmp_path))
    outcomes = {}
    for case in chapter.cases(extent=Extent.QUICK):
        each = [5.0, 600 / case.period, 30.0, 5.0, 300 / case.period, 50.0, 6.0]
        outcomes[case.name] = {"bound": [2.0] * case.count} | {row: [each] * case.count for row in case.rows}
    with (tmp_path / "console.txt").open("w") as file:
        outside = chapter.report(
            outcomes, tmp_path, replications=[Replication(Extent.QUICK)], console=Console(file=file, width=160)
        )
    report = (tmp_path / "report.txt").read_text()
    assert outside == report.count("MISS") > 0
    assert online_checks.BEST in report
    assert len(list(tmp_path.glob("fig-*.png"))) > 0


def test_without_the_folder_of_logs_its_weeks_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LEASE_SCHEDULER_DATA", raising=False)
    sources = {case.source for case in dfrs_5.cases(extent=Extent.ONCE) if isinstance(case, OnlineCase)}
    assert sources == {"Lublin"}
    assert PAPER.inputs() == []


def test_figures_of_costs_are_those_computed_by_hand() -> None:
    """dfrs F57, F59: by hand, of two traces at two periods."""
    cases = [OnlineCase("Lublin", 0.7, 0, 1, (online_checks.BEST,), period) for period in (600, 2100)]
    outcomes = {
        cases[0].name: {online_checks.BEST: [[4.0, 0.3, 1, 1, 0.1, 1, 1]]},
        cases[1].name: {online_checks.BEST: [[6.0, 0.1, 1, 1, 0.05, 1, 1]]},
    }
    degradation, bandwidth = online_checks.by_period(cases, outcomes)
    assert degradation == {600: 4, 2100: 6}
    assert bandwidth == pytest.approx({600: 0.4, 2100: 0.15})
    assert online_checks.by_load(cases, outcomes, online_checks.BEST) == {0.7: 5}


def test_only_algorithms_that_never_map_anew_have_a_low_bound_of_costs() -> None:
    """dfrs E11: the costs of the others may differ from the dissertation by a factor of 2.5."""
    rows = ("GreedyPM*/OPT=MIN", "/stretch-per/OPT=MAX", "MCB*/OPT=MIN/MVT=600", online_checks.BEST)
    case = OnlineCase("Lublin", 0.7, 0, 1, rows)
    outcomes = {case.name: {row: [[5.0, 0.5, 1, 1, 0.25, 1, 1]] for row in rows}}
    checks = {each.name: each for each in online_checks.cost_checks([case], outcomes)}
    bands = {row: (checks[f"{row}: GB/s"].low, checks[f"{row}: GB/s"].high) for row in rows}
    assert bands.pop("GreedyPM*/OPT=MIN") == (None, 0.15)
    for row, band in bands.items():
        published = COST[row][0] + COST[row][1]
        assert band == pytest.approx((published / 2.5, published * 2.5))


def _free_hosts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, vector_fit: float, accepted: float = 1.0
) -> tuple[int, str]:
    monkeypatch.setenv("LEASE_SCHEDULER_DATA", str(tmp_path))
    outcomes = {case.name: {"free_hosts": 30.0, "accepted": 1.0} for case in dfrs_hosts.cases(extent=Extent.ONCE)}
    for shape in SHAPES:
        outcomes[AzureHostsCase(shape, "greedy").name]["free_hosts"] = 0.0
        outcomes[AzureHostsCase(shape, "vector-fit").name] |= {"free_hosts": vector_fit, "accepted": accepted}
    console = Console(record=True, width=160)
    outside = dfrs_hosts.report(outcomes, tmp_path, replications=[Replication(Extent.ONCE)], console=console)
    return outside, console.export_text()


def test_vector_fit_must_leave_more_hosts_free(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With vector-fit, more hosts have to be free than with the others, and as many requests accepted."""
    outside, text = _free_hosts(tmp_path, monkeypatch, 33.0)
    assert outside == 0
    assert "+10.0%, 100.00% accepted" in text
    assert _free_hosts(tmp_path, monkeypatch, 30.0)[0] == len(SHAPES)
    assert _free_hosts(tmp_path, monkeypatch, 33.0, accepted=0.99)[0] == len(SHAPES)


def test_without_the_folder_of_logs_the_comparison_of_hosts_is_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("LEASE_SCHEDULER_DATA", raising=False)
    assert dfrs_hosts.cases(extent=Extent.ONCE) == []
    console = Console(record=True, width=160)
    assert dfrs_hosts.report({}, tmp_path, replications=[Replication(Extent.ONCE)], console=console) == 0
    assert "Left out" in console.export_text()


def test_a_run_of_vms_of_azure_is_measured_after_its_first_day(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is measured begins after a day: packed, four VMs at a time use one of three hosts."""
    folder = tmp_path / "azure-v1"
    folder.mkdir()
    lines = [0, *range(86_400, 259_200, 43_200)]
    (folder / "v1.dev.txt.gz").write_bytes(gzip.compress("".join(f"{at} b,b,|,b,b,|,\n" for at in lines).encode()))
    (folder / "v1.dev.c400000.txt").write_text("".join(f"{at} U1,U1,|,U1,U1,|,\n" for at in lines))
    (folder / "flav_map.txt").write_text("1,1.75 b\n")
    (folder / "v1.interval_map.txt").write_text("86400 1\n")
    monkeypatch.setenv("LEASE_SCHEDULER_DATA", str(tmp_path))
    monkeypatch.setattr(azure_hosts, "SHAPES", {"tiny": azure_hosts.Shape(3, 64, 256, 1.0)})
    packed, spread = (AzureHostsCase("tiny", selection).run() for selection in ("vector-fit", "greedy"))
    assert packed["accepted"] == spread["accepted"] == 1.0
    assert packed["free_hosts"] == pytest.approx(2.0)
    assert spread["free_hosts"] < 1.5


def _consolidated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, **changed: float) -> tuple[int, str]:
    monkeypatch.setenv("LEASE_SCHEDULER_DATA", str(tmp_path))
    outcomes = {
        case.name: {"awake_h": 100.0, "accepted": 0.9, "late": 0, "moved": 0}
        for case in dfrs_consolidation.cases(extent=Extent.ONCE)
    }
    for cloud in CLOUDS:
        for policies in POLICIES:
            if policies[1] != "none":
                outcomes[ConsolidationCase(cloud, *policies).name] |= {"awake_h": 80.0, "moved": 5, **changed}
    console = Console(record=True, width=160)
    outside = dfrs_consolidation.report(outcomes, tmp_path, replications=[Replication(Extent.ONCE)], console=console)
    return outside, console.export_text()


def test_consolidation_must_save_15_percent_of_the_host_hours(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """dfrs: 15 % of the host-hours, with the same acceptance and no reservation late."""
    outside, text = _consolidated(tmp_path, monkeypatch)
    assert outside == 0
    assert "80 h awake, 5 moves" in text
    for changed in ({"awake_h": 86.0}, {"accepted": 0.89}, {"late": 1}):
        assert _consolidated(tmp_path, monkeypatch, **changed)[0] == 4


def test_savings_of_host_selection_do_not_count_as_those_of_moves(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With vector-fit alone 84 hours, and 80 with moves: 20 % less than with greedy, and 5 % by moves."""
    monkeypatch.setenv("LEASE_SCHEDULER_DATA", str(tmp_path))
    hours = {"greedy": (100.0, 80.0), "vector-fit": (84.0, 80.0), "packing": (85.0, 0.0)}
    outcomes = {
        ConsolidationCase(cloud, selection, relocation).name: {
            "awake_h": hours[selection][relocation != "none"],
            "accepted": 1.0,
            "late": 0,
            "moved": 1,
        }
        for cloud in CLOUDS
        for selection, relocation in POLICIES
    }
    console = Console(record=True, width=160)
    replications = [Replication(Extent.ONCE)]
    assert dfrs_consolidation.report(outcomes, tmp_path, replications=replications, console=console) == len(CLOUDS)
    missed = [line.split("|")[1].strip() for line in console.export_text().splitlines() if "MISS" in line]
    assert missed == ["vector-fit, energy-aware: hours saved by moves, against vector-fit"] * len(CLOUDS)


def test_hosts_sleep_longer_where_leases_move_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two small instances run for long on hosts of their own, because a large one left both; a reservation follows."""
    folder = tmp_path / "eucalyptus"
    folder.mkdir()
    events = [(1000, "a", 7, 9_000), (1000, "b", 7, 9_000), (1000, "c", 5, 900_000), (1000, "d", 5, 900_000)]
    events.append((500_000, "e", 12, 600_000))
    lines = [(at, f"START {at} {name} N {cores}") for at, name, cores, _ in events]
    lines += [(end, f"STOP {end} {name}") for _, name, _, end in events]
    text = "".join(f"{line}\n" for _, line in sorted(lines))
    (folder / "DS2-trace.txt.gz").write_bytes(gzip.compress(text.encode()))
    monkeypatch.setenv("LEASE_SCHEDULER_DATA", str(tmp_path))
    apart, together = (ConsolidationCase("DS2", "packing", policy).run() for policy in ("none", "energy-aware"))
    assert (apart["moved"], together["moved"]) == (0, 1)
    assert together["awake_h"] < 0.8 * apart["awake_h"]
    for found in (apart, together):
        assert (found["accepted"], found["late"]) == (1.0, 0)
