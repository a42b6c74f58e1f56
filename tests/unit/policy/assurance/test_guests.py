"""What servers without a lease are promised (prediction F34, F41, F82; growth section 5)."""

from __future__ import annotations

import json
from typing import Any

import pytest

from lease_scheduler.model.holding import Holding
from lease_scheduler.model.host import Host, Site
from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.lease import Lease, LeaseRequest
from lease_scheduler.model.nodes import NodeSet
from lease_scheduler.model.resources import FLOATING_IP, VCPU, Resources
from lease_scheduler.model.states import LeaseState
from lease_scheduler.policy.assurance.base import AssurancePolicy
from lease_scheduler.policy.assurance.both import Both
from lease_scheduler.policy.assurance.none import NoAssurance
from lease_scheduler.policy.assurance.planned import Planned
from lease_scheduler.policy.assurance.statistical import Statistical
from lease_scheduler.policy.base import PolicyOptions
from lease_scheduler.policy.outcomes import Outcome

_HOUR, _DAY = 3_600, 86_400
_BEGIN = 20_000 * _DAY
_SITE = Site(
    (
        Host("busy", Resources({VCPU: 4})),
        Host("quiet", Resources({VCPU: 4})),
        Host("203.0.113.7", Resources({FLOATING_IP: 1})),
        Host("of another pool", Resources({})),
    )
)


def _lease(lease_id: str, now: int, state: LeaseState = LeaseState.ACTIVE) -> Lease:
    nodes = (NodeSet(1, Resources({VCPU: 4})),)
    request = LeaseRequest(lease_id, LeaseKind.RESERVATION, nodes, now, _HOUR, start=now)
    if state is not LeaseState.ACTIVE:
        return Lease(request, 0, state)
    held = Holding((0,), now, now, now + _HOUR, now + _HOUR)
    return Lease(request, 0, state, holdings=(held,), started=now, active_since=now)


def _asked(policy: AssurancePolicy, now: int, *leases: Lease) -> dict[float, dict[str, int]]:
    return {each: dict(of) for each, of in policy.guest_lifetimes((0.95, 0.8), leases, now, 60)().items()}


def _policy(days: int, kind: type[AssurancePolicy] = Statistical) -> AssurancePolicy:
    """Return a policy that was asked every hour while leases had one of two hosts every six hours."""
    policy = kind(PolicyOptions())
    policy.follow(_SITE)
    for hour in range(days * 24):
        now = _BEGIN + hour * _HOUR
        _asked(policy, now)
        if hour % 6 == 0:
            policy.observe(Outcome.STARTED, _lease(str(hour), now), None, now)
        elif hour % 6 == 1:
            policy.observe(Outcome.DONE, _lease(str(hour - 1), now, LeaseState.DONE), None, now)
    return policy


def _restarted(policy: AssurancePolicy, now: int, *leases: Lease) -> AssurancePolicy:
    stored = {subject: value for subject, value in policy.take_changes().items() if value is not None}
    again = Statistical(PolicyOptions())
    again.restore(json.loads(json.dumps(stored)))
    again.follow(_SITE)
    again.take_over(leases, now)
    return again


@pytest.mark.parametrize("kind", [Statistical, Both])
def test_each_host_has_its_own_past(kind: type[AssurancePolicy]) -> None:
    now = _BEGIN + 16 * _DAY
    found = _asked(_policy(16, kind), now)
    assert found[0.95] == {"quiet": 6 * _HOUR}
    assert found[0.8]["quiet"] == _DAY
    assert found[0.8].get("busy", 0) < 6 * _HOUR


@pytest.mark.parametrize("kind", [NoAssurance, Planned])
def test_other_policies_promise_nothing(kind: type[AssurancePolicy]) -> None:
    assert _asked(_policy(1, kind), _BEGIN + _DAY) == {}


def test_a_site_that_has_just_begun_promises_nothing() -> None:
    assert _asked(_policy(0), _BEGIN) == {0.95: {}, 0.8: {}}


def test_no_history_is_kept_before_the_first_question() -> None:
    policy = Statistical(PolicyOptions())
    policy.follow(_SITE)
    policy.observe(Outcome.STARTED, _lease("1", _BEGIN), None, _BEGIN)
    assert not [subject for subject in policy.take_changes() if subject.startswith("@")]


def test_the_past_survives_a_restart_and_ends_with_a_gap() -> None:
    now = _BEGIN + 16 * _DAY
    policy = _policy(16)
    expected = _asked(policy, now)
    assert _asked(_restarted(policy, now), now) == expected
    later = now + 2 * _DAY
    assert _asked(_restarted(_policy(16), later), later) == {0.95: {}, 0.8: {}}


def test_a_lease_that_has_the_host_at_the_restart_is_known() -> None:
    """It has begun unobserved, so that counts as a start."""
    now = _BEGIN + 16 * _DAY
    again = _restarted(_policy(16), now, _lease("new", now))
    changed: dict[str, Any] = dict(again.take_changes())
    assert changed["@busy"]["starts"][-1] == now // 600
    assert "@quiet" not in changed


def test_hosts_that_leave_are_forgotten() -> None:
    policy = _policy(1)
    policy.take_changes()
    policy.follow(Site(_SITE.hosts[:1]))
    _asked(policy, _BEGIN + _DAY)
    assert policy.take_changes()["@quiet"] is None


def test_nothing_is_promised_when_promises_to_leases_are_broken() -> None:
    now = _BEGIN + 16 * _DAY
    policy = _policy(16)
    stored = {subject: value for subject, value in policy.take_changes().items() if value is not None}
    policy.restore({**stored, "promises": {"over": [[now, False]] * 20}})
    policy.follow(_SITE)
    assert _asked(policy, now) == {}
