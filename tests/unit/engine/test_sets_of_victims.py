"""Which leases policies that compare sets preempt if leases have deadlines (contention F16-F21, section 4.2.2)."""

from __future__ import annotations

import pytest

from lease_scheduler.model.host import Site
from lease_scheduler.model.kinds import LeaseKind, PreemptionMode
from lease_scheduler.model.lease import Lease, LeaseRequest
from lease_scheduler.model.nodes import NodeSet
from lease_scheduler.model.resources import MEMORY_MB, VCPU, Resources
from lease_scheduler.plan.options import PlanningOptions
from lease_scheduler.simulation.run import Run
from lease_scheduler.simulation.settings import RunSettings
from lease_scheduler.simulation.workload import Workload, WorkloadLease


def _nodes(count: int, memory: int) -> tuple[NodeSet, ...]:
    return (NodeSet(count, Resources({VCPU: 1, MEMORY_MB: memory})),)


def _on(*hosts: str) -> tuple[NodeSet, ...]:
    return (NodeSet(len(hosts), Resources({VCPU: 1, MEMORY_MB: 64}), hosts=frozenset(hosts)),)


def _suspendable(name: str, memory: int) -> LeaseRequest:
    return LeaseRequest(name, LeaseKind.BEST_EFFORT, _nodes(1, memory), 0, 20_000, preemptible=True)


def _migratable(name: str, memory: int, slack: int) -> LeaseRequest:
    return LeaseRequest(
        name,
        LeaseKind.DEADLINE,
        _nodes(1, memory),
        0,
        10_000,
        start=0,
        deadline=10_000 + slack,
        preemptible=True,
        preemption_mode=PreemptionMode.MIGRATE,
    )


def _preempted(policy: str, hosts: int, nodes: int, *leases: LeaseRequest) -> list[str]:
    """Return the leases that make room for a reservation of these nodes, from 1,000 to 1,600."""
    reservation = LeaseRequest("r", LeaseKind.RESERVATION, _nodes(nodes, 64), 300, 600, start=1_000)
    site = Site.homogeneous(hosts, Resources({VCPU: 1, MEMORY_MB: 4_096}))
    chosen = RunSettings(policies={"preemption": policy}, planning=PlanningOptions(suspend_rate=32, resume_rate=32))
    workload = Workload("victims", tuple(map(WorkloadLease, (*leases, reservation))), site)
    found: dict[str, Lease] = {lease.lease_id: lease for lease in Run(workload, chosen).execute().leases}
    assert found["r"].started == 1_000
    ends = {each.lease_id: (found[each.lease_id].ended or 0) - (each.start or 0) - each.duration for each in leases}
    return sorted(name for name, late in ends.items() if late > 500)


@pytest.mark.parametrize(("policy", "expected"), [("mov", "c"), ("moml", "c"), ("mlip", "b"), ("by-kind", "b")])
def test_a_lease_that_would_find_no_place_by_its_deadline_is_in_no_set(policy: str, expected: str) -> None:
    """It would be the cheapest victim, and has time to wait, but its host is promised to another reservation.

    Of the others, c costs 146 s, and b 866 s.
    """
    promised = LeaseRequest("p", LeaseKind.RESERVATION, _on("host-1"), 0, 2_000, start=10_000)
    leases = _migratable("a", 64, slack=700), _suspendable("b", 3_072), _suspendable("c", 512)

    assert _preempted(policy, 3, 1, *leases, promised) == [expected]


@pytest.mark.parametrize("policy", ["mov", "moml"])
def test_the_next_best_set_is_taken_if_the_best_one_fails(policy: str) -> None:
    """The best set has both migratable leases, as they are the cheapest victims.

    Each of them would find a place after the reservation, on host 5, because hosts 1 and 2 are promised to another
    reservation before it would be done. There is no place for both.
    """
    promised = LeaseRequest("p", LeaseKind.RESERVATION, _on("host-1", "host-2"), 0, 2_000, start=10_000)
    before = LeaseRequest("q", LeaseKind.RESERVATION, _on("host-5"), 0, 1_600, start=0)
    migratable = _migratable("a", 64, slack=700), _migratable("d", 64, slack=700)
    suspendable = _suspendable("b", 3_072), _suspendable("c", 512)

    assert _preempted(policy, 5, 2, before, *migratable, *suspendable, promised) == ["a", "c"]
