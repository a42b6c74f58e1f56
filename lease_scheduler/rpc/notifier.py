"""Notifications about leases, sent over oslo.messaging."""

from __future__ import annotations

import uuid
from datetime import UTC, datetime
from typing import Any

import oslo_messaging

from lease_scheduler.engine.records import Message

#: Blazar's publisher of the same notifications.
_PUBLISHER = "blazar.lease"

#: Of oslo.messaging's envelope, which its driver ``messagingv2`` sends.
_ENVELOPE = 2.0

_PRIORITY = "info"


class Notifier:
    """Sends notifications in the form of oslo.messaging's own notifier, which cannot be used: it only logs it when a
    broker does not take one, so that it would be lost.

    :param transport: oslo.messaging's notification transport
    :param topics: where to
    """

    def __init__(self, transport: Any, host: str, topics: list[str]) -> None:
        self._transport = transport
        self._publisher = f"{_PUBLISHER}.{host}"
        self._targets = [oslo_messaging.Target(topic=f"{topic}.{_PRIORITY}") for topic in topics]

    def send(self, message: Message) -> None:
        """Send one; raises whatever the transport does, so that it is tried again later."""
        notification = {
            "message_id": str(uuid.uuid4()),
            "publisher_id": self._publisher,
            "event_type": message.event_type,
            "priority": _PRIORITY.upper(),
            "payload": dict(message.payload),
            "timestamp": str(datetime.now(UTC).replace(tzinfo=None)),
        }
        for target in self._targets:
            self._transport._send_notification(target, {}, notification, version=_ENVELOPE, retry=1)
