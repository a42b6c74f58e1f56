from __future__ import annotations

from lease_scheduler.guest.controllers.per_job import PerJob, PerJobExtended
from lease_scheduler.guest.values import Ask, End, Extend, Holding, Job, Limits

_LIMITS = Limits(nodes=8, term=600, setup=90, lookahead=60)


def _lease(name: str, job: str, *, units: int = 2, free: int = 0, busy: int = 0, end: int | None = 1_000) -> Holding:
    return Holding(name, units, free, busy, 600, 600, end, job)


def test_each_job_gets_a_lease_as_wide_and_as_long_as_it_is() -> None:
    """Shirako A44 and A45: set-up of 9 ticks of 10 s, and the runtime that the client states."""
    jobs = [Job("1", 2, 300), Job("2", 1, None)]
    assert PerJob(_LIMITS).decide(jobs, [], 0) == [Ask(2, 390, "1"), Ask(1, 600, "2")]


def test_a_job_with_a_lease_gets_no_other() -> None:
    waiting, started = _lease("a", "1", free=2, end=None), _lease("b", "2", free=1)
    assert PerJob(_LIMITS).decide([Job("1", 2, 300), Job("2", 1, 300)], [waiting, started], 900) == []


def test_a_job_uses_a_lease_that_is_wide_and_long_enough() -> None:
    """Shirako F124: reuse of a container."""
    left = _lease("a", "gone", free=2)
    assert PerJob(_LIMITS).decide([Job("2", 2, 300)], [left], 610) == []
    assert PerJob(_LIMITS).decide([Job("2", 2, 300)], [left], 611) == [End("a"), Ask(2, 390, "2")]
    assert PerJob(_LIMITS).decide([Job("2", 3, 300)], [left], 0) == [End("a"), Ask(3, 390, "2")]


def test_the_own_lease_of_a_job_is_not_given_to_another() -> None:
    own = _lease("a", "2", free=2)
    assert PerJob(_LIMITS).decide([Job("1", 2, 300), Job("2", 2, 300)], [own], 0) == [Ask(2, 390, "1")]


def test_a_job_that_does_not_fit_waits() -> None:
    assert PerJob(_LIMITS).decide([Job("1", 7, 300)], [_lease("a", "0", busy=2)], 0) == []


def test_only_short_leases_are_extended() -> None:
    busy = _lease("a", "1", busy=1)
    assert PerJob(_LIMITS).decide([], [busy], 990) == []
    assert PerJobExtended(_LIMITS).decide([], [busy], 990) == [Extend("a", 1_200)]
    assert PerJobExtended(_LIMITS).decide([Job("2", 1, 36_000)], [], 0) == [Ask(1, 600, "2")]
