"""What the service answers is beside what projects ask for, not among it."""

from __future__ import annotations

from dataclasses import fields

from lease_scheduler.model.attributes import attributes_of
from lease_scheduler.model.grant import UNANSWERED, Grant
from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.lease import Lease, LeaseRequest
from lease_scheduler.model.nodes import NodeSet
from lease_scheduler.model.resources import VCPU, Resources


def test_requests_carry_nothing_that_the_service_computes() -> None:
    assert [each.name for each in attributes_of(LeaseRequest) if each.is_computed] == []
    assert [each.name for each in attributes_of(Grant) if not each.is_computed] == []


def test_requests_and_grants_have_no_field_in_common() -> None:
    assert {each.name for each in fields(LeaseRequest)} & {each.name for each in fields(Grant)} == set()


def test_nothing_is_answered_to_a_new_lease() -> None:
    """No price, and so nothing of it that is retained; no promise and no forecast."""
    lease = Lease(LeaseRequest("1", LeaseKind.BEST_EFFORT, (NodeSet(1, Resources({VCPU: 1})),), 0), 0)
    assert lease.grant == UNANSWERED
    assert {getattr(UNANSWERED, each.name) for each in fields(Grant)} == {None, 0.0}
    assert UNANSWERED.retained == 0.0
