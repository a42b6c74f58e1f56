"""What leases that wait are told, and how well forecasts hold (Pucher 2016, section 3.3.4; prediction A5, A6, A10)."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from lease_scheduler.engine.forecasts import Forecasts
from lease_scheduler.model.grant import Grant
from lease_scheduler.model.holding import Holding
from lease_scheduler.model.kinds import Assured, LeaseKind
from lease_scheduler.model.lease import Lease, LeaseRequest
from lease_scheduler.model.nodes import NodeSet
from lease_scheduler.model.resources import VCPU, Resources
from lease_scheduler.model.states import LeaseState
from lease_scheduler.policy.base import PolicyOptions
from lease_scheduler.policy.duration.bmbp import BmbpDuration
from lease_scheduler.policy.outcomes import Outcome
from tests.unit.engine.conftest import MakeWorld, request


def _lease(name: str, submitted: int, **terms: Any) -> Lease:
    nodes = (NodeSet(1, Resources({VCPU: 1})),)
    return Lease(LeaseRequest(name, LeaseKind.BEST_EFFORT, nodes, submitted, 10_000, preemptible=True, **terms), 0)


def _start(lease: Lease, now: int) -> Lease:
    held = Holding((0,), now, now, now + 10_000, now + 10_000)
    return replace(lease, state=LeaseState.ACTIVE, started=now, active_since=now, holdings=(held,))


def _wait(forecasts: Forecasts, name: str, submitted: int, wait: int) -> None:
    """Have a lease wait for so long."""
    lease = forecasts.with_expected_wait(_lease(name, submitted))
    forecasts.observe(Outcome.QUEUED, replace(lease, state=LeaseState.QUEUED), None, submitted)
    running = _start(lease, submitted + wait)
    forecasts.observe(Outcome.PLACED, replace(running, started=None, active_since=None), lease, submitted + wait)
    forecasts.observe(Outcome.STARTED, running, lease, submitted + wait)


def _experienced(waits: int = 59) -> Forecasts:
    forecasts = Forecasts()
    for number in range(waits):
        _wait(forecasts, str(number), number * 1_000, 100 + number)
    return forecasts


def _counted(forecasts: Forecasts, name: str, now: int = 0) -> tuple[int, int]:
    """Return how many forecasts held, and how many were judged."""
    found = forecasts.coverage(now).get(name)
    return (0, 0) if found is None else (found.held, found.judged)


def test_nothing_is_told_before_enough_is_known() -> None:
    """59 is the smallest number for a bound of .95 at .95, and the bound is then the longest wait."""
    assert _experienced(58).with_expected_wait(_lease("new", 0)).grant.expected_wait is None
    told = _experienced().with_expected_wait(_lease("new", 0)).grant
    assert (told.expected_wait, told.expected_wait_from) == (158, 59)


def test_waits_are_judged_by_what_was_told() -> None:
    forecasts = _experienced()
    assert _counted(forecasts, "start") == (0, 0)
    _wait(forecasts, "short", 100_000, 158)
    _wait(forecasts, "long", 200_000, 160)
    assert _counted(forecasts, "start") == (1, 2)
    assert forecasts.coverage(0)["start"].covered().asked == pytest.approx(0.95)
    assert forecasts.coverage(0)["start"].since == 100_158


def test_leases_that_start_at_once_do_not_count() -> None:
    """They are active only when their servers run, which takes time too."""
    forecasts = _experienced()
    lease = forecasts.with_expected_wait(_lease("new", 500))
    placed = replace(_start(lease, 500), started=None, active_since=None)
    forecasts.observe(Outcome.QUEUED, lease, None, 500)
    forecasts.observe(Outcome.PLACED, placed, lease, 500)
    forecasts.observe(Outcome.STARTED, _start(lease, 530), placed, 530)
    assert _counted(forecasts, "start") == (0, 0)


@pytest.mark.parametrize(("waited", "counts"), [(100, (0, 0)), (1_000, (0, 1))])
def test_leases_that_are_cancelled_count_only_if_they_have_waited_too_long(
    waited: int, counts: tuple[int, int]
) -> None:
    forecasts = _experienced()
    lease = forecasts.with_expected_wait(_lease("new", 500))
    forecasts.observe(Outcome.CANCELLED, replace(lease, state=LeaseState.CANCELLED), lease, 500 + waited)
    assert _counted(forecasts, "start") == counts


def test_what_was_learnt_survives_a_restart_and_what_is_damaged_is_not_used() -> None:
    forecasts = _experienced()
    _wait(forecasts, "late", 100_000, 1_000)
    stored = json.loads(json.dumps(forecasts.take_changes()))
    again = Forecasts()
    again.restore(stored)
    new = _lease("new", 0)
    assert again.with_expected_wait(new) == forecasts.with_expected_wait(new)
    assert _counted(again, "start") == (0, 1)
    again.restore({"waits": {"values": "x"}, "start": {"judged": None}})
    assert again.with_expected_wait(new) is new
    assert _counted(again, "start") == (0, 0)


def test_what_is_kept_is_bounded() -> None:
    forecasts = _experienced(1_200)
    assert len(json.dumps(forecasts.take_changes())) < 10_000


def test_expected_durations_are_judged() -> None:
    policy = BmbpDuration(PolicyOptions({"duration_quantile": "0.5"}))
    forecasts = Forecasts()
    forecasts.follow_durations(lambda: policy)
    for number, seconds in enumerate([100] * 10 + [90, 110]):
        running = _start(_lease(str(number), number * 1_000), number * 1_000)
        forecasts.observe(Outcome.STARTED, running, None, number * 1_000)
        done = replace(running, state=LeaseState.DONE, accumulated=seconds, holdings=(), active_since=None)
        for observer in (policy, forecasts):
            observer.observe(Outcome.DONE, done, running, number * 1_000 + seconds)
    # The first ones were expected to run for as long as requested.
    assert _counted(forecasts, "duration") == (11, 12)
    assert forecasts.coverage(0)["duration"].covered().asked == 0.5


def test_promised_lifetimes_are_judged_when_they_are_over_or_broken() -> None:
    forecasts = Forecasts()
    leases = (_lease(name, 0, min_lifetime=600, assurance=0.9) for name in ("kept", "lost", "ended"))
    promised = Grant(assured=Assured.STATISTICAL)
    kept, lost, ended = (replace(_start(lease, 0), grant=promised) for lease in leases)
    for lease in (kept, lost, ended):
        forecasts.observe(Outcome.STARTED, lease, None, 0)
    forecasts.observe(Outcome.BROKEN, lost, lost, 300)
    forecasts.observe(Outcome.CANCELLED, replace(ended, state=LeaseState.CANCELLED), ended, 400)
    assert _counted(forecasts, "lifetime", 599) == (0, 1)
    assert _counted(forecasts, "lifetime", 600) == (1, 2)
    again = Forecasts()
    again.take_over([kept], 500)
    assert _counted(again, "lifetime", 600) == (1, 1)


def test_nothing_is_told_where_nobody_forecasts(make_world: MakeWorld) -> None:
    """As in simulations."""
    world = make_world(request("a", LeaseKind.BEST_EFFORT)).end()
    assert world["a"].grant.expected_wait is None
