"""Penalties for terms that were not kept (haizea F95)."""

from __future__ import annotations

import pytest

from lease_scheduler.model.breach import Breach, BreachKind
from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.model.grant import Grant
from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.lease import Lease, LeaseRequest
from lease_scheduler.model.nodes import NodeSet
from lease_scheduler.model.resources import FLOATING_IP, VCPU, Resources
from lease_scheduler.policy.base import PolicyOptions
from lease_scheduler.policy.penalty.none import NoPenalty
from lease_scheduler.policy.penalty.proportional import Proportional
from lease_scheduler.policy.penalty.tiered import Tiered

NODES = (NodeSet(4, Resources({VCPU: 1})), NodeSet(3, Resources({FLOATING_IP: 1})))
LEASE = Lease(LeaseRequest("1", LeaseKind.RESERVATION, NODES, 0, 3_600, 100), 1, grant=Grant(price=20.0))


def _breach(seconds: int, node_seconds: int) -> Breach:
    return Breach("1", BreachKind.LATE_START, 500, seconds, node_seconds)


def test_no_penalty_charges_nothing() -> None:
    assert not NoPenalty(PolicyOptions()).charges
    assert NoPenalty(PolicyOptions()).penalty(_breach(3_600, 14_400), LEASE) == 0


def test_proportional_charges_a_rate_for_node_hours() -> None:
    policy = Proportional(PolicyOptions({"penalty_rate": "2.5"}))
    assert policy.charges
    assert policy.penalty(_breach(1_800, 7_200), LEASE) == 5.0
    assert Proportional(PolicyOptions()).penalty(_breach(1_800, 7_200), LEASE) == 2.0
    assert policy.penalty(_breach(50, 0), LEASE) == 0


@pytest.mark.parametrize(
    ("seconds", "node_seconds", "share"),
    [(59, 0, 0.0), (60, 0, 0.1), (599, 0, 0.1), (600, 0, 0.3), (9_999, 0, 1.0), (600, 600, 0.1), (600, 2_400, 0.3)],
)
def test_tiered_charges_a_share_of_the_price(seconds: int, node_seconds: int, share: float) -> None:
    """Missing nodes count as if all four had been away for a shorter time; addresses are not nodes."""
    assert Tiered(PolicyOptions()).penalty(_breach(seconds, node_seconds), LEASE) == pytest.approx(share * 20)


@pytest.mark.parametrize("text", ["", "60", "60:", "x:0.1", "60:2", "60:-1", "60:nan", "-1:0.1", "60:0.1,,70:0.2"])
def test_invalid_steps_are_refused(text: str) -> None:
    with pytest.raises(InvalidValueError, match="policy option penalty_tiers"):
        Tiered(PolicyOptions({"penalty_tiers": text}))


def test_steps_may_come_in_any_order() -> None:
    policy = Tiered(PolicyOptions({"penalty_tiers": " 100:1, 10:0.5"}))
    assert [policy.penalty(_breach(seconds, 0), LEASE) for seconds in (9, 10, 100)] == [0, 10, 20]
