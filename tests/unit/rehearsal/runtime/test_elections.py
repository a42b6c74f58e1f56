from __future__ import annotations

from typing import Any

import pytest
from tooz import coordination

from lease_scheduler.rehearsal.runtime.elections import LIFETIME, ElectionService
from lease_scheduler.rehearsal.runtime.processes import Process
from lease_scheduler.rehearsal.runtime.scheduler import Scheduler
from tests.unit.rehearsal.runtime.conftest import Start

_LOCK = b"lock"


@pytest.fixture
def elections(scheduler: Scheduler) -> ElectionService:
    return ElectionService(scheduler)


class _Candidate:
    """A process that tries to get the lock each second."""

    def __init__(self, scheduler: Scheduler, start: Start, name: str) -> None:
        self._leads = False

        def main() -> None:
            coordinator = coordination.get_coordinator("rehearsal://", name.encode())
            coordinator.start(start_heart=True)
            lock = coordinator.get_lock(_LOCK)
            while not self._leads:
                scheduler.sleep(1)
                self._leads = lock.acquire(blocking=False)

        self.process: Process = start(main, name)

    def leads(self) -> bool:
        """Return whether it has the lock, as it believes."""
        return self._leads


def test_one_member_has_the_lock_as_long_as_it_lives(
    scheduler: Scheduler, start: Start, elections: ElectionService
) -> None:
    first = _Candidate(scheduler, start, "first")
    scheduler.run(5)
    second = _Candidate(scheduler, start, "second")
    scheduler.run(10 * LIFETIME)
    assert (first.leads(), second.leads()) == (True, False)
    first.process.kill()
    scheduler.run(LIFETIME / 4)
    assert not second.leads()
    scheduler.run(LIFETIME)
    assert second.leads()
    assert elections.owner(_LOCK) == b"second"


def test_a_member_in_a_partition_loses_its_lock(scheduler: Scheduler, start: Start, elections: ElectionService) -> None:
    first = _Candidate(scheduler, start, "first")
    scheduler.run(5)
    elections.is_away = lambda process: process is first.process
    _Candidate(scheduler, start, "second")
    scheduler.run(LIFETIME + 2)
    assert elections.owner(_LOCK) == b"second"
    elections.is_away = lambda process: False
    scheduler.run(LIFETIME)
    assert elections.owner(_LOCK) == b"second"


def _in_process(scheduler: Scheduler, start: Start, main: Any) -> None:
    start(main)
    scheduler.run(5)
    assert scheduler.crashes == []


def test_a_released_lock_is_free(scheduler: Scheduler, start: Start, elections: ElectionService) -> None:
    def main() -> None:
        coordinator = coordination.get_coordinator("rehearsal://", b"one")
        coordinator.start()
        lock = coordinator.get_lock(_LOCK)
        assert lock.acquire(blocking=False)
        assert lock.release()
        assert not lock.release()
        assert elections.owner(_LOCK) is None
        assert lock.acquire(blocking=False)
        coordinator.stop()
        assert elections.owner(_LOCK) is None
        with pytest.raises(NotImplementedError, match="nobody waits"):
            lock.acquire(blocking=True)

    _in_process(scheduler, start, main)


def test_a_service_that_is_away_says_so(scheduler: Scheduler, start: Start, elections: ElectionService) -> None:
    elections.is_away = lambda process: True

    def main() -> None:
        with pytest.raises(coordination.ToozConnectionError, match="does not answer"):
            coordination.get_coordinator("rehearsal://", b"one").start()

    _in_process(scheduler, start, main)
