"""Carries out orders in parallel, one at a time for each lease, step by step."""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from heapq import heapify, heappop, heappush
from threading import Condition, Thread
from time import monotonic

from lease_scheduler.cloud.driver import Driver, Order, StepFailedError, WaitingClock
from lease_scheduler.engine.interfaces import UNAWAITED, OperationKind

LOG = logging.getLogger(__name__)

#: Real seconds between two attempts at a step that ended in an error nobody expected, at first and at most.
_FIRST_PAUSE = 1.0
_LONGEST_PAUSE = 60.0

#: So many of the failing orders are tried this often at least, so that it is soon known when the cloud answers again.
#: All others are tried then.
_PROBES = 5
_LONGEST_PAUSE_OF_PROBES = 2.0


#: Writes to which step orders have come: pairs of intent id and number of the next step.
RecordSteps = Callable[[Iterable[tuple[int, int]]], None]

#: Told when an order is over: the order and why it failed, none if it did not.
OnOver = Callable[[Order, StepFailedError | None], None]


class Executor:
    """A pool of workers. A slow lease holds up nobody else, because a step that has to wait gives its worker back.

    The next order of a lease begins when the end of the one before is written down: an engine that takes over repeats
    the last step of every order whose end is not, and must not undo what a later order has done by then.

    :param driver: the cloud
    :param record_steps: called before every step but the first, so that a crash repeats one step at most
    :param on_over: called from a worker when an order is over; ``written`` is to be called in return
    :param workers: how many steps are carried out at the same time
    """

    def __init__(
        self, driver: Driver, clock: WaitingClock, record_steps: RecordSteps, on_over: OnOver, workers: int
    ) -> None:
        self._driver = driver
        self._clock = clock
        self._record_steps = record_steps
        self._on_over = on_over
        self._pool = ThreadPoolExecutor(max_workers=workers)
        self._changed = Condition()
        self._orders: dict[str, deque[Order]] = {}
        self._later: list[tuple[float, int, Order, int, float]] = []
        # Orders that are looked at, by intent, until they wait or are over, and those for which something happened.
        self._under_way: dict[int, Order] = {}
        self._hinted: set[int] = set()
        # Intents whose last attempt at a step ended in an error nobody expected.
        self._failing: dict[int, None] = {}
        self._reached: list[tuple[int, int, Future[None]]] = []
        # Lease of each intent that is over, until that is written down.
        self._ended: dict[int, str] = {}
        self._stopped = False
        self._threads = [
            Thread(target=self._wake_up, name="cloud-timer", daemon=True),
            Thread(target=self._write_steps, name="cloud-steps", daemon=True),
        ]
        for thread in self._threads:
            thread.start()

    def submit(self, order: Order) -> None:
        """Carry out an order after those that were given before for the same lease."""
        with self._changed:
            waiting = self._orders.setdefault(order.lease_id, deque())
            waiting.append(order)
            if len(waiting) == 1:
                self._run(order, order.step)
            elif self._is_given_up(waiting[0]):
                self._do_not_wait_for(order.lease_id)

    def _do_not_wait_for(self, lease_id: str) -> None:
        """Look at once at an order that was to be looked at later; it is of no use any more."""
        self._look_now(lambda order: order.lease_id == lease_id)

    def _look_now(self, concerns: Callable[[Order], bool]) -> None:
        # The cloud may have answered before that happened.
        self._hinted.update(intent_id for intent_id, order in self._under_way.items() if concerns(order))
        self._later = [
            (0.0 if concerns(order) else instant, intent_id, order, step, pause)
            for instant, intent_id, order, step, pause in self._later
        ]
        heapify(self._later)
        self._changed.notify_all()

    def ask_again(self, lease_id: str | None, host: str | None) -> None:
        """See at once how far a step is that was to be looked at later: of a lease, or on a host.

        :param host: name of the host, for orders of whatever lease; none if only those of the lease are meant
        """
        with self._changed:
            self._look_now(lambda order: order.lease_id == lease_id or (host is not None and host in order.hosts))

    def ask_all_again(self) -> None:
        """See at once how far every step is that was to be looked at later: the clock is not what it was."""
        with self._changed:
            self._look_now(lambda order: True)

    def written(self, intents: Iterable[int]) -> None:
        """Go on with the next orders of leases: it is written down that these intents are over."""
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
        """Whether something is being done for a lease, or is to be done."""
        with self._changed:
            return any(order.intent_id not in self._ended for order in self._orders.get(lease_id, ()))

    def stop(self) -> None:
        """Finish the steps that are being carried out and begin no more."""
        with self._changed:
            self._stopped = True
            self._changed.notify_all()
        self._pool.shutdown(wait=True)
        for thread in self._threads:
            thread.join()

    def _run(self, order: Order, step: int, pause: float = _FIRST_PAUSE) -> None:
        if not self._stopped:
            self._pool.submit(self._steps, order, step, pause)

    def _steps(self, order: Order, first: int, pause: float) -> None:
        names = self._driver.steps(order.operation)
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
                # The stack is worth its lines once.
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

    def _perform(self, order: Order, name: str) -> int | None:
        with self._changed:
            self._under_way[order.intent_id] = order
            self._hinted.discard(order.intent_id)
        return self._driver.perform(order, name)

    def _note_failure(self, order: Order, pause: float) -> float:
        """Return the seconds after which a step that failed is tried again."""
        with self._changed:
            self._failing.setdefault(order.intent_id)
            probes = list(self._failing)[:_PROBES]
        return min(pause, _LONGEST_PAUSE_OF_PROBES) if order.intent_id in probes else pause

    def _note_answer(self, order: Order) -> None:
        """The cloud has answered; what failed may have failed for the same reason as this order did before."""
        with self._changed:
            if order.intent_id in self._failing:
                failing, self._failing = self._failing, {}
                self._look_now(lambda each: each.intent_id in failing)

    def _is_given_up(self, order: Order) -> bool:
        """Whether it does not matter any more: everything of the lease is to be destroyed, or nobody waits for it.

        What cannot follow a change, because hosts are not free for instance, must not keep the lease from its end; nor
        servers that do not come back from being put away again.
        """
        with self._changed:
            later = [each for each in self._orders.get(order.lease_id, ()) if each.intent_id > order.intent_id]
        if order.operation is None:
            return any(each.operation is None for each in later)
        kind = order.operation.kind
        return any(
            each.operation is None
            or kind in UNAWAITED
            or (kind is OperationKind.RESUME and each.operation.kind is OperationKind.SUSPEND)
            for each in later
        )

    def _over(self, order: Order, error: StepFailedError | None) -> None:
        with self._changed:
            if self._stopped:
                return
            self._failing.pop(order.intent_id, None)
            self._under_way.pop(order.intent_id, None)
            self._hinted.discard(order.intent_id)
            self._ended[order.intent_id] = order.lease_id
        self._on_over(order, error)

    # -- waiting -----------------------------------------------------------------------------------------

    def _wait(self, seconds: float, order: Order, step: int, pause: float) -> None:
        with self._changed:
            # It may have been given up while it was being looked at, or what it waits for may have happened.
            is_hinted = order.intent_id in self._hinted
            self._under_way.pop(order.intent_id, None)
            self._hinted.discard(order.intent_id)
            seconds = 0.0 if is_hinted or self._is_given_up(order) else seconds
            heappush(self._later, (monotonic() + max(seconds, 0.01), order.intent_id, order, step, pause))
            self._changed.notify_all()

    def _wake_up(self) -> None:
        with self._changed:
            while not self._stopped:
                if not self._later:
                    self._changed.wait()
                    continue
                left = self._later[0][0] - monotonic()
                if left > 0:
                    self._changed.wait(left)
                    continue
                _, _, order, step, pause = heappop(self._later)
                self._run(order, step, pause)

    # -- steps are written in groups ---------------------------------------------------------------------

    def _record(self, intent_id: int, step: int) -> bool:
        """Whether the step that an order has come to is written down; not when the executor stops."""
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
