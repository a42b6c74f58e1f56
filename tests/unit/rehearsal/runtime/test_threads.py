from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from threading import Thread, Timer

import pytest

from lease_scheduler.rehearsal.runtime.scheduler import Scheduler
from lease_scheduler.rehearsal.runtime.threads import GreenLocal
from tests.unit.rehearsal.runtime.conftest import Start


def test_threads_know_themselves_and_wait_for_each_other(scheduler: Scheduler, start: Start) -> None:
    seen: list[object] = []

    def child() -> None:
        scheduler.sleep(3)
        seen.append(threading.current_thread())

    def main() -> None:
        made = Thread(target=child, name="child")
        assert not made.is_alive()
        made.start()
        assert made.is_alive()
        assert threading.get_ident() != made.ident
        made.join(1)
        assert (scheduler.now, made.is_alive()) == (1.0, True)
        made.join()
        assert (scheduler.now, made.is_alive()) == (3.0, False)
        assert seen == [made]
        with pytest.raises(RuntimeError, match="only be started once"):
            made.start()
        with pytest.raises(RuntimeError, match="cannot join current"):
            threading.current_thread().join()
        seen.append("done")

    start(main)
    scheduler.run(10)
    assert scheduler.crashes == []
    assert seen[-1] == "done"


def test_pools_and_timers_work(scheduler: Scheduler, start: Start) -> None:
    instants: list[float] = []

    def work(number: int) -> int:
        scheduler.sleep(2)
        return number * number

    def main() -> None:
        Timer(1.5, lambda: instants.append(scheduler.now)).start()
        with ThreadPoolExecutor(max_workers=2) as pool:
            assert list(pool.map(work, range(4))) == [0, 1, 4, 9]
        instants.append(scheduler.now)

    start(main)
    scheduler.run(10)
    assert scheduler.crashes == []
    assert instants == [1.5, 4.0]


def test_local_attributes_belong_to_threads(scheduler: Scheduler, start: Start) -> None:
    local = threading.local()
    assert isinstance(local, GreenLocal)
    seen: list[object] = []

    def main(value: int) -> None:
        assert not hasattr(local, "value")
        local.value = value
        scheduler.sleep(1)
        seen.append(local.value)
        del local.value
        with pytest.raises(AttributeError):
            del local.value

    local.value = "outside"
    for value in range(3):
        start(lambda value=value: main(value))
    scheduler.run(5)
    assert scheduler.crashes == []
    assert sorted(seen, key=str) == [0, 1, 2]
    assert local.value == "outside"


def test_only_processes_start_threads_in_a_world(scheduler: Scheduler) -> None:
    with pytest.raises(RuntimeError, match="started by its processes"):
        Thread(target=lambda: None).start()


def test_without_a_world_threads_are_real() -> None:
    idents: list[int] = []
    real = Thread(target=lambda: idents.append(threading.get_ident()))
    real.start()
    real.join(60)
    assert idents == [real.ident]


def test_a_thread_that_its_world_has_left_behind_is_not_waited_for(start: Start, scheduler: Scheduler) -> None:
    made: list[Thread] = []

    def main() -> None:
        made.append(Thread(target=scheduler.park))
        made[0].start()

    start(main)
    scheduler.run(1)
    # As when Python ends.
    made[0].join()
