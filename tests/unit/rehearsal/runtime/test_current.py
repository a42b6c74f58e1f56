from __future__ import annotations

import _thread

import pytest

from lease_scheduler.rehearsal.runtime import current
from lease_scheduler.rehearsal.runtime.scheduler import Scheduler
from tests.unit.rehearsal.runtime.conftest import Start


def test_outside_of_a_world_there_is_no_scheduler() -> None:
    assert current.running() is None
    with pytest.raises(current.NoWorldError, match="no world runs here"):
        current.scheduler()


def test_worlds_run_one_at_a_time(scheduler: Scheduler) -> None:
    with pytest.raises(RuntimeError, match="only one world"):
        current.enter(scheduler)


def test_a_thread_of_the_world_is_current_while_it_runs(scheduler: Scheduler, start: Start) -> None:
    seen: list[object] = []
    process = start(lambda: seen.append(current.thread()))
    assert current.thread() is None
    scheduler.run(1)
    (thread,) = seen
    assert thread is not None
    assert thread.process is process  # type: ignore[attr-defined]


def test_other_real_threads_are_in_no_world(scheduler: Scheduler, start: Start) -> None:
    seen: list[object] = []

    def main() -> None:
        done = _thread.allocate_lock()
        done.acquire()

        def look() -> None:
            seen.append((current.running(), current.thread()))
            done.release()

        _thread.start_new_thread(look, ())
        assert done.acquire(timeout=60)

    start(main)
    scheduler.run(1)
    assert seen == [(None, None)]
