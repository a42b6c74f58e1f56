"""The message bus of Nova's fixtures, without its polling.

oslo.messaging's fake driver looks for messages every 50 ms, once for each service. With hundreds of services it does
little else, and whether a message waits for 1 ms or for 49 ms decides how long a server takes to boot.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from oslo_messaging._drivers import base, impl_fake

#: Seconds after which a listener looks for messages even if it was not woken.
_PATIENCE = 3_600.0


def tell_listeners(replace: Callable[[str, Any], None]) -> None:
    """Have listeners sleep until there is a message for them.

    :param replace: sets an attribute, given by its full name, until the end of a test
    """
    bells: dict[str, dict[str | None, list[threading.Event]]] = {}
    deliver, stop = impl_fake.FakeExchange.deliver_message, impl_fake.FakeListener.stop

    def bell(listener: Any) -> threading.Event:
        """Return the event that wakes this listener."""
        if not hasattr(listener, "bell"):
            listener.bell = threading.Event()
            for target in listener._targets:
                bells.setdefault(target.topic, {}).setdefault(target.server, []).append(listener.bell)
        found: threading.Event = listener.bell
        return found

    def delivered(exchange: Any, topic: str, *arguments: Any, **more: Any) -> None:
        deliver(exchange, topic, *arguments, **more)
        of_topic = bells.get(topic, {})
        server = more.get("server")
        for name in list(of_topic) if server is None else [server]:
            for each in of_topic.get(name, []):
                each.set()

    def poll(listener: Any, timeout: float | None = None) -> Any:
        found = bell(listener)
        while not listener._stopped.is_set():
            found.clear()
            for target in listener._targets:
                exchange = listener._exchange_manager.get_exchange(target.exchange)
                context, message, reply_queue, requeue = exchange.poll(target, listener._pool)
                if message is not None:
                    return impl_fake.FakeIncomingMessage(context, message, reply_queue, requeue)
            if not found.wait(_PATIENCE if timeout is None else timeout) and timeout is not None:
                return None
        return None

    def stopped(listener: Any) -> None:
        stop(listener)
        bell(listener).set()

    driver = "oslo_messaging._drivers.impl_fake"
    replace(f"{driver}.FakeExchange.deliver_message", delivered)
    replace(f"{driver}.FakeListener.poll", base.batch_poll_helper(poll))
    replace(f"{driver}.FakeListener.stop", stopped)
