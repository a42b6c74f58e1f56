"""The run of the prototype through the whole engine (contention E14, E15; Amini Salehi 2012, table 7.2)."""

from __future__ import annotations

import pytest

from lease_scheduler.papers.contention.prototype import POLICIES, PrototypeCase, figures, run_settings, workload
from lease_scheduler.simulation.run import Run


@pytest.mark.parametrize(
    ("policy", "preempted", "overhead"), [("MLIP", "1 6", 57.6), ("MOV", "2 3 5", 25.6), ("MOML", "5 6", 25.6)]
)
def test_table_7_2(policy: str, preempted: str, overhead: float) -> None:
    found = PrototypeCase(policy).run()
    assert (found["preempted"], found["overhead_s"]) == (preempted, overhead)
    assert (found["rejected"], found["local_delay_s"], found["runs_lost"]) == ("", 0, 0)


def test_without_preemption_only_the_local_request_is_rejected() -> None:
    found = PrototypeCase("NOP").run()
    assert (found["rejected"], found["preempted"], found["overhead_s"]) == ("7", "", 0)


def test_makespans() -> None:
    """contention E15: 7,800 s within 1 % for MLIP and MOML, longer for MOV, shorter without preemption."""
    makespan = {policy: PrototypeCase(policy).run()["makespan_s"] for policy in POLICIES}
    assert makespan["MLIP"] == makespan["MOML"] == pytest.approx(7800, rel=0.01)
    assert makespan["MOV"] > makespan["MOML"] > makespan["NOP"]


@pytest.mark.parametrize(("policy", "preempted"), [("mov", "5 6"), ("mlip", "1 6")])
def test_sets_in_place_of_orders(policy: str, preempted: str) -> None:
    """contention 9.1: of the two cheapest sets, MOV takes the one with fewer leases."""
    assert figures(Run(workload(), run_settings(policy)).execute())["preempted"] == preempted
