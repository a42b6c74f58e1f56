"""Which leases may be victims for which requests (haizea F36, F57)."""

from __future__ import annotations

import pytest

from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.lease import Lease, LeaseRequest
from lease_scheduler.model.nodes import NodeSet
from lease_scheduler.model.resources import VCPU, Resources
from lease_scheduler.plan.interfaces import Victim
from lease_scheduler.policy.base import PolicyOptions
from lease_scheduler.policy.preemption.ar_preempts_best_effort import ArPreemptsBestEffort
from lease_scheduler.policy.preemption.ar_preempts_everything import ArPreemptsEverything
from lease_scheduler.policy.preemption.base import NEVER
from lease_scheduler.policy.preemption.by_kind import ByKind
from lease_scheduler.policy.preemption.deadline import DeadlinePreemption
from lease_scheduler.policy.preemption.no_preemption import NoPreemption

DAY = 86_400
ONE = (NodeSet(1, Resources({VCPU: 1})),)
NONE = PolicyOptions()

RESERVATION = LeaseRequest("r", LeaseKind.RESERVATION, ONE, 0, duration=100, start=10)
IMMEDIATE = LeaseRequest("i", LeaseKind.IMMEDIATE, ONE, 0, duration=100)
DEADLINE = LeaseRequest("d", LeaseKind.DEADLINE, ONE, 0, duration=100, start=10, deadline=500)
BEST_EFFORT = LeaseRequest("b", LeaseKind.BEST_EFFORT, ONE, 0, duration=100)


def _victim(request: LeaseRequest, remaining: int = 100, overhead: int = 0) -> Victim:
    return Victim(Lease(request, 0), remaining, overhead)


def _best_effort(submitted: int, duration: int = 100) -> LeaseRequest:
    return LeaseRequest("v", LeaseKind.BEST_EFFORT, ONE, submitted, duration=duration)


@pytest.mark.parametrize("policy", [ArPreemptsBestEffort(NONE), ArPreemptsEverything(NONE)])
def test_only_reservations_preempt_and_only_best_effort_leases(policy: ArPreemptsBestEffort) -> None:
    """haizea 8.2, 8: both of Haizea's names mean the same policy."""
    for preemptor in (RESERVATION, IMMEDIATE, DEADLINE, BEST_EFFORT):
        for victim in (RESERVATION, IMMEDIATE, DEADLINE, BEST_EFFORT):
            allowed = preemptor is RESERVATION and victim is BEST_EFFORT
            assert (policy.score(preemptor, _victim(victim), 50) >= 0) is allowed


def test_young_leases_go_first_and_old_ones_are_safe() -> None:
    """haizea 4.8: (31 d - age) / 31 d, never from 7 days on."""
    policy = ArPreemptsBestEffort(NONE)
    assert policy.score(RESERVATION, _victim(_best_effort(0)), 0) == 1
    assert policy.score(RESERVATION, _victim(_best_effort(0)), 31 * DAY // 10) == pytest.approx(0.9)
    assert policy.score(RESERVATION, _victim(_best_effort(0)), 7 * DAY - 1) > 0
    assert policy.score(RESERVATION, _victim(_best_effort(0)), 7 * DAY) == NEVER


def test_the_age_may_be_the_time_that_a_lease_has_run() -> None:
    """haizea 4.8: prefer the lease that has been running the least."""
    policy = ArPreemptsBestEffort(PolicyOptions({"preemption_age_basis": "run", "preemption_age_scale": "1000"}))
    assert policy.score(RESERVATION, _victim(_best_effort(0, 500), remaining=400), 50) == pytest.approx(0.9)
    assert policy.score(RESERVATION, _victim(_best_effort(0, 500), remaining=100), 50) == pytest.approx(0.6)
    with pytest.raises(InvalidValueError, match="preemption_age_basis"):
        ArPreemptsBestEffort(PolicyOptions({"preemption_age_basis": "size"}))
    with pytest.raises(InvalidValueError, match="preemption_safe_age"):
        ArPreemptsBestEffort(PolicyOptions({"preemption_safe_age": "a week"}))


def test_a_deadline_lease_is_a_victim_only_if_it_still_meets_its_deadline() -> None:
    """haizea F57: t + d + r < deadline, and the score is its slack then."""
    policy = DeadlinePreemption(NONE)
    assert policy.score(DEADLINE, _victim(DEADLINE, remaining=100, overhead=20), 200) == pytest.approx(1.8)
    assert policy.score(DEADLINE, _victim(DEADLINE, remaining=179, overhead=20), 200) > 1
    assert policy.score(DEADLINE, _victim(DEADLINE, remaining=180, overhead=20), 200) == NEVER
    # A reservation may have all the time that the deadline leaves, to the second.
    assert policy.score(RESERVATION, _victim(DEADLINE, remaining=180, overhead=20), 200) == 1.0
    assert policy.score(RESERVATION, _victim(DEADLINE, remaining=181, overhead=20), 200) == NEVER
    assert policy.score(IMMEDIATE, _victim(DEADLINE), 0) == NEVER
    assert policy.score(DEADLINE, _victim(BEST_EFFORT), 0) == NEVER


def test_by_kind_takes_best_effort_leases_before_all_others() -> None:
    policy = ByKind(NONE)
    old_enough = 6 * DAY
    patient = LeaseRequest("p", LeaseKind.DEADLINE, ONE, 0, duration=100, start=10, deadline=10**9)
    best_effort = policy.score(DEADLINE, _victim(_best_effort(0)), old_enough)
    assert best_effort > policy.score(DEADLINE, _victim(patient), old_enough) > 0
    best_effort = policy.score(RESERVATION, _victim(_best_effort(0)), old_enough)
    assert best_effort > policy.score(RESERVATION, _victim(patient), old_enough) > 0
    assert policy.score(RESERVATION, _victim(RESERVATION), old_enough) == NEVER
    assert policy.score(IMMEDIATE, _victim(_best_effort(0)), old_enough) == NEVER
    assert policy.score(DEADLINE, _victim(_best_effort(0)), 7 * DAY) == NEVER


def test_no_preemption_preempts_no_lease() -> None:
    assert NoPreemption(NONE).score(RESERVATION, _victim(BEST_EFFORT), 0) == NEVER
