from __future__ import annotations

import time
from collections.abc import Callable
from concurrent import futures

from futurist import ThreadPoolExecutor

from lease_scheduler.rehearsal.runtime.patching import entered, patched
from lease_scheduler.rehearsal.runtime.processes import Process
from lease_scheduler.rehearsal.runtime.scheduler import Scheduler


def _switches_in(main: Callable[[], object], seconds: float) -> int:
    scheduler = Scheduler(1)
    with patched(), entered(scheduler):
        process = Process(scheduler, "process", "host")
        process.start(main)
        scheduler.run(seconds)
        assert scheduler.crashes == []
        switches = scheduler.switches
        process.kill()
        scheduler.close()
    return switches


def test_idle_threads_of_a_pool_are_not_woken() -> None:
    done: list[int] = []
    kept: list[object] = []

    def main() -> None:
        pool = ThreadPoolExecutor(2)
        kept.append(pool)
        pool.submit(done.append, 1)

    assert _switches_in(main, 1_000.0) < 50
    assert done == [1]


def test_a_pool_that_is_shut_down_ends_its_threads() -> None:
    ended: list[bool] = []

    def main() -> None:
        pool = ThreadPoolExecutor(2)
        for number in range(4):
            pool.submit(pow, number, 2)
        pool.shutdown()
        ended.append(all(not worker.is_alive() for worker in pool._workers))

    _switches_in(main, 10.0)
    assert ended == [True]


def test_the_threads_of_a_pool_are_waited_for_in_the_order_of_their_starts() -> None:
    found: list[list[str]] = []

    def main() -> None:
        pool = futures.ThreadPoolExecutor(20, thread_name_prefix="thread")
        for _ in range(20):
            pool.submit(time.sleep, 1.0)
        found.append([thread.name for thread in pool._threads])
        pool.shutdown()

    _switches_in(main, 10.0)
    assert found == [[f"thread_{number}" for number in range(20)]]
