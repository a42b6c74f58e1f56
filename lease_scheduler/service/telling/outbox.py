"""The outbox, which sends notifications in the order in which they were written, each at least once."""

from __future__ import annotations

import logging
import math
from collections.abc import Callable

from lease_scheduler.records.messages import Message
from lease_scheduler.service.interfaces import ServiceStore
from lease_scheduler.service.rounds import FirmPause, UpkeepWorker

LOG = logging.getLogger(__name__)

#: Real seconds between two attempts while the broker takes no notifications.
_PAUSE = 5.0

#: Real seconds between two checks without a wake-up. The engine that writes notifications wakes the outbox.
_WITHOUT_WAKING = 60.0

#: Maximum number of notifications that are read at once.
_MOST = 500

#: Real seconds after sending until the next check, so that a busy engine reads and deletes many notifications at once.
_GATHERING = 0.1


class Outbox(UpkeepWorker):
    """Worker that sends the notifications that wait. What it leaves when it stops, the next engine sends.

    :param send: sends one notification, or raises an error
    :param on_sent: called with the number of notifications that were sent and deleted
    """

    def __init__(
        self, store: ServiceStore, send: Callable[[Message], None], on_sent: Callable[[int], None] = lambda _: None
    ) -> None:
        super().__init__("outbox", _PAUSE, first=_PAUSE)
        self._store = store
        self._send = send
        self._on_sent = on_sent
        self._has_news = True
        self._due = -math.inf

    def wake(self) -> None:
        """Have notifications sent that were stored before this call."""
        self._has_news = True
        super().wake()

    def round(self, now: float) -> float:
        """Send the oldest of the notifications that wait, unless there can be none."""
        if not self._has_news and now < self._due:
            return self._due - now
        self._has_news, self._due = False, now + _WITHOUT_WAKING
        return FirmPause(_GATHERING) if self._send_some() else _WITHOUT_WAKING

    def failed(self, error: Exception) -> None:
        """See ``UpkeepWorker``."""
        self._has_news = True
        LOG.warning("notifications could not be sent; trying again in %s s", _PAUSE, exc_info=error)

    def _send_some(self) -> bool:
        sent = []
        try:
            for message_id, message in self._store.waiting_messages(_MOST):
                if self.is_stopping:
                    break
                self._send(message)
                sent.append(message_id)
            if len(sent) == _MOST:
                self._has_news = True
        finally:
            if sent:
                self._store.forget_messages(sent)
                self._on_sent(len(sent))
        return bool(sent)
