"""Notifications about leases, sent over oslo.messaging."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from threading import get_ident
from typing import Any

import oslo_messaging

from lease_scheduler.model.errors import LeaseSchedulerError
from lease_scheduler.records.messages import Message

#: Blazar's publisher of the same notifications.
_PUBLISHER = "blazar.lease"

#: Where drivers of oslo.messaging say that they could not send something.
_DRIVERS = "oslo_messaging.notify"


class NotSentError(LeaseSchedulerError):
    """A driver could not send a notification."""


class Notifier:
    """Sends notifications by the drivers and to the topics that the operator has set.

    :param transport: oslo.messaging's notification transport
    :param host: whose notifications these are
    :param topics: where to, instead of the operator's topics of oslo.messaging
    """

    def __init__(self, transport: Any, host: str, topics: Sequence[str] | None = None) -> None:
        # Sent once: whoever has something to send tries again later.
        self._notifier = oslo_messaging.Notifier(
            transport, publisher_id=f"{_PUBLISHER}.{host}", topics=None if topics is None else list(topics), retry=1
        )

    def send(self, message: Message) -> None:
        """Send one.

        :raises NotSentError: a driver could not, so that it is to be sent again
        """
        with _Complaints() as complaints:
            self._notifier.info({}, message.event_type, dict(message.payload))
        if complaints.first is not None:
            raise NotSentError(complaints.first)


class _Complaints(logging.Handler):
    """What drivers log as errors in this thread: they raise nothing, and a notification would be lost."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self._thread = get_ident()
        self.first: str | None = None

    def emit(self, record: logging.LogRecord) -> None:
        """Keep the first one."""
        if record.thread == self._thread and self.first is None:
            why = "" if record.exc_info is None else f": {record.exc_info[1]}"
            self.first = f"{record.getMessage()}{why}"

    def __enter__(self) -> _Complaints:
        logging.getLogger(_DRIVERS).addHandler(self)
        return self

    def __exit__(self, *_: object) -> None:
        logging.getLogger(_DRIVERS).removeHandler(self)
