"""The outbox, which sends notifications in the order in which they were written, each at least once."""

from __future__ import annotations

import logging
from collections.abc import Callable

from lease_scheduler.records.messages import Message
from lease_scheduler.service.interfaces import ServiceStore
from lease_scheduler.service.rounds import FirmPause, UpkeepWorker

LOG = logging.getLogger(__name__)

#: Real seconds between two attempts while the broker takes no notifications, and between two checks without a wake-up.
_PAUSE = 5.0

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

    def round(self, now: float) -> float:
        """Send the oldest of the notifications that wait."""
        return FirmPause(_GATHERING) if self._send_some() else _PAUSE

    def failed(self, error: Exception) -> None:
        """See ``UpkeepWorker``."""
        LOG.warning("notifications could not be sent; trying again in %s s", _PAUSE, exc_info=error)

    def _send_some(self) -> bool:
        sent = []
        try:
            for message_id, message in self._store.waiting_messages():
                if self.is_stopping:
                    break
                self._send(message)
                sent.append(message_id)
        finally:
            if sent:
                self._store.forget_messages(sent)
                self._on_sent(len(sent))
        return bool(sent)
