"""Executor of orders for a service that is stepped and runs without threads."""

from __future__ import annotations

from collections import deque

from lease_scheduler.cloud.driver import Driver
from lease_scheduler.cloud.executor import Executor, OnOver, RecordSteps
from lease_scheduler.cloud.orders import AnyOrder
from lease_scheduler.engine.interfaces import WaitingClock
from lease_scheduler.service.rounds import UpkeepWorker

#: Seconds after which a failed round is tried again.
_RETRY = 1.0


class SteppedExecutor(Executor, UpkeepWorker):
    """Executor that carries orders out in the thread that steps it, one after the other.

    :param workers: unused, as there are no threads
    """

    def __init__(
        self, driver: Driver, clock: WaitingClock, record_steps: RecordSteps, on_over: OnOver, workers: int
    ) -> None:
        Executor.__init__(self, driver, clock, record_steps, on_over)
        UpkeepWorker.__init__(self, "orders", _RETRY)
        self._ready: deque[tuple[AnyOrder, int, float]] = deque()
        self._now = 0.0

    def round(self, now: float) -> float | None:
        """Take the steps that can be taken now."""
        self._now = now
        pause = self._run_next()
        while self._ready and not self._stopped:
            self._steps(*self._ready.popleft())
            pause = self._run_next()
        return pause

    def stop(self) -> None:
        """See ``Executor``."""
        self._stopped = True

    def _begin(self, order: AnyOrder, step: int, pause: float) -> None:
        self._ready.append((order, step, pause))
        self.wake()

    def _record(self, intent_id: int, step: int) -> bool:
        self._record_steps([(intent_id, step)])
        return True

    def _seconds(self) -> float:
        return self._now

    def _later_changed(self) -> None:
        self.wake()
