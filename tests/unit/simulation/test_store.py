from __future__ import annotations

from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.lease import Lease, LeaseRequest
from lease_scheduler.model.nodes import NodeSet
from lease_scheduler.model.resources import VCPU, Resources
from lease_scheduler.model.states import LeaseState
from lease_scheduler.simulation.store import MemoryStore


def test_the_latest_value_is_kept_in_the_order_of_submission() -> None:
    nodes = (NodeSet(1, Resources({VCPU: 1})),)
    store = MemoryStore()
    for number in (2, 1):
        store.save(Lease(LeaseRequest(str(number), LeaseKind.BEST_EFFORT, nodes, 0), number, LeaseState.PENDING))
    ended = Lease(LeaseRequest("2", LeaseKind.BEST_EFFORT, nodes, 0), 2, LeaseState.FAILED)
    store.save(ended)
    assert [(lease.lease_id, lease.state) for lease in store.load()] == [
        ("1", LeaseState.PENDING),
        ("2", LeaseState.FAILED),
    ]
    assert store.ended_of(LeaseKind.BEST_EFFORT) == 1
    assert store.ended_of(LeaseKind.RESERVATION) == 0
    assert store.ended_in(LeaseState.FAILED) == ended
    assert store.ended_in(LeaseState.DONE) is None


def test_followers_are_told_of_each_value_and_leases_are_found_by_id() -> None:
    nodes, told = (NodeSet(1, Resources({VCPU: 1})),), list[Lease]()
    store = MemoryStore()
    store.follow(told.append)
    values = [
        Lease(LeaseRequest("1", LeaseKind.BEST_EFFORT, nodes, 0), 1, state)
        for state in (LeaseState.PENDING, LeaseState.CANCELLED)
    ]
    for value in values:
        store.save(value)
    assert told == values
    assert store.lease("1") == values[1]
    assert store.lease("2") is None
