"""A recorder of Nova's versioned notifications, so that tests can tell when Nova itself considered something done."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from threading import Lock
from types import TracebackType
from typing import Any, Self

from lease_scheduler.cmd import configuration, messaging, wiring
from tests.servers.base import ServerError, wait_until
from tests.servers.rabbitmq import RabbitMQ

_EXCHANGE, _TOPIC = "nova", "versioned_notifications"
_LIMIT_SECONDS = 120.0


@dataclass(frozen=True)
class Notification:
    """One message.

    :ivar at: when Nova sent it, in seconds since the epoch
    :ivar event_type: such as ``instance.shelve_offload.end``
    :ivar publisher: such as ``nova-compute:node1``
    :ivar payload: fields of the object in it; nested objects have theirs in ``nova_object.data``
    :ivar message: the complete payload, as sent
    :ivar context: context of the request that led to it
    """

    at: float
    event_type: str
    publisher: str
    payload: Mapping[str, Any]
    message: Mapping[str, Any]
    context: Mapping[str, Any]

    @property
    def server_id(self) -> str | None:
        """Id of the server that the message is about, or None."""
        found = self.payload.get("uuid") if self.event_type.startswith("instance.") else None
        return None if found is None else str(found)


class NotificationRecorder:
    """Records Nova's notifications between ``start`` and ``stop``; also a context manager.

    It has a queue of its own on the broker, so no other listener misses a message.

    :param rabbitmq: the broker of the lab
    """

    def __init__(self, rabbitmq: RabbitMQ) -> None:
        self._rabbitmq = rabbitmq
        self._queue = f"recorder-{uuid.uuid4()}"
        self._lock = Lock()
        self._heard: list[Notification] = []
        self._transport: Any = None
        self._server: Any = None

    def start(self) -> None:
        """Start recording; no notification after this is missed."""
        # Our own module has to be imported first: it selects threads for oslo.messaging.
        import oslo_messaging

        conf = configuration.load([])
        wiring.default_transport(conf, self._rabbitmq.url)
        self._transport = messaging.notification_transport(conf)
        target = oslo_messaging.Target(exchange=_EXCHANGE, topic=_TOPIC)
        self._server = oslo_messaging.get_notification_listener(
            self._transport, [target], [self], executor="threading", pool=self._queue
        )
        self._server.start()

    def stop(self) -> None:
        """Stop recording; what was recorded is kept."""
        self._server.stop()
        self._server.wait()
        self._transport.cleanup()
        self._rabbitmq.manage("DELETE", f"queues/%2F/{self._queue}")

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.stop()

    def heard(self, event_type: str | None = None, server_id: str | None = None) -> list[Notification]:
        """Return the recorded notifications in the order in which Nova sent them.

        :param event_type: only notifications of this type
        :param server_id: only those about this server
        """
        with self._lock:
            found = list(self._heard)
        return sorted(
            (each for each in found if event_type in (None, each.event_type) and server_id in (None, each.server_id)),
            key=lambda each: each.at,
        )

    def wait_for(
        self, event_type: str, server_id: str | None = None, since: float = 0.0, limit: float = _LIMIT_SECONDS
    ) -> Notification:
        """Wait for a notification of a type and return the first one.

        :param since: earliest time, in seconds since the epoch
        :raises ServerError: none has come within the limit (seconds); the message lists those that have
        """

        def come() -> bool:
            found.extend(each for each in self.heard(event_type, server_id) if each.at >= since)
            return bool(found)

        found: list[Notification] = []
        if not wait_until(come, limit):
            heard = [each.event_type for each in self.heard(server_id=server_id)]
            raise ServerError(f"Nova has not said {event_type} of {server_id or 'anything'}, but {heard}")
        return found[0]

    # -- called by oslo.messaging, one for each priority -------------------------------------------------------

    def info(self, context: Any, publisher: str, event_type: str, payload: Any, metadata: Any) -> None:
        """Record a notification of success or progress."""
        at = datetime.fromisoformat(metadata["timestamp"]).replace(tzinfo=UTC).timestamp()
        notification = Notification(at, event_type, publisher, payload["nova_object.data"], payload, context)
        with self._lock:
            self._heard.append(notification)

    def error(self, context: Any, publisher: str, event_type: str, payload: Any, metadata: Any) -> None:
        """Record a notification of a failure."""
        self.info(context, publisher, event_type, payload, metadata)
