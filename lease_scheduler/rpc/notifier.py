"""Notifications about leases, sent over oslo.messaging."""

from __future__ import annotations

from typing import Any

import oslo_messaging

from lease_scheduler.engine.records import Message

#: Blazar's publisher of the same notifications.
_PUBLISHER = "blazar.lease"


class Notifier:
    """Sends notifications.

    :param transport: oslo.messaging's notification transport
    :param topics: where to
    """

    def __init__(self, transport: Any, host: str, topics: list[str]) -> None:
        self._notifier = oslo_messaging.Notifier(
            transport, publisher_id=f"{_PUBLISHER}.{host}", driver="messagingv2", topics=topics, retry=3
        )

    def send(self, message: Message) -> None:
        """Send one; raises whatever the transport does, so that it is tried again later."""
        self._notifier.info({}, message.event_type, dict(message.payload))
