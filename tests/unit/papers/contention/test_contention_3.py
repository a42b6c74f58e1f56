"""The workload, metrics and checks of chapter 3 of Amini Salehi 2012 (contention E1-E4)."""

from __future__ import annotations

import io
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from lease_scheduler.model.kinds import LeaseKind, PreemptionMode
from lease_scheduler.papers.contention import contention_3, site_checks
from lease_scheduler.papers.contention.one_site import SiteCase, figures, mixed_workload, run_settings
from lease_scheduler.papers.extent import Extent
from lease_scheduler.papers.replications import Replication
from lease_scheduler.simulation.run import Run
from lease_scheduler.simulation.workload import Workload


def test_the_workload_has_the_mix_of_types_of_the_paper() -> None:
    """contention 5.1: 1,000 local requests, and externals with a share of best-effort ones."""
    workload = mixed_workload(1_000, 0.3, 1)
    requests = [lease.request for lease in workload.leases]
    kinds = Counter((r.kind, r.preemption_mode if r.preemptible else None) for r in requests)
    assert kinds == {
        (LeaseKind.RESERVATION, None): 1_000,
        (LeaseKind.BEST_EFFORT, PreemptionMode.DELETE): 300,
        (LeaseKind.BEST_EFFORT, PreemptionMode.SUSPEND): 300,
        (LeaseKind.DEADLINE, PreemptionMode.MIGRATE): 700,
        (LeaseKind.DEADLINE, None): 700,
    }
    for request in requests:
        assert (request.origin is None) == (request.kind is LeaseKind.RESERVATION)
        if request.deadline is not None:
            assert request.deadline >= request.submitted + 1.1 * request.duration - 1
        if request.start is not None:
            assert request.start == request.submitted


@pytest.fixture(scope="module")
def short_runs() -> dict[str, dict[str, Any]]:
    """The first 400 requests with each policy."""
    whole = mixed_workload(1_000, 0.5, 1)
    part = Workload("part", whole.leases[:400], whole.site)
    return {
        name: figures(Run(part, run_settings(policy)).execute())
        for name, policy in (("NOP", "no-preemption"), ("MOV", "mov"), ("MLIP", "mlip"), ("MOML", "moml"))
    }


def test_preemption_lets_local_requests_in(short_runs: dict[str, dict[str, Any]]) -> None:
    """contention E1, with the gate that nothing suspendable loses work."""
    for policy in ("MOV", "MLIP", "MOML"):
        found = short_runs[policy]
        assert found["local_rejected_percent"] < short_runs["NOP"]["local_rejected_percent"] - 20
        assert found["suspendable_that_lost_work"] == 0
        assert found["lease_preemptions"] >= found["interrupted_runs"] > 0
    assert short_runs["NOP"]["lease_preemptions"] == 0
    assert short_runs["MLIP"]["lease_preemptions"] < short_runs["MOV"]["lease_preemptions"]


def test_the_checks_are_able_to_fail(short_runs: dict[str, dict[str, Any]], tmp_path: Path) -> None:
    """Every point like the first requests: nothing rises with the local share, so three checks miss."""
    cases = contention_3.cases(extent=Extent.ONCE)
    outcomes = {case.name: short_runs[case.policy] for case in cases if isinstance(case, SiteCase)}
    console = Console(file=io.StringIO())
    rising = [c for c in site_checks.preemption_checks(outcomes, (1,), ("c",)) if "rise" in c.name]
    assert [check.passed for check in rising] == [False] * 3
    lost = {name: {**found, "suspendable_that_lost_work": 1} for name, found in outcomes.items()}
    checks = site_checks.preemption_checks(lost, (1,), ("a",))
    assert [check.passed for check in checks if "lost work" in check.name] == [False]
    assert contention_3.report(outcomes, tmp_path, replications=[Replication(Extent.ONCE)], console=console) >= 3
    assert (tmp_path / "fig-3.5-preemptions.png").exists()
