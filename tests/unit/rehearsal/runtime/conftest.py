"""A world without servers, in which tests start processes."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from lease_scheduler.rehearsal.runtime.patching import Patches, entered, patched
from lease_scheduler.rehearsal.runtime.processes import HostClock, Process
from lease_scheduler.rehearsal.runtime.scheduler import Scheduler

#: Starts a process whose main thread calls a function.
Start = Callable[..., Process]


@pytest.fixture(scope="module")
def patches() -> Iterator[Patches]:
    with patched() as made:
        yield made


@pytest.fixture
def scheduler(patches: Patches) -> Iterator[Scheduler]:
    made = Scheduler(seed=1)
    with entered(made):
        yield made
        made.close()


@pytest.fixture
def start(scheduler: Scheduler) -> Start:
    def one(main: Callable[[], object], name: str = "process", clock: HostClock | None = None) -> Process:
        process = Process(scheduler, name, f"host-of-{name}", clock)
        process.start(main)
        return process

    return one
