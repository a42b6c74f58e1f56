"""Transfers of disk images to hosts. They run in parallel with the orders of leases, and no order waits for them."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from threading import Lock

from lease_scheduler.cloud.driver import Driver, StepFailedError
from lease_scheduler.cloud.orders import ImageOrder, ImageProgress
from lease_scheduler.engine.interfaces import WaitingClock

LOG = logging.getLogger(__name__)

#: Seconds after its due time at which an order is given up if the cloud does not answer.
_PATIENCE = 300

#: Called when the progress of an order has changed.
OnProgress = Callable[[ImageOrder, ImageProgress], None]


@dataclass
class _Running:
    order: ImageOrder
    told: ImageProgress | None = None
    is_logged: bool = False


class Carriage:
    """Executor of image orders. Its owner calls ``look`` again and again.

    :param driver: driver of the cloud
    :param on_progress: called from ``look``
    :param interval: real seconds between two checks of the orders
    """

    def __init__(self, driver: Driver, clock: WaitingClock, on_progress: OnProgress, interval: float) -> None:
        self._driver = driver
        self._clock = clock
        self._on_progress = on_progress
        self._interval = interval
        self._lock = Lock()
        self._running: list[_Running] = []
        self._is_cleared = False

    def submit(self, order: ImageOrder) -> None:
        """Add an order. The next ``look`` begins it."""
        with self._lock:
            self._running.append(_Running(order))

    def look(self) -> float | None:
        """Check the orders, and report progress. The first time, remove what an earlier engine has left.

        :return: real seconds until the next check, or None if there are no orders
        """
        with self._lock:
            running = list(self._running)
        if not self._is_cleared:
            self._clear()
        over = [each for each in running if self._is_cleared and self._is_over(each)]
        with self._lock:
            self._running = [each for each in self._running if each not in over]
            return self._pause()

    def _pause(self) -> float | None:
        if self._is_cleared and not self._running:
            return None
        # On a fast clock an order may be due before the interval is over.
        ahead = [self._clock.seconds_until(each.order.due) for each in self._running]
        return min([self._interval, *(seconds for seconds in ahead if seconds > 0)])

    def _clear(self) -> None:
        try:
            self._driver.image_caches.clear()
            self._is_cleared = True
        except Exception:
            LOG.exception("the rest of earlier image transfers could not be removed; it is tried again")

    def _is_over(self, running: _Running) -> bool:
        """Check an order, report new progress, and return whether it is over."""
        order = running.order
        try:
            progress = self._driver.image_caches.carry(order)
        except StepFailedError as error:
            progress = _failed(order, str(error))
        except Exception as error:
            if not running.is_logged:
                LOG.warning(
                    "image %s could not be transferred; it is tried again: %s", order.image_id, error, exc_info=True
                )
                running.is_logged = True
            if self._clock.now() < order.due + _PATIENCE:
                return False
            progress = _failed(order, str(error))
        if progress != running.told:
            running.told = progress
            for host, reason in progress.failed.items() if progress.is_over else ():
                LOG.warning("image %s was not transferred to %s: %s", order.image_id, host, reason)
            self._on_progress(order, progress)
        return progress.is_over


def _failed(order: ImageOrder, reason: str) -> ImageProgress:
    return ImageProgress(failed=dict.fromkeys(sorted(order.hosts), reason), is_over=True)
