from __future__ import annotations

from dataclasses import replace

from lease_scheduler.federation.answers import Bid
from lease_scheduler.federation.quotes import as_bid
from lease_scheduler.model.holding import Holding
from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.lease import Lease, LeaseRequest
from lease_scheduler.model.nodes import NodeSet
from lease_scheduler.model.refusals import RefusalReason
from lease_scheduler.model.resources import VCPU, Resources
from lease_scheduler.plan.explaining.explain import Refusal
from lease_scheduler.plan.explaining.quote import Quote

_LEASE = Lease(LeaseRequest("1", LeaseKind.BEST_EFFORT, (NodeSet(1, Resources({VCPU: 1})),), 0, 60), 0)


def test_the_bid_has_the_times_of_the_nodes_without_preparation() -> None:
    placed = replace(_LEASE, holdings=(Holding((0,), 90, 100, 130, 140), Holding((0,), 190, 200, 230, 230)))

    assert as_bid("a", Quote(placed, preempted=("7", "8"), price=2.5)) == Bid("a", "1", 100, 230, 2.5, preempts=2)


def test_a_lease_that_would_wait_without_a_place_has_no_times() -> None:
    assert as_bid("a", Quote(_LEASE, queue_position=3)) == Bid("a", "1", None, None)


def test_what_is_refused_is_no_bid() -> None:
    assert as_bid("a", Quote(refusal=Refusal(RefusalReason.CAPACITY, "full"))) is None
