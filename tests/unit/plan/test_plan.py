"""The plan itself: values of leases, tentative changes, hosts out of service (haizea F28, F29, F46)."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace

import pytest

from lease_scheduler.model.holding import Holding
from lease_scheduler.model.host import Host, Site
from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.lease import Lease
from lease_scheduler.model.nodes import NodeSet
from lease_scheduler.model.resources import MEMORY_MB, VCPU, Resources
from lease_scheduler.model.states import LeaseState
from lease_scheduler.plan.changing.outages import block, unblock
from lease_scheduler.plan.plan import Plan

from .conftest import VM, MakeLease

BEST_EFFORT, RESERVATION = LeaseKind.BEST_EFFORT, LeaseKind.RESERVATION


def _held(lease: Lease, start: int, end: int, *hosts: int) -> Lease:
    states = () if lease.state is LeaseState.READY else (LeaseState.SCHEDULED, LeaseState.READY)
    return replace(lease.to(*states), holdings=(Holding(hosts, start, start, end, end),))


def _vcpus(plan: Plan, start: int, end: int) -> list[int]:
    """Return the free VCPUs of each host."""
    return [int(free) for free in plan.availability.free(start, end)[plan.classes.index(VCPU)]]


@pytest.fixture
def plan() -> Plan:
    return Plan(Site.homogeneous(2, VM))


def test_a_new_value_replaces_the_old_one(plan: Plan, make_lease: MakeLease) -> None:
    """haizea F28: on the same hosts, longer or shorter or at another time, and on others."""
    lease = plan.put(_held(make_lease(RESERVATION, start=0), 10, 20, 0))
    for start, end, host in ((10, 30, 0), (15, 30, 0), (40, 50, 0), (45, 48, 0), (45, 48, 1), (44, 49, 1)):
        lease = plan.put(_held(lease, start, end, host))
        assert [_vcpus(plan, instant, instant + 1)[host] for instant in (start - 1, start, end - 1, end)] == [
            1,
            0,
            0,
            1,
        ]
        assert _vcpus(plan, 0, 100)[1 - host] == 1
        assert plan.rebuilt(0).equals(plan.availability)


def test_put_all_does_the_same_as_one_put_after_the_other(plan: Plan, make_lease: MakeLease) -> None:
    leases = [_held(make_lease(RESERVATION, start=0), 10 * n, 10 * n + 15, n % 2) for n in range(6)]
    plan.put_all(leases)
    other = Plan(plan.site)
    for lease in leases:
        other.put(lease)
    assert plan.availability.equals(other.availability)
    assert plan.leases == other.leases
    plan.put_all(replace(lease, holdings=()) for lease in leases[:3])
    assert plan.rebuilt(0).equals(plan.availability)


def test_the_queue_is_in_the_order_of_submission(plan: Plan, make_lease: MakeLease) -> None:
    """haizea F46: a lease that returns to the queue gets its old position."""
    leases = [make_lease(BEST_EFFORT) for _ in range(3)]
    for lease in reversed(leases):
        plan.put(lease.to(LeaseState.QUEUED))
    assert [lease.sequence for lease in plan.queue.in_order()] == [1, 2, 3]
    plan.put(_held(plan.leases["2"].to(LeaseState.SCHEDULED, LeaseState.READY), 5, 10, 0))
    assert ([lease.sequence for lease in plan.queue.in_order()], len(plan.queue)) == ([1, 3], 2)
    assert [lease.sequence for lease in plan.future_best_effort(4)] == [2]
    assert plan.future_best_effort(5) == []
    plan.put(replace(plan.leases["2"].to(LeaseState.QUEUED), holdings=()))
    assert [lease.sequence for lease in plan.queue.in_order()] == [1, 2, 3]
    assert plan.future_best_effort(4) == []
    for lease in leases:
        plan.remove(lease.lease_id)
    assert not plan.queue


def test_needed_by_all_names_the_classes_that_every_queued_lease_needs(make_lease: MakeLease) -> None:
    """haizea 4.2: only classes that all of them need show that none can start."""
    plan = Plan(Site((Host("a", Resources({VCPU: 4, MEMORY_MB: 4, "GPU": 1})),)))
    needs = [Resources({VCPU: 1, MEMORY_MB: 1}), Resources({VCPU: 1, "GPU": 1})]
    sets = tuple(NodeSet(1, need) for need in needs)
    for node_sets, needed in (((sets[0],), [False, True, True]), (sets, [False, False, True])):
        plan.put(make_lease(BEST_EFFORT, node_sets=node_sets).to(LeaseState.QUEUED))
        assert dict(zip(("GPU", MEMORY_MB, VCPU), needed, strict=True)) == dict(
            zip(plan.classes, plan.queue.needed_by_all().tolist(), strict=True)
        )
    plan.remove("2")
    assert plan.queue.needed_by_all().tolist() == [False, True, True]


def test_a_tentative_block_that_fails_leaves_no_trace(plan: Plan, make_lease: MakeLease) -> None:
    """haizea F58: nested blocks are undone together with the outer one, and alone."""
    first = plan.put(_held(make_lease(BEST_EFFORT), 10, 20, 0))
    second = plan.put(make_lease(BEST_EFFORT).to(LeaseState.QUEUED))
    plan.take_changes()
    before = plan.availability
    with suppress(ZeroDivisionError), plan.tentative():
        plan.put(_held(first, 30, 40, 1))
        with plan.tentative():
            plan.put(_held(second.to(LeaseState.SCHEDULED, LeaseState.READY), 10, 20, 1))
        with suppress(KeyError), plan.tentative():
            plan.put(_held(make_lease(RESERVATION, start=0), 50, 60, 0))
            raise KeyError
        assert set(plan.leases) == {"1", "2"}
        assert plan.leases["1"].holdings[0].start == 30
        assert plan.leases["2"].holdings
        raise ZeroDivisionError
    assert plan.availability is before
    assert plan.leases == {"1": first, "2": second}
    assert [lease.sequence for lease in plan.queue.in_order()] == [2]
    assert plan.take_changes() == []


def test_the_changes_of_a_block_are_those_since_it_began(plan: Plan, make_lease: MakeLease) -> None:
    """With the value that each lease had then, and without what was undone inside of the block."""
    first = plan.put(_held(make_lease(BEST_EFFORT), 10, 20, 0))
    assert plan.changes_in_block() == []
    with plan.trial():
        second = plan.put(make_lease(BEST_EFFORT))
        with plan.tentative():
            moved = plan.put(_held(first, 30, 40, 1))
            assert plan.changes_in_block() == [(first, moved)]
        with plan.trial():
            plan.put(make_lease(BEST_EFFORT))
        assert plan.changes_in_block() == [(None, second), (first, moved)]
        again = plan.put(_held(moved, 50, 60, 1))
        assert plan.changes_in_block() == [(None, second), (first, again)]
    assert plan.changes_in_block() == []


def test_a_tentative_block_that_succeeds_stays(plan: Plan, make_lease: MakeLease) -> None:
    first = plan.put(_held(make_lease(BEST_EFFORT), 10, 20, 0))
    plan.take_changes()
    with plan.tentative():
        moved = plan.put(_held(first, 30, 40, 1))
    assert plan.leases == {"1": moved}
    assert plan.take_changes() == [(first, moved)]
    assert plan.take_changes() == []


def test_equal_nodes_on_one_host_are_held_together(plan: Plan, make_lease: MakeLease) -> None:
    """haizea F5: amounts add up per host, and the lease counts once on each."""
    sets = NodeSet(2, Resources({VCPU: 1})), NodeSet(1, Resources({MEMORY_MB: 5}))
    request = make_lease(RESERVATION, node_sets=sets, start=0).request
    hosts, amounts = plan.holding(request, (1, 1, 0))
    assert hosts.tolist() == [0, 1]
    rows = {name: amounts[row].tolist() for row, name in enumerate((*plan.classes, "leases"))}
    assert rows == {MEMORY_MB: [5, 0], VCPU: [0, 2], "leases": [1, 1]}


def test_an_outage_can_be_extended_and_ends_completely(plan: Plan, make_lease: MakeLease) -> None:
    """haizea F95."""
    plan.put(_held(make_lease(RESERVATION, start=0), 10, 20, 0))
    block(plan, 0, 5, 15)
    assert _vcpus(plan, 5, 6)[0] == 0
    assert _vcpus(plan, 12, 13)[0] == -1, "the lease on it has to be moved"
    block(plan, 0, 5, 30)
    assert plan.outages == {0: (5, 30)}
    assert _vcpus(plan, 20, 30) == [0, 1]
    unblock(plan, 0)
    unblock(plan, 0)
    assert plan.outages == {}
    assert plan.rebuilt(0).equals(plan.availability)


def test_the_past_is_dropped_once_it_has_grown(plan: Plan, make_lease: MakeLease) -> None:
    """A decision must not cost more because the history is long."""
    for start in range(0, 40_000, 20):
        plan.put(_held(make_lease(RESERVATION, start=0), start, start + 10, 0))
        plan.forget(start)
    assert plan.availability.step_count < 1_100
    assert _vcpus(plan, 39_985, 39_995) == [0, 1]
