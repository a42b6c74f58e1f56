"""Listener for Nova's versioned notifications."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from threading import Event, Thread
from typing import Any

from oslo_service.backend import BackendType, init_backend

from lease_scheduler.cloud.nova.api.hints import Hint, read

# This must precede the import of oslo.messaging, which imports oslo.service with another default.
init_backend(BackendType.THREADING)

import oslo_messaging  # noqa: E402
from oslo_messaging._drivers.impl_rabbit import RabbitDriver  # noqa: E402

LOG = logging.getLogger(__name__)

#: Real seconds between two attempts to listen when the broker refuses.
_PAUSE = 30.0

#: Longest wait for the end of the thread in real seconds. A thread that waits for a broker ends only when that is back.
_END_LIMIT = 5.0

#: Real seconds after which an unused queue expires. This is no option, because a broker refuses a client that declares
#: an existing queue with another value.
QUEUE_TTL = 600.0


class _Endpoint:
    """Receiver of notifications of the two priorities that Nova uses."""

    def __init__(self, on_hint: Callable[[Hint], None]) -> None:
        self._on_hint = on_hint

    def info(self, context: Any, publisher: str, event_type: str, payload: Any, metadata: Any) -> None:
        """Handle a notification of an action that succeeds."""
        hint = read(publisher, event_type, payload, context)
        if hint is not None:
            self._on_hint(hint)

    def error(self, context: Any, publisher: str, event_type: str, payload: Any, metadata: Any) -> None:
        """Handle a notification of an action that failed."""
        self.info(context, publisher, event_type, payload, metadata)


class NotificationListener:
    """Listener to Nova's notifications, from ``start`` to ``stop``.

    All engines of a site share one queue, which no other listener uses. So no notification is lost while another engine
    takes over, and other listeners still get all notifications. A queue without a listener expires, so that it does not
    grow forever.

    :param make_transport: returns oslo.messaging's notification transport; it is closed with the listener
    :param exchange: Nova's exchange (its option ``control_exchange``)
    :param topics: topics of Nova's versioned notifications
    :param queue: name of the queue
    :param queue_ttl: real seconds after which RabbitMQ removes the queue when it has no listener
    """

    def __init__(
        self,
        make_transport: Callable[[], Any],
        exchange: str,
        topics: Sequence[str],
        queue: str,
        queue_ttl: float = QUEUE_TTL,
    ) -> None:
        self._make_transport = make_transport
        self._targets = [oslo_messaging.Target(exchange=exchange, topic=topic) for topic in topics]
        self._queue = queue
        self._queue_ttl = queue_ttl
        self._stopping = Event()
        self._listens = Event()
        self._thread: Thread | None = None

    def start(self, on_hint: Callable[[Hint], None]) -> None:
        """Begin to listen as soon as there is a broker, without waiting for it.

        :param on_hint: called from several threads; must be quick
        """
        self.start_with(_Endpoint(on_hint))

    def start_with(self, endpoint: Any) -> None:
        """Begin to listen as in ``start``, with an endpoint that gets the notifications unchanged.

        :param endpoint: object with methods ``info`` and ``error``, which oslo.messaging calls from several threads
        """
        self._stopping = Event()
        self._listens.clear()
        arguments = (endpoint, self._stopping)
        self._thread = Thread(target=self._listen, args=arguments, name="nova-notifications", daemon=True)
        self._thread.start()

    def is_listening(self, timeout: float) -> bool:
        """Wait until the queue exists, so that no notification is missed any more. Return False after the timeout.

        :param timeout: longest wait in real seconds
        """
        return self._listens.wait(timeout)

    def stop(self) -> None:
        """Stop listening."""
        self._stopping.set()
        if self._thread is not None:
            self._thread.join(_END_LIMIT)
            self._thread = None

    def _listen(self, endpoint: Any, stopping: Event) -> None:
        while not stopping.is_set():
            transport = None
            try:
                transport = self._make_transport()
                _let_queues_expire(transport, self._queue_ttl)
                server = oslo_messaging.get_notification_listener(
                    transport, self._targets, [endpoint], executor="threading", pool=self._queue
                )
                # This waits for the broker. Later, oslo.messaging reconnects by itself.
                server.start()
                self._listens.set()
                LOG.info("listening to notifications of Nova")
                stopping.wait()
                server.stop()
                server.wait()
            except Exception:
                LOG.exception("cannot listen to notifications of Nova; the next attempt is in %.0f s", _PAUSE)
                stopping.wait(_PAUSE)
            finally:
                if transport is not None:
                    transport.cleanup()


def _let_queues_expire(transport: Any, seconds: float) -> None:
    """Have RabbitMQ remove queues that have had no listener for a while.

    oslo.messaging has an option for this for queues of remote procedure calls (``rabbit_transient_queues_ttl``), but
    none for queues of notifications. So each queue gets the argument when it is declared.
    """
    driver = transport._driver
    if not isinstance(driver, RabbitDriver):
        return
    connect = driver._get_connection

    def connect_and_prepare(*arguments: Any, **options: Any) -> Any:
        connected = connect(*arguments, **options)
        connection = connected.connection
        declare = connection.declare_consumer

        def declare_expiring(consumer: Any) -> Any:
            consumer.queue_arguments["x-expires"] = int(seconds * 1_000)
            return declare(consumer)

        connection.declare_consumer = declare_expiring
        return connected

    driver._get_connection = connect_and_prepare
