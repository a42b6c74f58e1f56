"""The workload, metrics and checks of chapter 4 of Amini Salehi 2012 (contention E5-E9, F26-F43)."""

from __future__ import annotations

import csv
import io
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from lease_scheduler.model.request_types import RequestType, request_type
from lease_scheduler.papers.checks import Check
from lease_scheduler.papers.contention import cluster_checks, clusters, contention_4
from lease_scheduler.papers.contention.cluster_checks import Results
from lease_scheduler.papers.contention.cluster_sweeps import SWEEPS
from lease_scheduler.papers.contention.clusters import (
    LOCAL_LOADS,
    POLICIES,
    SPEEDS,
    ClusterCase,
    external_workload,
    local_workload,
)
from lease_scheduler.papers.extent import Extent
from lease_scheduler.papers.replications import Replication
from lease_scheduler.simulation.generators.das2 import CLUSTERS


def test_local_requests_need_the_calibrated_share_of_their_cluster() -> None:
    """contention 6.2: loads of .55, .30 and .20 by equations 4.28 to 4.30; a workload has more, see ``mean_nodes``."""
    for nodes, laws in ClusterCase("RR", 1)._local_laws().items():
        assert laws.load(nodes * SPEEDS[nodes]) == pytest.approx(LOCAL_LOADS[nodes])
        workload = local_workload(nodes, laws, SPEEDS[nodes], 1)
        assert workload.site is not None
        assert len(workload.site) == nodes
        for lease in workload.leases:
            assert request_type(lease.request) is RequestType.LOCAL
            assert lease.request.start == lease.request.submitted
            assert lease.request.node_count <= nodes


def test_external_requests_have_a_quarter_of_each_type_and_fit_everywhere() -> None:
    requests = [lease.request for lease in external_workload(ClusterCase("RR", 1).external, 1).leases]

    counts = Counter(request_type(request) for request in requests)
    assert max(counts.values()) - min(counts.values()) <= 1
    assert set(counts) == set(RequestType) - {RequestType.LOCAL}
    assert max(request.node_count for request in requests) <= min(CLUSTERS)
    assert len(requests) == pytest.approx(clusters.SPAN / 6.75, rel=0.1)


def test_all_policies_get_the_same_workload() -> None:
    first, second = (
        [lease.request for lease in external_workload(ClusterCase(policy, 3).external, 3).leases]
        for policy in ("RR", "PAP-RTDP")
    )
    assert first == second


@pytest.fixture(scope="module")
def short_runs() -> dict[str, dict[str, Any]]:
    """Half an hour of a workload with each policy: name of the case -> outcome."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(clusters, "SPAN", 1_800)
        cases = [ClusterCase(policy, 1) for policy in POLICIES]
        return {case.name: case.run() for case in cases}


def _outcome(short_runs: dict[str, dict[str, Any]], policy: str) -> dict[str, Any]:
    return short_runs[ClusterCase(policy, 1).name]


def test_preemption_aware_allocation_keeps_away_from_the_cluster_with_most_local_requests(
    short_runs: dict[str, dict[str, Any]],
) -> None:
    """contention F29 to F31: the smallest cluster, more than half of which local requests take, gets nothing."""
    found = _outcome(short_runs, "PAP-RND")
    assert found["shares"]["64"] == 0
    assert {cluster for _, cluster, _ in found["sent"]} == {"128", "256"}
    assert sum(count for _, _, count in found["sent"]) == found["external"]


def test_shares_by_size_count_speed(short_runs: dict[str, dict[str, Any]]) -> None:
    """contention F37: 64 nodes of 2,000 MIPS, 128 of 3,000 and 256 of 2,100."""
    whole = 64 * 2.0 + 128 * 3.0 + 256 * 2.1
    assert _outcome(short_runs, "BCF-RND")["shares"] == pytest.approx(
        {"64": 128 / whole, "128": 384 / whole, "256": 537.6 / whole}
    )


def test_dispatch_by_type_gives_each_cluster_its_share_of_each_type(short_runs: dict[str, dict[str, Any]]) -> None:
    """contention E9, in a whole run: within two requests."""
    checks = cluster_checks.dispatch_checks(Results(short_runs, (1,)))
    assert [check.passed for check in checks] == [True] * len(checks)
    assert checks[0].mean > 0


def test_turns_and_no_second_try(short_runs: dict[str, dict[str, Any]]) -> None:
    found = _outcome(short_runs, "RR")
    counts = Counter[str]()
    for _, cluster, count in found["sent"]:
        counts[cluster] += count
    assert max(counts.values()) - min(counts.values()) <= 1
    assert found["asked_more_than_once"] == 0


def test_a_gateway_that_tries_other_clusters_refuses_less() -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(clusters, "SPAN", 1_800)
        once, again = (ClusterCase("LRF-RND", 1, duration=6.5, reroutes=each).run() for each in (False, True))
    assert once["external_rejected_percent"] > again["external_rejected_percent"]
    assert again["asked_more_than_once"] > 0


def _figures(preempted: float, response: float, **others: Any) -> dict[str, Any]:
    return {
        "vm_preemptions": preempted,
        "awrt_s": response,
        "awrt_of_all_s": response,
        "response_s": response / 10,
        "utilisation_percent": 90.0,
        "fixed_rejected_percent": 2.0,
        "local_rejected_percent": 5.0,
        "sent": [["cancellable", "64", 500], ["cancellable", "128", 500]],
        "shares": {"64": 0.5, "128": 0.5},
        **others,
    }


def _invented(extent: Extent, aware: float) -> dict[str, dict[str, Any]]:
    """Return outcomes in which preemptions rise with the load; those of PAP are a multiple of the others."""
    found = {}
    for case in contention_4.cases(extent=extent):
        assert isinstance(case, ClusterCase)
        load = case.medium * case.duration * case.local_rate / (case.gap or 6)
        factor = aware if case.policy.startswith("PAP") else 1.0
        preempted = factor * (1_000 + 100 * load + (case.number * 37) % 11)
        found[case.name] = _figures(preempted, 3 * preempted)
    return found


def _missed(checks: list[Check]) -> list[str]:
    return [check.name for check in checks if check.passed is False]


def test_the_hard_checks_tell_fewer_preemptions_from_more() -> None:
    usual = range(8)
    assert _missed(cluster_checks.hard_checks(Results(_invented(Extent.QUICK, 0.5), usual))) == []
    more = _missed(cluster_checks.hard_checks(Results(_invented(Extent.QUICK, 1.2), usual)))
    assert len(more) == 8
    assert not any(name.endswith(", p") for name in more)


def test_a_difference_by_chance_is_no_pass() -> None:
    outcomes = {
        ClusterCase(policy, number).name: _figures(1_000 + 100 * (number % 3) * (1 if policy == "LRF-RND" else -1), 10)
        for policy in POLICIES
        for number in range(8)
    }
    missed = _missed(cluster_checks.hard_checks(Results(outcomes, range(8))))
    assert "preempted VMs, BCF-RND - PAP-RND, p" in missed


def test_wrong_shares_fail_the_checks() -> None:
    outcomes = _invented(Extent.QUICK, 0.5)
    skewed = {"sent": [["cancellable", "64", 560], ["cancellable", "128", 440]], "shares": {"64": 0.5, "128": 0.5}}
    wrong = {name: {**found, **skewed} for name, found in outcomes.items()}
    missed = _missed(cluster_checks.dispatch_checks(Results(wrong, range(8))))
    assert missed[0].startswith("PAP-RTDP, largest distance")
    assert len(missed) == 4


def test_the_whole_report_has_sweeps_and_figures(tmp_path: Path) -> None:
    outcomes, console = _invented(Extent.ONCE, 0.5), Console(file=io.StringIO())
    outside = contention_4.report(outcomes, tmp_path, replications=[Replication(Extent.ONCE)], console=console)

    with (tmp_path / "checks.csv").open() as stream:
        rows = {row["check"]: row for row in csv.DictReader(stream)}
    assert outside == sum(row["result"] == "MISS" for row in rows.values())
    for letter in SWEEPS:
        assert rows[f"({letter}) preempted VMs of PAP-RTDP rise, rho"]["result"] == "pass"
        assert rows[f"({letter}) effect of the policy, p"]["result"] == "pass"
    assert rows["correlation of response time and preempted VMs"]["ours"] == "1"
    for name in ("usual-load", "fig-4.3-preemptions", "fig-4.5-response"):
        assert (tmp_path / f"{name}.png").exists()


def test_the_whole_set_has_64_workloads_and_a_first_look_fewer() -> None:
    numbers = {
        extent: {case.number for case in contention_4.cases(extent=extent) if isinstance(case, ClusterCase)}
        for extent in Extent
    }
    assert numbers[Extent.REPEATED] == set(range(64))
    assert numbers[Extent.QUICK] < numbers[Extent.ONCE] < numbers[Extent.REPEATED]
    names = [case.name for case in contention_4.cases(extent=Extent.REPEATED)]
    assert len(names) == len(set(names))
