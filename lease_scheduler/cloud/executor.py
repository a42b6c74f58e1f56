"""Executors of orders: those of different leases run in parallel, those of one lease in sequence, step by step."""

from __future__ import annotations

import logging
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from heapq import heapify, heappop, heappush
from threading import Condition, Thread
from time import monotonic

from lease_scheduler.cloud.driver import Driver, StepFailedError
from lease_scheduler.cloud.orders import AnyOrder, Removal
from lease_scheduler.engine.interfaces import UNAWAITED, OperationKind, WaitingClock

LOG = logging.getLogger(__name__)

#: Real seconds between two attempts at a step that ended in an unexpected error, at first and at most.
_FIRST_PAUSE = 1.0
_LONGEST_PAUSE = 60.0

#: Number of failing orders that are tried more often, to notice soon that the cloud answers again, and their longest
#: pause in real seconds. When one succeeds, all failing orders are tried.
_PROBES = 5
_LONGEST_PAUSE_OF_PROBES = 2.0

#: Real seconds before a step that need not wait is repeated, so that it does not keep a processor busy.
_SHORTEST_PAUSE = 0.01

#: Records the progress of orders, given as pairs of intent id and number of the next step.
RecordSteps = Callable[[Iterable[tuple[int, int]]], None]

#: Called when an order is over, with the order and its error, or None if it succeeded.
OnOver = Callable[[AnyOrder, StepFailedError | None], None]


class Executor(ABC):
    """The rules by which orders are carried out. A subclass provides the threads and the clock.

    The next order of a lease begins when the end of the previous one is recorded. For an engine that takes over repeats
    the last step of every order whose end is not recorded, and that must not undo what a later order has done.

    :param driver: driver of the cloud
    :param record_steps: called before every step but the first, so that at most one step is repeated after a crash
    :param on_over: called when an order is over; the callee calls ``written`` once that is recorded
    """

    def __init__(self, driver: Driver, clock: WaitingClock, record_steps: RecordSteps, on_over: OnOver) -> None:
        self._driver = driver
        self._clock = clock
        self._record_steps = record_steps
        self._on_over = on_over
        self._changed = Condition()
        self._orders: dict[str, deque[AnyOrder]] = {}
        self._later: list[tuple[float, int, AnyOrder, int, float]] = []
        # Orders that are being worked on, by intent, and those of these intents that must be checked again at once.
        self._under_way: dict[int, AnyOrder] = {}
        self._hinted: set[int] = set()
        # Intents whose last attempt at a step ended in an unexpected error, oldest first.
        self._failing: dict[int, None] = {}
        # Lease of each intent that is over, until that is recorded.
        self._ended: dict[int, str] = {}
        self._stopped = False

    @abstractmethod
    def stop(self) -> None:
        """Finish the steps that are under way, and begin no more."""

    @abstractmethod
    def _begin(self, order: AnyOrder, step: int, pause: float) -> None:
        """Have ``_steps`` called with these arguments soon, but not before the caller releases ``_changed``."""

    @abstractmethod
    def _record(self, intent_id: int, step: int) -> bool:
        """Record the step that an order has reached. Return False if the executor is stopping."""

    @abstractmethod
    def _seconds(self) -> float:
        """Return the present seconds of the clock by which waiting orders are timed."""

    @abstractmethod
    def _later_changed(self) -> None:
        """Note that another order of ``_later`` may be the next."""

    def submit(self, order: AnyOrder) -> None:
        """Carry out an order, after the earlier orders of the same lease."""
        with self._changed:
            waiting = self._orders.setdefault(order.lease_id, deque())
            waiting.append(order)
            if len(waiting) == 1:
                self._run(order, order.step)
            elif self._is_given_up(waiting[0]):
                self._do_not_wait_for(order.lease_id)

    def _do_not_wait_for(self, lease_id: str) -> None:
        """Have the waiting order of a lease checked at once, because it is given up."""
        self._look_now(lambda order: order.lease_id == lease_id)

    def _look_now(self, concerns: Callable[[AnyOrder], bool]) -> None:
        # A worker may be handling an answer that is older than the event.
        self._hinted.update(intent_id for intent_id, order in self._under_way.items() if concerns(order))
        self._later = [
            (0.0 if concerns(order) else instant, intent_id, order, step, pause)
            for instant, intent_id, order, step, pause in self._later
        ]
        heapify(self._later)
        self._later_changed()

    def ask_again(self, lease_id: str | None, host: str | None) -> None:
        """Check the waiting steps of a lease, and those on a host, at once.

        :param host: name of the host, for orders of any lease, or None
        """
        with self._changed:
            self._look_now(lambda order: order.lease_id == lease_id or _is_on(order, host))

    def ask_all_again(self) -> None:
        """Check all waiting steps at once, for example after the clock was set."""
        with self._changed:
            self._look_now(lambda order: True)

    def written(self, intents: Iterable[int]) -> None:
        """Begin the next orders of leases, because the end of these intents is recorded."""
        with self._changed:
            for intent_id in intents:
                lease_id = self._ended.pop(intent_id, None)
                if lease_id is None:
                    continue
                waiting = self._orders[lease_id]
                waiting.popleft()
                if waiting:
                    self._run(waiting[0], waiting[0].step)
                else:
                    del self._orders[lease_id]

    def is_busy(self, lease_id: str) -> bool:
        """Return whether a lease has an order that is under way, or waits for its turn."""
        with self._changed:
            return any(order.intent_id not in self._ended for order in self._orders.get(lease_id, ()))

    def _run(self, order: AnyOrder, step: int, pause: float = _FIRST_PAUSE) -> None:
        if not self._stopped:
            self._begin(order, step, pause)

    def _steps(self, order: AnyOrder, first: int, pause: float) -> None:
        names = self._driver.steps(order)
        for number in range(first, len(names)):
            if self._stopped:
                return
            if self._is_given_up(order):
                break
            try:
                if number != first and not self._record(order.intent_id, number):
                    return
                again = self._perform(order, names[number])
            except StepFailedError as error:
                self._over(order, error)
                return
            except Exception as error:
                # Repeated failures are logged without a stack trace.
                is_first = pause == _FIRST_PAUSE
                complaint = "lease %s: %s failed, is tried again in %.0f s: %s"
                waits = self._note_failure(order, pause)
                LOG.warning(complaint, order.lease_id, names[number], waits, error, exc_info=is_first)
                self._wait(waits, order, number, min(2 * pause, _LONGEST_PAUSE))
                return
            self._note_answer(order)
            LOG.debug("lease %s: %s is %s", order.lease_id, names[number], "done" if again is None else "going on")
            if again is not None:
                self._wait(self._clock.seconds_until(again), order, number, _FIRST_PAUSE)
                return
        self._over(order, None)

    def _perform(self, order: AnyOrder, name: str) -> int | None:
        with self._changed:
            self._under_way[order.intent_id] = order
            self._hinted.discard(order.intent_id)
        return self._driver.perform(order, name)

    def _note_failure(self, order: AnyOrder, pause: float) -> float:
        """Note that a step failed, and return the seconds after which to try it again."""
        with self._changed:
            self._failing.setdefault(order.intent_id)
            probes = list(self._failing)[:_PROBES]
        return min(pause, _LONGEST_PAUSE_OF_PROBES) if order.intent_id in probes else pause

    def _note_answer(self, order: AnyOrder) -> None:
        """Note that a step succeeded. If it failed before, the cloud answers again: try all failing orders at once."""
        with self._changed:
            if order.intent_id in self._failing:
                failing, self._failing = self._failing, {}
                self._look_now(lambda each: each.intent_id in failing)

    def _is_given_up(self, order: AnyOrder) -> bool:
        """Return whether a later order of the lease makes this one pointless.

        There are three cases:

        * The later order removes everything of the lease.
        * The engine does not wait for this order. A change that cannot be made, for example because hosts are not free,
          must not keep the lease from its end.
        * This order resumes servers, and the later one suspends them again. Servers that do not come back must not
          prevent that.
        """
        with self._changed:
            later = [each for each in self._orders.get(order.lease_id, ()) if each.intent_id > order.intent_id]
        if isinstance(order, Removal):
            return any(isinstance(each, Removal) for each in later)
        kind = order.operation.kind
        return any(
            isinstance(each, Removal)
            or kind in UNAWAITED
            or (kind is OperationKind.RESUME and each.operation.kind is OperationKind.SUSPEND)
            for each in later
        )

    def _over(self, order: AnyOrder, error: StepFailedError | None) -> None:
        with self._changed:
            if self._stopped:
                return
            self._failing.pop(order.intent_id, None)
            self._under_way.pop(order.intent_id, None)
            self._hinted.discard(order.intent_id)
            self._ended[order.intent_id] = order.lease_id
        self._on_over(order, error)

    def _wait(self, seconds: float, order: AnyOrder, step: int, pause: float) -> None:
        with self._changed:
            # During the step, the order may have been given up, or what it waits for may have happened.
            is_hinted = order.intent_id in self._hinted
            self._under_way.pop(order.intent_id, None)
            self._hinted.discard(order.intent_id)
            seconds = 0.0 if is_hinted or self._is_given_up(order) else seconds
            instant = self._seconds() + max(seconds, _SHORTEST_PAUSE)
            heappush(self._later, (instant, order.intent_id, order, step, pause))
            self._later_changed()

    def _run_next(self) -> float | None:
        """Begin the waiting orders that are due. Return the seconds until the next one, or None if none waits."""
        while self._later:
            left = self._later[0][0] - self._seconds()
            if left > 0:
                return left
            _, _, order, step, pause = heappop(self._later)
            self._run(order, step, pause)
        return None


class ThreadedExecutor(Executor):
    """Executor with a pool of threads. A slow lease delays no other, because a waiting step occupies no thread.

    :param on_over: called from a thread of the pool
    :param workers: maximum number of steps that are carried out at the same time
    """

    def __init__(
        self, driver: Driver, clock: WaitingClock, record_steps: RecordSteps, on_over: OnOver, workers: int
    ) -> None:
        super().__init__(driver, clock, record_steps, on_over)
        self._pool = ThreadPoolExecutor(max_workers=workers)
        self._reached: list[tuple[int, int, Future[None]]] = []
        self._threads = [
            Thread(target=self._wake_up, name="cloud-timer", daemon=True),
            Thread(target=self._write_steps, name="cloud-steps", daemon=True),
        ]
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        """See ``Executor``."""
        with self._changed:
            self._stopped = True
            self._changed.notify_all()
        self._pool.shutdown(wait=True)
        for thread in self._threads:
            thread.join()

    def _begin(self, order: AnyOrder, step: int, pause: float) -> None:
        self._pool.submit(self._steps, order, step, pause)

    def _seconds(self) -> float:
        return monotonic()

    def _later_changed(self) -> None:
        self._changed.notify_all()

    def _wake_up(self) -> None:
        with self._changed:
            while not self._stopped:
                self._changed.wait(self._run_next())

    # -- steps are written in groups ---------------------------------------------------------------------

    def _record(self, intent_id: int, step: int) -> bool:
        written: Future[None] = Future()
        with self._changed:
            if self._stopped:
                return False
            self._reached.append((intent_id, step, written))
            self._changed.notify_all()
        written.result()
        return True

    def _write_steps(self) -> None:
        while True:
            with self._changed:
                while not self._reached and not self._stopped:
                    self._changed.wait()
                group, self._reached = self._reached, []
                if not group and self._stopped:
                    return
            try:
                self._record_steps([(intent_id, step) for intent_id, step, _ in group])
            except BaseException as error:
                for _, _, written in group:
                    written.set_exception(error)
            else:
                for _, _, written in group:
                    written.set_result(None)


def _is_on(order: AnyOrder, host: str | None) -> bool:
    """Return whether an order concerns a host with this name. A removal knows no hosts."""
    return not isinstance(order, Removal) and host in order.hosts
