"""The two ways to run workers: in a thread for each, or stepped from outside on a virtual clock."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from time import monotonic
from typing import Protocol

from lease_scheduler.service.rounds import FirmPause, OwnThreads, UpkeepWorker
from lease_scheduler.worker import Worker

#: Rounds in one step after which the workers are assumed to wake each other forever.
_ENDLESS = 100_000


class Runner(Protocol):
    """Has the rounds of workers done."""

    def start(self, workers: Sequence[UpkeepWorker]) -> None:
        """Prepare these workers, and have their rounds done from now on."""
        ...

    def stop(self, workers: Iterable[UpkeepWorker]) -> None:
        """Begin no further round of these workers, and wait for the current ones."""
        ...


def _prepared(workers: Iterable[UpkeepWorker]) -> list[UpkeepWorker]:
    """Prepare workers, and return those that have rounds."""
    return [worker for worker in workers if worker.prepare()]


class _Thread:
    """The thread of a worker."""

    def __init__(self, worker: UpkeepWorker) -> None:
        self._worker = worker
        self._asked_at = math.inf
        self._thread = Worker(worker.name, self._round, worker.retry, worker.failed, worker.first)
        worker.run_by(self._thread)

    def start(self) -> None:
        self._thread.start()

    def ask_to_stop(self) -> None:
        self._asked_at = monotonic()
        self._thread.ask_to_stop()

    def join(self) -> None:
        patience = self._worker.patience
        self._thread.join(None if patience is None else max(0.0, self._asked_at + patience - monotonic()))

    def _round(self) -> float | None:
        pause = self._worker.round(monotonic())
        if isinstance(pause, FirmPause):
            self._thread.wait_for_stop(pause)
            return 0.0
        return pause


class ThreadRunner:
    """Runs each worker in a thread of its own."""

    def __init__(self) -> None:
        self._threads: dict[UpkeepWorker, OwnThreads] = {}

    def start(self, workers: Sequence[UpkeepWorker]) -> None:
        """See ``Runner``. No round begins before all workers are prepared."""
        threads = {worker: worker.own_threads() or _Thread(worker) for worker in _prepared(workers)}
        self._threads |= threads
        for thread in threads.values():
            thread.start()

    def stop(self, workers: Iterable[UpkeepWorker]) -> None:
        """See ``Runner``."""
        workers = list(workers)
        threads = [self._threads.pop(worker) for worker in workers if worker in self._threads]
        for thread in threads:
            thread.ask_to_stop()
        for thread in threads:
            thread.join()
        for worker in workers:
            worker.ended()


class _Schedule:
    """Schedule of a stepped worker.

    :ivar due: seconds at which the next round is due; None to wait for ``wake``
    :ivar firm: seconds before which a wake-up causes no round (see ``FirmPause``)
    """

    def __init__(self) -> None:
        self.due: float | None = None
        self.firm = -math.inf
        self.is_begun = False
        self.is_woken = False
        self.is_stopping = False

    def wake(self) -> None:
        """See ``Signals``."""
        self.is_woken = True

    def ask_to_stop(self) -> None:
        """See ``Signals``."""
        self.is_stopping = True

    def instant(self) -> float | None:
        """Return the seconds at which the next round is due, or None."""
        if self.is_stopping:
            return None
        return self.firm if self.is_woken else self.due


class SteppedRunner:
    """Runs workers when it is stepped, in the thread of the caller and in the order in which they were started.

    The same steps at the same instants do the same: nothing depends on threads, nor on real time if the workers have a
    virtual clock.
    """

    def __init__(self) -> None:
        self._workers: dict[UpkeepWorker, _Schedule] = {}

    def start(self, workers: Sequence[UpkeepWorker]) -> None:
        """See ``Runner``. The time until the first rounds counts from the next step."""
        for worker in _prepared(workers):
            self._workers[worker] = _Schedule()
            worker.run_by(self._workers[worker])

    def stop(self, workers: Iterable[UpkeepWorker]) -> None:
        """See ``Runner``."""
        for worker in workers:
            worker.ask_to_stop()
            self._workers.pop(worker, None)
            worker.ended()

    def step(self, now: float) -> None:
        """Do the rounds that are due, and those that they bring about, until none is left.

        :param now: present seconds of the clock of the workers
        :raises RuntimeError: the workers wake each other forever
        """
        for worker, stepped in self._workers.items():
            if not stepped.is_begun:
                stepped.is_begun = True
                stepped.due = now + worker.first
        rounds = 0
        while self._step_once(now):
            rounds += 1
            if rounds > _ENDLESS:
                raise RuntimeError(f"the workers wake each other forever: more than {_ENDLESS} rounds at {now}")

    def next_due(self) -> float | None:
        """Return the seconds at which the next round is due, or None.

        After a wake-up this is the end of a firm pause, or minus infinity if there is none.
        """
        instants = (stepped.instant() for stepped in self._workers.values())
        return min((instant for instant in instants if instant is not None), default=None)

    def _step_once(self, now: float) -> bool:
        """Do one round of each worker that is due, and return whether there was any."""
        is_any = False
        for worker, stepped in list(self._workers.items()):
            instant = stepped.instant()
            if instant is not None and instant <= now:
                self._round(worker, stepped, now)
                is_any = True
        return is_any

    def _round(self, worker: UpkeepWorker, stepped: _Schedule, now: float) -> None:
        # Before the round, so that a wake-up during the round causes another one.
        stepped.is_woken = False
        try:
            pause = worker.round(now)
        except Exception as error:
            worker.failed(error)
            pause = worker.retry
        stepped.firm = now + pause if isinstance(pause, FirmPause) else -math.inf
        stepped.due = None if pause is None else now + pause
