"""The workload, energy and checks of chapter 6 of Amini Salehi 2012 (contention E12, E13)."""

from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from rich.console import Console

from lease_scheduler.model.host import Site
from lease_scheduler.model.lease import Lease
from lease_scheduler.model.states import LeaseState
from lease_scheduler.papers.contention import contention_6, energy_checks
from lease_scheduler.papers.contention.sleeping_site import (
    POLICIES,
    EnergyCase,
    Meter,
    energy_workload,
    figures,
    notice,
    run_settings,
)
from lease_scheduler.papers.extent import Extent
from lease_scheduler.papers.replications import Replication
from lease_scheduler.plan.fitting.largest_fit import with_counts
from lease_scheduler.simulation.result import RunResult
from lease_scheduler.simulation.run import Run
from lease_scheduler.simulation.site_run import SiteRun
from lease_scheduler.simulation.workload import Workload, WorkloadLease

_BASE = EnergyCase("SESP")
_SECONDS = 512 * 30 * 86_400


def _parts(case: EnergyCase) -> tuple[list[WorkloadLease], list[WorkloadLease]]:
    leases = energy_workload(case).leases
    local = [each for each in leases if each.request.origin is None]
    return local, [each for each in leases if each.request.origin is not None]


def _share(leases: list[WorkloadLease]) -> float:
    return sum(each.request.node_count * each.request.duration for each in leases) / _SECONDS


@pytest.mark.parametrize(("percent", "count"), [(5, 168), (15, 505), (30, 1_010)])
def test_local_requests_have_the_published_share_and_sizes(percent: int, count: int) -> None:
    """contention 6.4: their number at 3 h and 25 to 48 nodes, and what each of them asks for."""
    case = replace(_BASE, local=percent)
    local, _ = _parts(case)
    assert len(local) == count
    assert _share(local) == pytest.approx(percent / 100, rel=0.05)
    for each in local:
        request = each.request
        assert request.start is not None
        assert request.start - request.submitted == min(request.start, notice(case)) and notice(case) == 181
        assert 25 <= request.node_count <= 48
        assert 2.5 * 3_600 <= request.duration <= 3.5 * 3_600 + 1


def test_the_data_can_be_read_in_three_ways() -> None:
    """contention P16: external requests as recorded or scaled, local ones as a share of the site or of all work."""
    (local, recorded), (_, scaled) = _parts(replace(_BASE, is_scaled=False)), _parts(_BASE)
    assert _share(recorded) == pytest.approx(0.198, abs=0.001)
    assert _share(scaled) == pytest.approx(0.348, abs=0.001)
    of_all, _ = _parts(replace(_BASE, of_all=True))
    assert _share(of_all) == pytest.approx(0.348 * 15 / 85, rel=0.05)
    assert _share(local) == pytest.approx(0.15, rel=0.05)


def test_the_meter_adds_up_the_energy_of_awake_hosts() -> None:
    """contention F68: two of three hosts sleep from 100 s on, one of them until 400 s; the period ends at 300 s."""
    meter = Meter(3, 300)
    for now, sleeping in ((0, 0), (100, 2), (400, 1), (500, 1)):
        site = SimpleNamespace(
            clock=SimpleNamespace(now=lambda now=now: now),
            engine=SimpleNamespace(hosts=SimpleNamespace(sleeping=sleeping)),
        )
        meter(cast(SiteRun, site))
    found = meter.figures()
    assert found["energy_kwh"] == pytest.approx((300 + 200) * 0.117 / 3_600)
    assert found["energy_to_the_end_kwh"] == pytest.approx((300 + 300 + 200) * 0.117 / 3_600)


def test_a_run_ends_even_if_a_request_needs_more_hosts_than_ever_wake() -> None:
    """GESP wakes nothing for requests that wait; one that is never served has waited too long."""
    case = EnergyCase("GESP", hosts=8, days=1)
    local, external = _parts(case)
    # The last one comes when all hosts sleep again.
    chosen = ((local[0], 2, 0), (external[0], 1, 0), (external[1], 8, 43_200))
    asked = [replace(with_counts(each.request, (count,)), submitted=at) for each, count, at in chosen]
    site = Site.homogeneous(8, asked[0].nodes[0].resources)
    workload = Workload("three", tuple(map(WorkloadLease, asked)), site)
    found = figures(Run(workload, run_settings(case)).execute())
    assert (found["end_days"], found["external_not_done"], found["violations_percent"]) == (61, 1, 50)
    assert found["mean_wait_h"] == (61 * 24 - 12) / 2


def test_a_local_request_that_was_accepted_and_never_starts_is_late() -> None:
    external, local = (_parts(EnergyCase("SESP", days=1))[place][0].request for place in (1, 0))
    started = local.start
    leases = [
        Lease(external, 1, LeaseState.DONE, started=0, ended=external.duration),
        Lease(local, 2, LeaseState.DONE, started=started, ended=local.duration),
        Lease(local, 3, LeaseState.DONE, started=(started or 0) + 1, ended=local.duration),
        Lease(local, 4, LeaseState.SCHEDULED),
        Lease(local, 5, LeaseState.REJECTED),
    ]
    found = figures(cast(RunResult, SimpleNamespace(leases=leases, counters={}, end=10, wall_s=0.0)))
    assert (found["local_requests"], found["local_rejected"], found["local_late"]) == (4, 1, 2)


@pytest.fixture(scope="module")
def short_runs() -> dict[str, dict[str, Any]]:
    """A day with each policy."""
    return {policy: EnergyCase(policy, days=1).run() for policy in POLICIES}


def test_hosts_sleep_and_no_local_request_is_late(short_runs: dict[str, dict[str, Any]]) -> None:
    work = sum(map(_share, _parts(EnergyCase("SESP", days=1)))) * _SECONDS * 0.117 / 3_600
    for found in short_runs.values():
        assert found["local_requests"] == 17
        assert (found["local_rejected"], found["local_late"], found["external_not_done"]) == (0, 0, 0)
        assert found["lost_work"] == 0
        assert found["host_wakes"] > 0
        assert found["energy_kwh"] < 512 * 24 * 0.117 / 2
        assert found["energy_to_the_end_kwh"] > work
    assert short_runs["PEMP"]["emptied_hosts"] > 0 == short_runs["SESP"]["emptied_hosts"]
    assert short_runs["PEMP"]["mean_wait_h"] < short_runs["GESP"]["mean_wait_h"]


def test_the_checks_are_able_to_fail(
    short_runs: dict[str, dict[str, Any]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cases = contention_6.cases(extent=Extent.REPEATED)
    outcomes = {case.name: short_runs["SESP"] for case in cases}
    # Policies that do the same save nothing.
    checks = energy_checks.energy_checks(outcomes, _BASE, "ab", (1,))
    assert [check.passed for check in checks] == [False, True, None, False, False, True, None, False]
    late = {name: {**found, "local_late": 1, "lost_work": 2} for name, found in outcomes.items()}
    checks = energy_checks.violation_checks(late, _BASE, "b", (1,))
    assert [check.name for check in checks if check.passed is False] == [
        "(b) violations, GESP / SESP",
        "(b) local requests that are late",
        "(b) external requests that lost work",
    ]
    console = Console(file=io.StringIO())
    assert contention_6.report(outcomes, tmp_path, replications=[Replication(Extent.QUICK)], console=console) == 3
    assert (tmp_path / "fig-6.3-energy-b.png").exists() and (tmp_path / "fig-6.4-violations-b.png").exists()
    # In four sweeps over two readings GESP is as good as SESP in energy and violations, PEMP no better than SESP with
    # short local requests and with many, and there are few violations on 144 hosts; one more sweep has energy only.
    monkeypatch.setattr(contention_6, "plot_lines", lambda *_, **__: None)
    assert contention_6.report(outcomes, tmp_path, replications=[Replication(Extent.REPEATED)], console=console) == 24


def test_each_extent_has_the_runs_of_the_smaller_ones() -> None:
    """contention F70: 72 workloads, each with three policies and four seeds, are among the repetitions."""
    quick, once, repeated = (set(contention_6.cases(extent=extent)) for extent in Extent)
    assert quick < once < repeated
    assert len(quick) == 12
    energy = [case for case in repeated if isinstance(case, EnergyCase)]
    workloads = {replace(case, policy="SESP", seed=1) for case in energy if _is_default(case)}
    assert len(workloads) == 72


def _is_default(case: EnergyCase) -> bool:
    return case == EnergyCase(case.policy, case.local, case.hours, case.size, seed=case.seed)
