"""Yield, virtual time and stretch of fluid leases."""

from __future__ import annotations

from lease_scheduler.model.progress import Progress, stretch


def test_virtual_time_is_that_of_the_dissertation() -> None:
    """Stillwell 2010, section 3.1: 10 s at yield 1, 120 s paused, 30 s at yield 0.5 are 25 s."""
    progress = Progress(0, 1000, 0).at_yield(0, 10).at_yield(500, 130)
    assert progress.virtual_at(160) == 25_000
    assert progress.part == 0.5


def test_it_does_not_depend_on_how_often_yields_change() -> None:
    """A yield that is given again changes nothing, also not by rounding."""
    once, often = Progress(0, 333, 0), Progress(0, 333, 0)
    for now in range(1, 1_000):
        often = often.at_yield(333, now)
    assert often.virtual_at(1_000) == once.virtual_at(1_000) == 333_000


def test_a_clock_that_is_set_back_takes_nothing_away() -> None:
    assert Progress(5_000, 1000, 100).virtual_at(90) == 5_000


def test_stretch() -> None:
    """Time since the request by virtual time: unknown before the lease has run, and never below 1."""
    assert stretch(100, 400, 150_000) == 2
    assert stretch(100, 400, 0) is None
    assert stretch(100, 100, 1) == 1
