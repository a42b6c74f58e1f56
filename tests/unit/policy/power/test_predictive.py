"""The power policy by prediction (Pucher 2016, section 3.3.4; prediction F18-F24, A12, A13)."""

from __future__ import annotations

import json
from typing import Any

import pytest

from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.model.host import Site
from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.lease import Lease, LeaseRequest
from lease_scheduler.model.nodes import NodeSet
from lease_scheduler.model.resources import VCPU, Resources
from lease_scheduler.policy.base import PolicyOptions
from lease_scheduler.policy.loader import load_policy
from lease_scheduler.policy.outcomes import Outcome
from lease_scheduler.policy.power.base import PowerDecision, PowerView, Shortage, Waiting
from lease_scheduler.policy.power.predictive import Predictive

_EPOCH = 1_000


def _policy(**options: str) -> Predictive:
    policy = load_policy("power", "predictive", PolicyOptions(options))
    assert isinstance(policy, Predictive)
    policy.follow(Site.homogeneous(8, Resources({VCPU: 4})))
    return policy


def _ask(policy: Predictive, now: int, nodes: int, outcome: Outcome = Outcome.QUEUED, **terms: Any) -> None:
    """Have a request for nodes of half a host."""
    kind = terms.pop("kind", LeaseKind.BEST_EFFORT)
    request = LeaseRequest("1", kind, (NodeSet(nodes, Resources({VCPU: 2})),), now, 100, **terms)
    policy.observe(outcome, Lease(request, 0), None, now)


def _busy(policy: Predictive, epochs: int = 60, nodes: int = 3) -> int:
    """Have a request in each epoch, and return the instant at which they are over."""
    policy.spare_hosts(0)
    for epoch in range(epochs):
        _ask(policy, epoch * _EPOCH + 10, nodes)
    return epochs * _EPOCH


def test_all_hosts_stay_awake_until_enough_is_known() -> None:
    policy = _policy()
    now = _busy(policy)
    assert policy.spare_hosts(now - 1) == 8
    assert policy.spare_hosts(now) == 2


def test_one_large_burst_in_twenty_is_enough_for_a_large_spare() -> None:
    policy = _policy()
    for epoch in range(200):
        _ask(policy, epoch * _EPOCH, 12 if epoch % 15 == 0 else 2)
    assert policy.spare_hosts(200 * _EPOCH) == 6


def test_idle_epochs_do_not_dilute_the_bursts() -> None:
    policy = _policy()
    now = _busy(policy)
    assert policy.spare_hosts(now + 365 * 86_400) == 2


@pytest.mark.parametrize(
    ("outcome", "terms", "counts"),
    [
        (Outcome.PLACED, {"kind": LeaseKind.IMMEDIATE}, True),
        (Outcome.REFUSED, {"kind": LeaseKind.IMMEDIATE}, True),
        (Outcome.PLACED, {}, False),
        (Outcome.PLACED, {"kind": LeaseKind.RESERVATION, "start": 1_000_000}, False),
    ],
)
def test_each_request_at_short_notice_counts_once(outcome: Outcome, terms: dict[str, Any], *, counts: bool) -> None:
    policy = _policy(power_least_epochs="1")
    policy.spare_hosts(0)
    _ask(policy, 5, 4, outcome, **terms)
    assert policy.spare_hosts(_EPOCH) == (2 if counts else 0)


def test_a_request_that_is_larger_than_the_site_says_nothing() -> None:
    policy = _policy(power_least_epochs="1")
    _ask(policy, 5, 400, Outcome.REFUSED, kind=LeaseKind.IMMEDIATE)
    assert policy.spare_hosts(2 * _EPOCH) == 0


def test_hosts_that_wake_slowly_are_woken_earlier() -> None:
    policy = _policy()
    for seconds in range(58):
        policy.woke(100 + seconds)
    assert policy.wake_time() == 0
    policy.woke(90)
    assert policy.wake_time() == 157


def test_hosts_wake_for_all_that_is_missing_or_waits() -> None:
    policy, view = _policy(), PowerView(lambda: [Waiting(3, 10, 100), Waiting(2, 5, 50)], lambda: 1.0)
    assert policy.for_reservation(Shortage(nodes=10, missing=8, after_preemption=3), view) == PowerDecision(wake=8)
    assert policy.for_queue(view) == PowerDecision(wake=5)


def test_learnt_bursts_survive_a_restart_and_damaged_ones_are_not_used() -> None:
    policy = _policy()
    now = _busy(policy)
    for _ in range(59):
        policy.woke(100)
    policy.spare_hosts(now)
    stored = json.loads(json.dumps(policy.take_changes()))
    again = _policy()
    again.restore(stored)
    assert (again.spare_hosts(now), again.wake_time()) == (2, 100)
    again.restore({"bursts": {"bursts": "x"}, "wake times": stored["wake times"]})
    assert (again.spare_hosts(now), again.wake_time()) == (8, 0)


def test_stored_bursts_are_bounded() -> None:
    policy = _policy()
    _busy(policy, 3_000)
    for seconds in range(3_000):
        policy.woke(seconds)
    assert len(json.dumps(policy.take_changes())) < 12_000


@pytest.mark.parametrize(
    ("option", "value", "reason"),
    [
        ("power_quantile", "1", "must be more than 0 and less than 1"),
        ("power_epoch", "0", "must be at least 1"),
        ("power_least_epochs", "0", "must be from 1 to 1000, not 0"),
        ("power_least_epochs", "5000", "must be from 1 to 1000, not 5000"),
    ],
)
def test_wrong_options_are_refused(option: str, value: str, reason: str) -> None:
    with pytest.raises(InvalidValueError, match=reason):
        _policy(**{option: value})
