from __future__ import annotations

import json
import math
from dataclasses import replace
from random import Random
from typing import Any

import pytest

from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.lease import UNLIMITED, Lease, LeaseRequest
from lease_scheduler.model.nodes import NodeSet
from lease_scheduler.model.resources import VCPU, Resources
from lease_scheduler.model.states import LeaseState
from lease_scheduler.policy.base import PolicyOptions
from lease_scheduler.policy.duration.base import DurationPolicy
from lease_scheduler.policy.duration.bmbp import BmbpDuration
from lease_scheduler.policy.duration.recent_of_user import RecentOfUser
from lease_scheduler.policy.outcomes import Outcome
from lease_scheduler.simulation.run import Run
from lease_scheduler.simulation.settings import RunSettings
from lease_scheduler.simulation.shipped import load_workload

_NODES = (NodeSet(1, Resources({VCPU: 1})),)


def _lease(user: str | None = "p", duration: int = 1000, accumulated: int = 0) -> Lease:
    request = LeaseRequest("a", LeaseKind.BEST_EFFORT, _NODES, submitted=0, duration=duration, user=user)
    return Lease(request, 0, accumulated=accumulated, started=0, state=LeaseState.DONE)


def _ran(policy: DurationPolicy, seconds: int, user: str | None = "p", duration: int = 1000) -> None:
    policy.observe(Outcome.DONE, _lease(user, duration, seconds), None, 0)


def test_the_expectation_is_the_mean_of_the_projects_last_two_run_times() -> None:
    policy = RecentOfUser(PolicyOptions())
    assert policy.expected(_lease()) == 1000
    _ran(policy, 100)
    assert policy.expected(_lease()) == 100
    _ran(policy, 301)
    assert policy.expected(_lease()) == 201
    _ran(policy, 401)
    assert policy.expected(_lease()) == 351
    assert policy.expected(_lease("other")) == 1000
    assert policy.expected(_lease(duration=200)) == 200


def test_the_expectation_is_doubled_when_a_lease_exceeds_it() -> None:
    """The expectation is doubled each time, but never exceeds the request."""
    policy = RecentOfUser(PolicyOptions())
    _ran(policy, 100)
    expected = [policy.expected(_lease(accumulated=seconds)) for seconds in (0, 60, 100, 150, 200, 700, 999)]
    assert expected == [100, 40, 100, 50, 200, 100, 1]


def test_only_complete_runs_of_best_effort_leases_count() -> None:
    policy = RecentOfUser(PolicyOptions({"duration_recent": "1"}))
    _ran(policy, 100)
    reservation = replace(_lease().request, kind=LeaseKind.RESERVATION, start=0)
    policy.observe(Outcome.DONE, replace(_lease(accumulated=7), request=reservation), None, 0)
    policy.observe(Outcome.FAILED, _lease(accumulated=8), None, 0)
    policy.observe(Outcome.PREEMPTED, _lease(accumulated=9), None, 0)
    policy.observe(Outcome.CANCELLED, replace(_lease(), started=None), None, 0)
    assert policy.expected(_lease()) == 100
    policy.observe(Outcome.CANCELLED, _lease(accumulated=50), None, 0)
    assert policy.expected(_lease()) == 50


def test_the_expectation_is_a_bound_of_the_share_that_the_project_uses() -> None:
    """With a quantile of one half, five observations are enough, and their largest is the bound."""
    policy = BmbpDuration(PolicyOptions({"duration_quantile": "0.5"}))
    for seconds in (100, 300, 200, 150):
        _ran(policy, seconds)
    assert policy.expected(_lease()) == 1000
    _ran(policy, 250)
    assert policy.expected(_lease()) == 300
    assert policy.expected(_lease(duration=5000)) == 1500
    # What all projects use is known as well as what the only one uses.
    assert policy.expected(_lease("other", duration=100)) == 30


@pytest.mark.parametrize("policy_class", [RecentOfUser, BmbpDuration])
def test_learnt_run_times_survive_a_restart(policy_class: type[DurationPolicy]) -> None:
    """As JSON, subject by subject, with only what changed."""
    random = Random(5)
    stored: dict[str, str] = {}
    uninterrupted, restarted = policy_class(PolicyOptions()), policy_class(PolicyOptions())
    for place in range(600):
        user = random.choice("abc")
        seconds = int(random.expovariate(1 / (50 if place < 300 else 500))) + 1
        for policy in (uninterrupted, restarted):
            _ran(policy, seconds, user)
        changes = restarted.take_changes()
        assert user in changes
        assert restarted.take_changes() == {}
        stored.update({subject: json.dumps(learnt) for subject, learnt in changes.items()})
        if place % 50 == 0:
            restarted = policy_class(PolicyOptions())
            restarted.restore({subject: json.loads(text) for subject, text in stored.items()})
        for each in "abcd":
            assert restarted.expected(_lease(each)) == uninterrupted.expected(_lease(each))
    assert max(map(len, stored.values())) < 5_000


@pytest.mark.parametrize("policy_class", [RecentOfUser, BmbpDuration])
@pytest.mark.parametrize(
    "damaged", [{}, {"seconds": ["x"], "values": ["x"]}, {"seconds": [math.nan], "values": [math.nan]}, {"seconds": []}]
)
def test_a_damaged_entry_counts_as_a_lost_one(policy_class: type[DurationPolicy], damaged: dict[str, Any]) -> None:
    """The others are used, and the engine starts."""
    known = policy_class(PolicyOptions())
    for _ in range(20):
        _ran(known, 60, "a")
    learnt: dict[str, Any] = {"a": known.take_changes()["a"], "b": damaged}
    restored = policy_class(PolicyOptions())
    restored.restore(learnt)
    assert restored.expected(_lease("a")) == known.expected(_lease("a"))
    assert restored.expected(_lease("b")) == 1000


def test_leases_without_a_stated_duration_teach_only_run_times() -> None:
    """They say nothing about shares; how long they ran says something about run times."""
    shares, recent = BmbpDuration(PolicyOptions()), RecentOfUser(PolicyOptions())
    for policy in (shares, recent):
        for _ in range(20):
            _ran(policy, 60, duration=UNLIMITED)
    assert shares.expected(_lease()) == 1000
    assert recent.expected(_lease(duration=UNLIMITED)) == 60


def test_asking_teaches_nothing() -> None:
    policy = BmbpDuration(PolicyOptions())
    for _ in range(5):
        _ran(policy, 10)
    policy.take_changes()
    policy.expected(_lease())
    assert policy.take_changes() == {}


@pytest.mark.parametrize(
    ("policy_class", "option", "value"),
    [
        (RecentOfUser, "duration_recent", "0"),
        (BmbpDuration, "duration_quantile", "1"),
        (BmbpDuration, "duration_confidence", "0"),
    ],
)
def test_wrong_options_are_named(policy_class: type[DurationPolicy], option: str, value: str) -> None:
    with pytest.raises(InvalidValueError, match=f"policy option {option}"):
        policy_class(PolicyOptions({option: value}))


@pytest.mark.parametrize("policy", ["recent-of-user", "bmbp"])
def test_run_times_are_learnt_in_a_run(policy: str) -> None:
    """The first leases of BLUE1 at eight times the pace start at other instants than if requests are believed."""
    workload = load_workload("blue1")
    hurried = [
        replace(each, request=replace(each.request, submitted=each.request.submitted // 8))
        for each in workload.leases[:300]
    ]
    workload = replace(workload, leases=tuple(hurried))
    starts = {
        name: [lease.started for lease in Run(workload, RunSettings(policies={"duration": name})).execute().leases]
        for name in ("requested", policy)
    }
    assert starts[policy] != starts["requested"]
    assert None not in starts[policy]
