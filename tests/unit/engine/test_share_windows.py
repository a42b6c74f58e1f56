"""Shares of windows over the life of leases: debt is for what was served, and shares agree over time (shirako F100)."""

from __future__ import annotations

import pytest

from lease_scheduler.model.host import Site
from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.lease import LeaseRequest
from lease_scheduler.model.nodes import NodeSet
from lease_scheduler.model.resources import VCPU, Resources
from lease_scheduler.plan.options import PlanningOptions
from lease_scheduler.simulation.run import Run
from lease_scheduler.simulation.settings import RunSettings
from lease_scheduler.simulation.workload import Workload, WorkloadLease

_HOST = Resources({VCPU: 1})


def _lease(name: str, nodes: int, duration: int, at: int = 0, start: int | None = None) -> LeaseRequest:
    """Return a request of the project that its name begins with; one with a start is a reservation."""
    kind = LeaseKind.BEST_EFFORT if start is None else LeaseKind.RESERVATION
    return LeaseRequest(
        name, kind, (NodeSet(nodes, _HOST),), at, duration, start=start, user=name[0], preemptible=start is None
    )


def _starts(hosts: int, *leases: LeaseRequest | WorkloadLease, **options: str) -> dict[str, int | None]:
    """Run leases on a site of these hosts, and return when each one has started."""
    known = tuple(each if isinstance(each, WorkloadLease) else WorkloadLease(each) for each in leases)
    settings = RunSettings(
        policies={"preemption": "ar-preempts-everything", "queueing": "winks"},
        planning=PlanningOptions(backfilling_limit=None),
        flow_weights={"a": 1.0, "b": 1.0},
        policy_options={f"winks_{name}": value for name, value in options.items()},
    )
    result = Run(Workload("test", known, Site.homogeneous(hosts, _HOST)), settings).execute()
    return {lease.lease_id: lease.started for lease in result.leases}


@pytest.mark.parametrize("when_idle", ["strict", "spare"])
def test_a_lease_that_ends_early_gives_back_its_debt(when_idle: str) -> None:
    """shirako A29, P19c: of five windows it has used half of one percent."""
    first = WorkloadLease(_lease("a1", 10, 500), real_duration=5)

    assert _starts(10, first, _lease("a2", 2, 10, at=6), window="100", limit_when_idle=when_idle)["a2"] == 6


@pytest.mark.parametrize("when_idle", ["strict", "spare"])
def test_a_lease_that_loses_its_place_gives_back_its_debt(when_idle: str) -> None:
    """shirako A31: it is queued as if it had never had a place, so the site is not idle when it could start."""
    leases = _lease("b0", 10, 50), _lease("a1", 10, 500, at=1), _lease("c1", 10, 10, at=2, start=50)

    found = _starts(10, *leases, window="100", limit_when_idle=when_idle)

    assert (found["c1"], found["a1"]) == (50, 60)


@pytest.mark.parametrize("debt", ["yes", "no"])
@pytest.mark.parametrize("at", [2, 12, 45])
def test_a_lease_starts_at_the_same_time_whenever_it_is_asked_for(debt: str, at: int) -> None:
    """shirako P19d: what b holds is the same in each window; the hosts that it leaves idle may be used."""
    assert _starts(4, _lease("b", 1, 100), _lease("a", 3, 8, at=at), window="10", debt=debt)["a"] == at


@pytest.mark.parametrize("at", [0, 2, 10, 12])
def test_strict_shares_are_the_same_in_each_window(at: int) -> None:
    """shirako A27: half of ten seconds of four hosts, whether or not the other project has a lease."""
    for seconds, expected in ((6, 200), (7, None)):
        leases = _lease("b", 1, 100), _lease("a", 3, seconds, at=200 + at)
        found = _starts(4, *leases, window="10", debt="no", limit_when_idle="strict")
        assert found.get("a") == (None if expected is None else expected + at)
