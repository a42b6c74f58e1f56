"""Jumps of the system's clock are noticed."""

from __future__ import annotations

import pytest

from lease_scheduler.service.core.clock import JumpWatch, RealTime, VirtualClock, real_time


class Clocks:
    """A clock that can be set, and one that cannot."""

    def __init__(self) -> None:
        self.wall = 1_000_000.0
        self.steady = 50.0

    def passes(self, seconds: float, jump: float = 0.0) -> None:
        self.wall += seconds + jump
        self.steady += seconds


@pytest.fixture
def clocks() -> Clocks:
    return Clocks()


@pytest.fixture
def watch(clocks: Clocks) -> JumpWatch:
    return JumpWatch(RealTime(lambda: clocks.wall, lambda: clocks.steady))


@pytest.mark.parametrize("jump", [3_600.0, 10.0, -10.0, -86_400.0])
def test_a_jump_is_told_once(clocks: Clocks, watch: JumpWatch, jump: float) -> None:
    clocks.passes(2.0)
    assert watch.jump() == 0.0
    clocks.passes(2.0, jump)
    assert watch.jump() == pytest.approx(jump)
    clocks.passes(2.0)
    assert watch.jump() == 0.0


def test_time_that_passes_is_no_jump(clocks: Clocks, watch: JumpWatch) -> None:
    """However long it is between two checks; nor is an adjustment by NTP."""
    clocks.passes(86_400.0, 0.5)
    assert watch.jump() == 0.0


def test_all_time_follows_a_virtual_clock() -> None:
    clock = VirtualClock(100)
    real = real_time(clock)
    clock.move_to(250.5)
    assert (clock.now(), clock.seconds_until(260), clock.seconds_until(200)) == (250, 9.5, 0.0)
    assert (real.wall(), real.steady()) == (250.5, 250.5)
