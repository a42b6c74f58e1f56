"""Trials: what would be granted, and what others would lose by it. The plan stays as it is."""

from __future__ import annotations

from dataclasses import replace

import pytest

from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.lease import LeaseRequest
from lease_scheduler.plan.explaining.trials import Trials
from lease_scheduler.plan.planner import Planner
from tests.unit.plan.conftest import MakeLease, MakePlanner, running

RESERVATION, BEST_EFFORT, DEADLINE = LeaseKind.RESERVATION, LeaseKind.BEST_EFFORT, LeaseKind.DEADLINE


def _counts(planner: Planner, request: LeaseRequest, now: int = 0) -> dict[str, int] | None:
    """Return how many leases of each kind would lose something, or None if the request would be refused."""
    before = dict(planner.plan.leases)
    found = Trials(planner, now, 60).of(request)
    assert planner.plan.leases == before
    return None if found is None else dict(found.preempted)


def test_leases_that_would_lose_something_are_counted_by_kind(make_planner: MakePlanner, make_lease: MakeLease) -> None:
    """Work that is over by then loses nothing, nor does a deadline lease that is only moved."""
    planner = make_planner(4)
    for kind, terms in ((BEST_EFFORT, {}), (BEST_EFFORT, {}), (DEADLINE, {"start": 0, "deadline": 9000})):
        running(planner, make_lease(kind, duration=1000, **terms))
    planner.place(make_lease(DEADLINE, start=600, duration=300, deadline=9000), 0)

    def asked(nodes: int, start: int, duration: int = 100) -> LeaseRequest:
        return make_lease(RESERVATION, nodes=nodes, start=start, duration=duration).request

    assert _counts(planner, asked(1, 500)) == {}
    assert _counts(planner, asked(2, 500)) == {"best-effort": 1}
    assert _counts(planner, asked(3, 500)) == {"best-effort": 2}
    assert _counts(planner, asked(4, 500)) == {"best-effort": 2, "deadline": 1}
    assert _counts(planner, asked(4, 600)) == {"best-effort": 2, "deadline": 1}
    assert _counts(planner, asked(4, 1000)) == {}
    assert _counts(planner, asked(5, 1000)) is None


def test_a_running_deadline_lease_that_would_start_over_loses_its_work(
    make_planner: MakePlanner, make_lease: MakeLease
) -> None:
    """It would have a place for all of it, but what it has done would be lost."""
    planner = make_planner(1)
    running(planner, make_lease(DEADLINE, start=0, duration=1000, deadline=3000))
    assert _counts(planner, make_lease(RESERVATION, start=100, duration=500).request, 100) == {"deadline": 1}


def test_a_start_in_the_past_is_refused_and_deadline_leases_are_tried_too(
    make_planner: MakePlanner, make_lease: MakeLease
) -> None:
    """Deadline leases are tried like reservations; a start that has passed is refused."""
    planner = make_planner(1)
    running(planner, make_lease(BEST_EFFORT, duration=1000))
    assert _counts(planner, make_lease(RESERVATION, start=99, duration=10).request, 100) is None
    assert _counts(planner, make_lease(RESERVATION, start=100, duration=10).request, 100) == {"best-effort": 1}
    tight = make_lease(DEADLINE, start=500, duration=100, deadline=600).request
    assert _counts(planner, tight, 100) == {"best-effort": 1}
    assert _counts(planner, replace(tight, deadline=5000), 100) == {}


def test_trials_are_limited(make_planner: MakePlanner, make_lease: MakeLease) -> None:
    """Then every request counts as refused."""
    trials = Trials(make_planner(1), 0, 2)
    request = make_lease(RESERVATION, start=0, duration=10).request
    used_up = [(trials.of(request) is not None, trials.are_used_up) for _ in range(3)]
    assert used_up == [(True, False), (True, True), (False, True)]


@pytest.mark.parametrize("free_at", [0, 1, 2, 3, 5, 77, 100])
def test_first_granted_returns_the_first_instant_that_is_granted(
    make_planner: MakePlanner, make_lease: MakeLease, free_at: int
) -> None:
    """It is refused one second before; there is none after the last instant that may be tried."""
    planner = make_planner(1)
    if free_at:
        planner.place(make_lease(RESERVATION, start=0, duration=free_at), 0)
    request = make_lease(RESERVATION, start=0, duration=10).request
    for latest in (free_at, free_at + 1, 1000):
        found = Trials(planner, 0, 60).first_granted(lambda instant: replace(request, start=instant), 0, latest)
        assert found is not None
        assert (found[0], found[1].place.start) == (free_at, free_at)
    assert free_at == 0 or (
        Trials(planner, 0, 60).first_granted(lambda instant: replace(request, start=instant), 0, free_at - 1) is None
    )


@pytest.mark.parametrize("free_until", [11, 12, 50, 99, 100])
def test_most_returns_the_largest_number_that_is_granted(
    make_planner: MakePlanner, make_lease: MakeLease, free_until: int
) -> None:
    """Only what is more than what is known to be granted, and not more than the bound."""
    planner = make_planner(1)
    planner.place(make_lease(RESERVATION, start=free_until, duration=100), 0)
    request = make_lease(RESERVATION, start=0, duration=10).request

    def most(enough: int, bound: int) -> int | None:
        found = Trials(planner, 0, 60).most(lambda duration: replace(request, duration=duration), enough, bound)
        assert found is None or found[1].place.run_end == found[0]
        return None if found is None else found[0]

    assert most(10, 100) == free_until
    assert most(10, free_until) == free_until
    assert most(free_until - 1, 100) == free_until
    assert most(free_until, 100) is None
    assert most(10, 11) == 11
    assert most(10, 10) is None
