from __future__ import annotations

from threading import Thread

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lease_scheduler.rehearsal.runtime.processes import EPOCH, HostClock
from lease_scheduler.rehearsal.runtime.scheduler import GreenThread, Scheduler
from tests.unit.rehearsal.runtime.conftest import Start


@given(st.floats(-1e6, 1e6), st.floats(-0.01, 0.01), st.floats(0, 1e7))
def test_a_clock_needs_the_true_seconds_that_it_says(offset: float, drift: float, seconds: float) -> None:
    clock = HostClock(offset, drift)
    gained = clock.monotonic(100.0 + clock.true_seconds(seconds)) - clock.monotonic(100.0)
    assert abs(gained - seconds) < 1e-6 * max(1.0, seconds)
    assert abs(clock.wall(0.0) - (EPOCH + offset)) < 1e-3


def test_a_killed_process_does_nothing_more_and_no_finally_block_runs(scheduler: Scheduler, start: Start) -> None:
    did: list[str] = []

    def other() -> None:
        scheduler.sleep(5)
        did.append("other")

    def main() -> None:
        Thread(target=other).start()
        try:
            scheduler.sleep(10)
            did.append("main")
        finally:
            did.append("finally")

    process = start(main)
    told: list[float] = []
    process.on_death.append(lambda: told.append(scheduler.now))
    scheduler.run(2)
    assert len(process.threads) == 2
    process.kill()
    process.kill()
    scheduler.run(100)
    assert did == []
    assert told == [2.0]
    assert not process.is_alive


def test_a_process_may_kill_itself_at_any_point(scheduler: Scheduler, start: Start) -> None:
    did: list[str] = []

    def main() -> None:
        try:
            did.append("before")
            process.kill()
            did.append("after")
        finally:
            did.append("finally")

    process = start(main)
    scheduler.run(1)
    assert did == ["before"]
    assert scheduler.crashes == []


@pytest.mark.parametrize("number", range(1, 6))
def test_a_process_may_be_killed_at_any_switch_point(scheduler: Scheduler, start: Start, number: int) -> None:
    did: list[int] = []

    def main() -> None:
        for each in range(1, 6):
            did.append(each)
            scheduler.pause()

    def kill(thread: GreenThread) -> None:
        if len(did) == number:
            thread.process.kill()

    process = start(main)
    scheduler.on_switch = kill
    scheduler.run(1)
    assert did == list(range(1, number + 1))
    assert not process.is_alive


def test_processes_of_one_name_have_labels_of_their_own(scheduler: Scheduler, start: Start) -> None:
    labels = {start(lambda: None, "engine").label for _ in range(3)}
    assert len(labels) == 3


def test_a_killed_thread_that_was_about_to_run_does_not(scheduler: Scheduler, start: Start) -> None:
    did: list[str] = []
    victim = start(lambda: did.append("victim"))
    victim.kill()
    scheduler.run(1)
    assert did == []


def test_a_frozen_process_goes_on_later_and_does_not_know_it(scheduler: Scheduler, start: Start) -> None:
    woken: list[tuple[str, float]] = []

    def main() -> None:
        scheduler.sleep(2)
        woken.append(("sleeper", scheduler.now))

    def freezes() -> None:
        scheduler.sleep(1)
        process.freeze(10)
        woken.append(("itself", scheduler.now))

    process = start(main)
    process.start(freezes)
    start(main)
    scheduler.run(30)
    assert sorted(woken) == [("itself", 11.0), ("sleeper", 2.0), ("sleeper", 11.0)]


def test_a_frozen_process_can_be_killed(scheduler: Scheduler, start: Start) -> None:
    woken: list[float] = []

    def main() -> None:
        scheduler.sleep(2)
        woken.append(scheduler.now)

    process = start(main)
    scheduler.run(1)
    process.freeze(5)
    scheduler.run(2)
    process.kill()
    scheduler.run(10)
    assert woken == []
