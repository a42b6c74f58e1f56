"""Records Nova's versioned notifications, so that tests can say when something was over in Nova's own words."""

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
    :ivar payload: the fields of the object in it; objects in that have theirs under ``nova_object.data``
    :ivar message: all of the payload, as it was sent
    :ivar context: of the request that led to it
    """

    at: float
    event_type: str
    publisher: str
    payload: Mapping[str, Any]
    message: Mapping[str, Any]
    context: Mapping[str, Any]

    @property
    def server_id(self) -> str | None:
        """Of the server that it is about, none if it is about something else."""
        found = self.payload.get("uuid") if self.event_type.startswith("instance.") else None
        return None if found is None else str(found)


class NotificationRecorder:
    """Keeps what Nova says between ``start`` and ``stop``, which a ``with`` statement calls, too.

    It has a queue of its own on the broker, so it takes nothing away from anybody.

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
        """Begin; nothing that Nova says after this is missed."""
        # Not before our own module, which says that threads are used.
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
        """Record no more; what was recorded is kept."""
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
        """What was heard, in the order in which Nova sent it.

        :param event_type: only these
        :param server_id: only those about a server
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
        """The first one of a type, when it has come.

        :param since: seconds since the epoch; earlier ones do not count
        :raises ServerError: it has not come within the limit (seconds); says what has
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
        """Something happened."""
        at = datetime.fromisoformat(metadata["timestamp"]).replace(tzinfo=UTC).timestamp()
        notification = Notification(at, event_type, publisher, payload["nova_object.data"], payload, context)
        with self._lock:
            self._heard.append(notification)

    def error(self, context: Any, publisher: str, event_type: str, payload: Any, metadata: Any) -> None:
        """Something failed."""
        self.info(context, publisher, event_type, payload, metadata)
