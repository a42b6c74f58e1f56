"""Notifications about leases, sent over oslo.messaging."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from threading import get_ident
from typing import Any

import oslo_messaging

from lease_scheduler.model.errors import LeaseSchedulerError
from lease_scheduler.records.messages import Message

#: Prefix of the publisher id, as in Blazar.
_PUBLISHER = "blazar.lease"

#: Logger on which drivers of oslo.messaging report that they could not send something.
_DRIVERS = "oslo_messaging.notify"

#: Loggers below it.
_LOGGERS = (f"{_DRIVERS}.messaging", f"{_DRIVERS}.notifier")


class NotSentError(LeaseSchedulerError):
    """A driver could not send a notification."""


class Notifier:
    """Sender of notifications, with the drivers and to the topics that the operator has configured.

    :param transport: oslo.messaging's notification transport
    :param host: name of this host, which becomes part of the publisher id
    :param topics: topics to use in place of the configured ones, or None
    """

    def __init__(self, transport: Any, host: str, topics: Sequence[str] | None = None) -> None:
        # Few attempts, because the caller tries again later.
        self._notifier = oslo_messaging.Notifier(
            transport, publisher_id=f"{_PUBLISHER}.{host}", topics=None if topics is None else list(topics), retry=1
        )

    def send(self, message: Message) -> None:
        """Send a notification.

        :raises NotSentError: a driver could not send it, so it should be sent again
        """
        with _LoggedErrors() as logged:
            self._notifier.info({}, message.event_type, dict(message.payload))
        if logged.first is not None:
            raise NotSentError(logged.first)


class _LoggedErrors(logging.Handler):
    """Collector of the errors that drivers log in this thread, which they do not raise."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self._thread = get_ident()
        self.first: str | None = None

    def emit(self, record: logging.LogRecord) -> None:
        """Keep the first error."""
        if record.thread == self._thread and self.first is None:
            why = "" if record.exc_info is None else f": {record.exc_info[1]}"
            self.first = f"{record.getMessage()}{why}"

    def __enter__(self) -> _LoggedErrors:
        for name in (_DRIVERS, *_LOGGERS):
            logger = logging.getLogger(name)
            if not logger.isEnabledFor(logging.ERROR):
                # By the configured level of its parents, errors of drivers would be lost, and with them notifications.
                logger.setLevel(logging.ERROR)
        logging.getLogger(_DRIVERS).addHandler(self)
        return self

    def __exit__(self, *_: object) -> None:
        logging.getLogger(_DRIVERS).removeHandler(self)
