from __future__ import annotations

import gc
import os
import random
import secrets
import socket
import time
import uuid
from datetime import UTC, datetime
from queue import Empty, SimpleQueue

import pytest
from oslo_utils import timeutils

from lease_scheduler.rehearsal.runtime import substitutes
from lease_scheduler.rehearsal.runtime.patching import Patches, entered
from lease_scheduler.rehearsal.runtime.processes import EPOCH, HostClock, Process
from lease_scheduler.rehearsal.runtime.scheduler import Scheduler
from tests.unit.rehearsal.runtime.conftest import Start


def test_clocks_show_the_time_of_the_host(scheduler: Scheduler, start: Start) -> None:
    seen: list[tuple[float, float, float]] = []

    def main() -> None:
        time.sleep(100)
        seen.append((time.time(), time.monotonic(), time.perf_counter()))
        assert time.time_ns() == int(time.time() * 1e9)
        assert time.monotonic_ns() == int(time.monotonic() * 1e9)

    start(main, clock=HostClock(offset=7.0, drift=0.25))
    scheduler.run(81)
    assert seen == [(EPOCH + 107.0, 100.0, 100.0)]
    # The clock of the host is fast, so it shows 100 s after 80 s.
    assert scheduler.crashes == []


def test_dates_are_those_of_the_world(scheduler: Scheduler, start: Start) -> None:
    seen: list[datetime] = []

    def main() -> None:
        seen.extend(
            [
                substitutes.WorldDatetime.now(UTC),
                substitutes.WorldDatetime.now(),
                substitutes.WorldDatetime.utcnow(),
                timeutils.utcnow(),
            ]
        )

    start(main)
    scheduler.run(1)
    began = datetime.fromtimestamp(EPOCH, UTC)
    assert seen == [began, *[began.replace(tzinfo=None)] * 3]
    assert all(type(each) is datetime for each in seen)
    assert isinstance(seen[0], substitutes.WorldDatetime)
    assert type(substitutes.WorldDatetime(2030, 1, 1)) is datetime


def test_a_process_has_a_host_and_a_number_of_its_own(scheduler: Scheduler, start: Start) -> None:
    seen: dict[str, tuple[str, int]] = {}

    def look(name: str) -> None:
        seen[name] = (socket.gethostname(), os.getpid())

    processes = {name: start(lambda name=name: look(name), name) for name in ("one", "other")}
    real = (socket.gethostname(), os.getpid())
    scheduler.run(1)
    assert seen == {name: (process.host, process.pid) for name, process in processes.items()}
    assert real not in seen.values()


def _drawn(patches: Patches, seed: int) -> list[object]:
    scheduler, drawn = Scheduler(seed), list[object]()

    def main() -> None:
        drawn.extend(
            [uuid.uuid4(), secrets.token_hex(), os.urandom(4), random.random(), random.SystemRandom().random()]
        )

    with entered(scheduler):
        Process(scheduler, "process", "host").start(main)
        scheduler.run(1)
        assert scheduler.crashes == []
    return drawn


def test_chance_comes_from_the_seed(patches: Patches) -> None:
    state = random.getstate()
    drawn = _drawn(patches, 1)
    assert len(drawn) == 5
    assert drawn == _drawn(patches, 1)
    assert not set(drawn) & set(_drawn(patches, 2))
    assert random.getstate() == state


def test_a_queue_waits_in_the_time_of_the_world(scheduler: Scheduler, start: Start) -> None:
    got: list[object] = []

    def main() -> None:
        queue: SimpleQueue[str] = SimpleQueue()
        with pytest.raises(Empty):
            queue.get(timeout=5)
        queue.put("something")
        got.extend([queue.get(), time.monotonic()])

    start(main)
    scheduler.run(10)
    assert got == ["something", 5.0]


def test_simulated_processes_do_not_collect_garbage(scheduler: Scheduler, start: Start) -> None:
    frozen = gc.get_freeze_count()

    def main() -> None:
        gc.collect()
        gc.freeze()

    start(main)
    scheduler.run(1)
    assert gc.get_freeze_count() == frozen
    assert scheduler.crashes == []


def test_outside_of_threads_everything_is_real(scheduler: Scheduler) -> None:
    assert time.time() < EPOCH
    assert os.getpid() != 1_000
    assert substitutes.WorldDatetime.now().year < 2030
    assert len(os.urandom(16)) == 16
