"""Workers that send deliveries to subscriptions until the receivers confirm them.

Each subscription gets its deliveries in the order in which they were written. After a failure it waits, and nothing
overtakes the delivery that failed. Different subscriptions do not wait for each other.
"""

from __future__ import annotations

import logging
import time
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from threading import Lock
from typing import Protocol

from lease_scheduler.records.subscriptions import Delivery, DueSubscription, SubscriptionRecord
from lease_scheduler.service.rounds import FirmPause, UpkeepWorker
from lease_scheduler.service.telling.subscriptions.base import NotDeliveredError, NotificationDriver
from lease_scheduler.service.telling.subscriptions.options import DeliveryOptions

LOG = logging.getLogger(__name__)

#: Maximum real seconds between two checks for deliveries that are due.
_PAUSE = 5.0

#: Real seconds for which an engine that stops waits for current deliveries. The next engine cannot lead until then.
_PATIENCE = 5.0

_LONGEST_ERROR = 255


class DeliveryStore(Protocol):
    """The deliveries that wait (see ``store.sql.subscriptions``). Instants are real seconds since the epoch."""

    def due(self, drivers: Collection[str], now: int) -> list[DueSubscription]:
        """Return the subscriptions with a delivery that is due, those that have waited longest first."""
        ...

    def first(self, subscription_id: str) -> tuple[SubscriptionRecord, Delivery, int] | None:
        """Return a subscription, its oldest delivery and its failures, or None if nothing waits for it."""
        ...

    def delivered(self, delivery: Delivery, now: int) -> None:
        """Delete a delivery, and note that its subscription works."""
        ...

    def failed(self, delivery: Delivery, failures: int, next_attempt: int, error: str) -> None:
        """Note a failed attempt at a delivery."""
        ...

    def give_up(self, delivery: Delivery, error: str) -> None:
        """Delete a delivery that was not confirmed."""
        ...


def choose(due: Sequence[DueSubscription], busy: Mapping[str, DueSubscription], places: int) -> list[DueSubscription]:
    """Return the subscriptions to serve now, each with a thread of its own.

    Receivers that failed get at most half of the threads, so that dead ones never take all. The same bound holds for
    each project.

    :param due: subscriptions with a delivery that is due, those that have waited longest first
    :param busy: subscriptions that are being served, by id
    :param places: number of threads
    """
    half = max(1, places // 2)
    failing = sum(each.failures > 0 for each in busy.values())
    of_project = Counter(each.project_id for each in busy.values())
    chosen: list[DueSubscription] = []
    for each in sorted(due, key=lambda waiting: waiting.failures > 0):
        if len(busy) + len(chosen) >= places:
            break
        if each.subscription_id in busy or of_project[each.project_id] >= half:
            continue
        if each.failures > 0:
            if failing >= half:
                break
            failing += 1
        of_project[each.project_id] += 1
        chosen.append(each)
    return chosen


class Courier(UpkeepWorker):
    """Worker that hands subscriptions with due deliveries to several other workers, which send them.

    A stop does not wait for slow receivers. The next engine sends what remains, and repeats what was not confirmed.

    :param drivers: the drivers that are switched on, by name
    :param is_mine: returns whether no other engine leads
    :param on_result: called with the name of the driver and ``delivered``, ``failed`` or ``given-up``
    :param wall: returns the real seconds since the epoch
    """

    def __init__(
        self,
        store: DeliveryStore,
        drivers: Mapping[str, NotificationDriver],
        options: DeliveryOptions,
        is_mine: Callable[[], bool],
        on_result: Callable[[str, str], None] = lambda driver, result: None,
        wall: Callable[[], float] = time.time,
    ) -> None:
        super().__init__("courier", _PAUSE, first=_PAUSE)
        self._wall = wall
        self._store = store
        self._drivers = drivers
        self._options = options
        self._is_mine = is_mine
        self._on_result = on_result
        self._lock = Lock()
        self._busy: dict[str, DueSubscription] = {}
        self._hands = [_Sender(f"courier-{number}", self._serve, self._served) for number in range(options.workers)]

    @property
    def hands(self) -> Sequence[UpkeepWorker]:
        """The workers that send."""
        return self._hands

    def round(self, now: float) -> float:
        """Hand out the deliveries that are due."""
        pause = min(_PAUSE, self._options.first_pause)
        if not self._is_mine():
            return pause
        due = self._store.due(self._drivers, int(self._wall()))
        with self._lock:
            free = [hand for hand in self._hands if hand.is_free]
            given = list(zip(free, choose(due, self._busy, len(self._hands)), strict=False))
            self._busy |= {each.subscription_id: each for _, each in given}
        for hand, each in given:
            hand.take(each)
        return pause

    def _serve(self, due: DueSubscription, is_stopping: Callable[[], bool]) -> None:
        """Send the deliveries of a subscription until one fails or none is left."""
        while not is_stopping() and self._is_mine() and self._send_first(due.subscription_id):
            pass

    def _served(self, due: DueSubscription) -> None:
        with self._lock:
            del self._busy[due.subscription_id]
        self.wake()

    def _send_first(self, subscription_id: str) -> bool:
        """Send the first delivery of a subscription, and return whether the next one may follow at once."""
        found = self._store.first(subscription_id)
        if found is None:
            return False
        subscription, delivery, failures = found
        if self._wall() - delivery.created_at >= self._options.give_up_after:
            self._give_up(subscription, delivery)
            return True
        try:
            self._drivers[subscription.driver].send(subscription, delivery)
        except NotDeliveredError as error:
            self._put_off(subscription, delivery, failures + 1, str(error))
            return False
        except Exception as error:
            LOG.exception("delivery %s could not be sent", delivery.delivery_id)
            self._put_off(subscription, delivery, failures + 1, f"internal error ({type(error).__name__})")
            return False
        self._store.delivered(delivery, int(self._wall()))
        self._on_result(subscription.driver, "delivered")
        return True

    def _put_off(self, subscription: SubscriptionRecord, delivery: Delivery, failures: int, error: str) -> None:
        LOG.info("subscription %s: attempt %d has failed: %s", subscription.subscription_id, failures, error)
        next_attempt = int(self._wall()) + self._options.pause(failures)
        self._store.failed(delivery, failures, next_attempt, error[:_LONGEST_ERROR])
        self._on_result(subscription.driver, "failed")

    def _give_up(self, subscription: SubscriptionRecord, delivery: Delivery) -> None:
        event_type = delivery.message.event_type
        LOG.warning("subscription %s: %s is given up", subscription.subscription_id, event_type)
        self._store.give_up(delivery, f"{event_type} was not delivered in time and is given up")
        self._on_result(subscription.driver, "given-up")


class _Sender(UpkeepWorker):
    """Worker that serves one subscription at a time.

    :param serve: serves a subscription; its second argument returns whether the worker is to stop
    :param on_free: called with the subscription when the worker can take another one
    """

    def __init__(
        self,
        name: str,
        serve: Callable[[DueSubscription, Callable[[], bool]], None],
        on_free: Callable[[DueSubscription], None],
    ) -> None:
        super().__init__(name, _PAUSE)
        self.patience = _PATIENCE
        self._serve = serve
        self._on_free = on_free
        self._due: DueSubscription | None = None
        self._rests = False

    @property
    def is_free(self) -> bool:
        """Whether it can take a subscription."""
        return self._due is None

    def take(self, due: DueSubscription) -> None:
        """Serve a subscription."""
        self._due = due
        self.wake()

    def wake(self) -> None:
        """Begin the next round if there is something to serve."""
        if self._due is not None:
            super().wake()

    def round(self, now: float) -> float | None:
        """Serve the subscription that was taken."""
        due = self._due
        if due is None:
            return None
        if self._rests:
            self._free(due)
            return None
        try:
            self._serve(due, lambda: self.is_stopping)
        except Exception:
            LOG.warning(
                "deliveries to subscription %s could not be read or written", due.subscription_id, exc_info=True
            )
            # While the database cannot be written, what was sent would be sent again at once.
            self._rests = True
            return FirmPause(_PAUSE)
        self._free(due)
        return None

    def _free(self, due: DueSubscription) -> None:
        self._due, self._rests = None, False
        self._on_free(due)
