from __future__ import annotations

from lease_scheduler.guest.controllers.adaptive import Adaptive
from lease_scheduler.guest.values import Ask, End, Extend, Holding, Job, Limits

_LIMITS = Limits(nodes=5, term=960, lookahead=60)


def _node(name: str, *, free: int = 0, busy: int = 0, end: int | None = 960, is_leaving: bool = False) -> Holding:
    return Holding(name, 1, free, busy, 960, 960, end, is_leaving=is_leaving)


def test_need_is_the_backlog_without_the_nodes_that_are_free() -> None:
    """Shirako A43: need = backlog - idle, where nodes that are being set up are idle."""
    jobs = [Job("1", 2), Job("2", 1)]
    holdings = [_node("busy", busy=1), _node("waits", free=1, end=None)]
    assert Adaptive(_LIMITS).decide(jobs, holdings, 0) == [Ask(1, 960), Ask(1, 960)]


def test_the_limit_counts_all_leases_also_those_that_leave() -> None:
    holdings = [_node("busy", busy=1), _node("leaving", free=1, is_leaving=True)]
    assert Adaptive(_LIMITS).decide([Job("1", 9)], holdings, 0) == [Ask(1, 960)] * 3


def test_a_lease_without_demand_is_ended_and_one_with_a_job_extended() -> None:
    """Shirako P33: a node with a job extends its lease."""
    holdings = [_node("idle", free=1), _node("joined"), _node("busy", busy=1)]
    assert Adaptive(_LIMITS).decide([], holdings, 930) == [Extend("busy", 1_920), End("idle")]


def test_leases_that_wait_are_given_up_before_those_that_run() -> None:
    holdings = [_node("waits", free=1, end=None), _node("runs", free=1)]
    assert Adaptive(_LIMITS).decide([Job("1", 1)], holdings, 0) == [End("waits")]
