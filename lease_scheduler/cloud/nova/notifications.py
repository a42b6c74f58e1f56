"""Listens to Nova's versioned notifications."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from threading import Event, Thread
from typing import Any

from oslo_service.backend import BackendType, init_backend

from lease_scheduler.cloud.nova.hints import Hint, read

# Before oslo.messaging is imported, which imports oslo.service, whose default is another one.
init_backend(BackendType.THREADING)

import oslo_messaging  # noqa: E402
from oslo_messaging._drivers.impl_rabbit import RabbitDriver  # noqa: E402

LOG = logging.getLogger(__name__)

#: Real seconds between two attempts to begin, where the broker refuses.
_PAUSE = 30.0

#: Real seconds that the end may take; a thread that waits for a broker ends by itself when there is one again.
_END_LIMIT = 5.0

#: Real seconds. No option: a broker refuses whoever says of a queue something else than the one before him.
QUEUE_TTL = 600.0


class _Endpoint:
    """Nova's notifications have one of two priorities."""

    def __init__(self, on_hint: Callable[[Hint], None]) -> None:
        self._on_hint = on_hint

    def info(self, context: Any, publisher: str, event_type: str, payload: Any, metadata: Any) -> None:
        """Something happened."""
        hint = read(publisher, event_type, payload, context)
        if hint is not None:
            self._on_hint(hint)

    def error(self, context: Any, publisher: str, event_type: str, payload: Any, metadata: Any) -> None:
        """Something failed."""
        self.info(context, publisher, event_type, payload, metadata)


class NotificationListener:
    """Hears what Nova says, from ``start`` to ``stop``.

    All engines of a site use one queue, which is only theirs: what comes while another one takes over is not lost, and
    who else listens to Nova gets everything, too. A queue that nobody listens to is removed, so that nothing piles up.

    :param make_transport: gives oslo.messaging's notification transport, which is ended with this
    :param exchange: of Nova (its option ``control_exchange``)
    :param topics: of Nova's versioned notifications
    :param queue: name of the queue
    :param queue_ttl: real seconds after which RabbitMQ removes it when nobody listens
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
        """Begin to listen, as soon as there is a broker. Nobody waits for it.

        :param on_hint: called from several threads; must be quick
        """
        self.start_with(_Endpoint(on_hint))

    def start_with(self, endpoint: Any) -> None:
        """The same for whoever wants to have the notifications as they are.

        :param endpoint: with methods ``info`` and ``error``, as oslo.messaging calls them, from several threads
        """
        self._stopping = Event()
        self._listens.clear()
        arguments = (endpoint, self._stopping)
        self._thread = Thread(target=self._listen, args=arguments, name="nova-notifications", daemon=True)
        self._thread.start()

    def is_listening(self, timeout: float) -> bool:
        """Wait for so many seconds at most until nothing is missed any more; whether that is so."""
        return self._listens.wait(timeout)

    def stop(self) -> None:
        """Listen no more."""
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
                # Waits for the broker, and from then on comes back to it by itself.
                server.start()
                self._listens.set()
                LOG.info("listening to notifications of Nova")
                stopping.wait()
                server.stop()
                server.wait()
            except Exception:
                LOG.exception("notifications of Nova cannot be listened to, is tried again in %.0f s", _PAUSE)
                stopping.wait(_PAUSE)
            finally:
                if transport is not None:
                    transport.cleanup()


def _let_queues_expire(transport: Any, seconds: float) -> None:
    """Have RabbitMQ remove queues to which nobody has listened for a while.

    oslo.messaging does so for the queues of remote procedure calls (``rabbit_transient_queues_ttl``) and has no option
    for those of notifications, so each is given the argument when it is declared.
    """
    driver = transport._driver
    if not isinstance(driver, RabbitDriver):
        return
    connect = driver._get_connection

    def connect_and_prepare(*words: Any, **options: Any) -> Any:
        connected = connect(*words, **options)
        connection = connected.connection
        declare = connection.declare_consumer

        def declare_expiring(consumer: Any) -> Any:
            consumer.queue_arguments["x-expires"] = int(seconds * 1_000)
            return declare(consumer)

        connection.declare_consumer = declare_expiring
        return connected

    driver._get_connection = connect_and_prepare
