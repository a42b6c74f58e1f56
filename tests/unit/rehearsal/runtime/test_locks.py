from __future__ import annotations

from threading import Condition, Event, Lock, RLock, Semaphore

import pytest

from lease_scheduler.rehearsal.runtime.locks import GreenLock, GreenRLock
from lease_scheduler.rehearsal.runtime.patching import Patches, entered
from lease_scheduler.rehearsal.runtime.processes import Process
from lease_scheduler.rehearsal.runtime.scheduler import Scheduler
from tests.unit.rehearsal.runtime.conftest import Start


def test_a_world_makes_its_own_locks(scheduler: Scheduler) -> None:
    assert isinstance(Lock(), GreenLock)
    assert isinstance(RLock(), GreenRLock)


@pytest.mark.parametrize("make", [GreenLock, GreenRLock])
def test_one_thread_at_a_time_is_inside(
    scheduler: Scheduler, start: Start, make: type[GreenLock] | type[GreenRLock]
) -> None:
    lock = make()
    inside = 0
    most = entered = 0

    def main() -> None:
        nonlocal inside, most, entered
        for _ in range(5):
            with lock:
                inside += 1
                most, entered = max(most, inside), entered + 1
                scheduler.sleep(1)
                inside -= 1

    for _ in range(4):
        start(main)
    scheduler.run(100)
    assert (most, entered) == (1, 20)
    assert not lock.locked()


def test_a_wait_for_a_lock_ends_in_time(scheduler: Scheduler, start: Start) -> None:
    lock = GreenLock()
    got: list[tuple[float, bool]] = []

    def keep() -> None:
        with lock:
            scheduler.sleep(10)

    def ask() -> None:
        scheduler.sleep(1)
        got.append((scheduler.now, lock.acquire(blocking=False)))
        got.append((scheduler.now, lock.acquire(timeout=3)))
        scheduler.sleep(0.5)
        got.append((scheduler.now, lock.acquire(timeout=30)))

    start(keep)
    start(ask)
    scheduler.run(100)
    assert got[0] == (1.0, False)
    assert [taken for _, taken in got[1:]] == [False, True]
    assert scheduler.crashes == []
    assert lock.locked()


@pytest.mark.parametrize("seed", range(20))
def test_a_lock_that_becomes_free_as_the_time_ends_is_got_or_not(patches: Patches, seed: int) -> None:
    scheduler, lock, got = Scheduler(seed), GreenLock(), list[bool]()

    def keep() -> None:
        with lock:
            scheduler.sleep(10)

    def ask() -> None:
        scheduler.sleep(5)
        got.append(lock.acquire(timeout=5))

    with entered(scheduler):
        process = Process(scheduler, "process", "host")
        process.start(keep)
        process.start(ask)
        scheduler.run(20)
    assert scheduler.crashes == []
    assert got == [lock.locked()]


def test_a_lock_that_is_taken_again_is_free_after_as_many_releases(scheduler: Scheduler, start: Start) -> None:
    lock = GreenRLock()
    took: list[float] = []

    def main() -> None:
        with lock, lock:
            scheduler.sleep(5)
        scheduler.sleep(5)

    def other() -> None:
        scheduler.sleep(1)
        with lock:
            took.append(scheduler.now)
        with pytest.raises(RuntimeError, match="un-acquired"):
            lock.release()

    start(main)
    start(other)
    scheduler.run(20)
    assert took == [5.0]
    assert scheduler.crashes == []


def test_a_lock_of_a_killed_process_becomes_free(scheduler: Scheduler, start: Start) -> None:
    lock = GreenLock()
    took: list[float] = []

    def keep() -> None:
        lock.acquire()
        scheduler.park()

    def ask() -> None:
        scheduler.sleep(1)
        with lock:
            took.append(scheduler.now)

    keeper = start(keep)
    start(ask)
    scheduler.run(5)
    lock.release_of_dead()
    assert took == []
    keeper.kill()
    lock.release_of_dead()
    scheduler.run(5)
    assert took == [5.0]


def test_a_free_lock_cannot_be_released(scheduler: Scheduler) -> None:
    with pytest.raises(RuntimeError, match="unlocked"):
        GreenLock().release()


@pytest.mark.parametrize("make", [GreenLock, GreenRLock])
def test_a_lock_is_free_in_a_child_of_the_real_process(
    scheduler: Scheduler, make: type[GreenLock] | type[GreenRLock]
) -> None:
    lock = make()
    lock.acquire()
    lock._at_fork_reinit()
    assert not lock.locked()
    assert lock.acquire()


def test_outside_of_threads_nobody_can_wait_for_a_lock(scheduler: Scheduler) -> None:
    lock = GreenLock()
    with lock, pytest.raises(RuntimeError, match="outside of threads"):
        lock.acquire()


def test_events_conditions_and_semaphores_wait_in_the_time_of_the_world(scheduler: Scheduler, start: Start) -> None:
    event, condition, semaphore = Event(), Condition(), Semaphore(1)
    seen: list[tuple[str, float, bool]] = []

    def wait() -> None:
        seen.append(("event", scheduler.now, event.wait(2)))
        seen.append(("event", scheduler.now, event.wait()))
        with condition:
            seen.append(("condition", scheduler.now, condition.wait(60)))
        seen.append(("semaphore", scheduler.now, semaphore.acquire(timeout=5)))

    def give() -> None:
        semaphore.acquire()
        scheduler.sleep(7)
        event.set()
        scheduler.sleep(3)
        with condition:
            condition.notify_all()

    start(wait)
    start(give)
    scheduler.run(100)
    assert [(name, result) for name, _, result in seen] == [
        ("event", False),
        ("event", True),
        ("condition", True),
        ("semaphore", False),
    ]
    assert scheduler.crashes == []
