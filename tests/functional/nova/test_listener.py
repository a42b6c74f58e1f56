"""The listener on a real RabbitMQ: the life of its queue, and recovery when the broker goes away."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from lease_scheduler.cloud.nova.api.hints import Hint, ServiceHint
from lease_scheduler.cloud.nova.api.notifications import NotificationListener
from lease_scheduler.cmd import configuration, messaging, wiring
from lease_scheduler.cmd.messaging import listening_transport
from tests.servers.base import wait_until
from tests.servers.rabbitmq import RabbitMQ
from tests.unit.cloud.nova.recorded import RECORDED

#: The client library does not close connections that a server has dropped.
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")

_LIMIT = 90.0
_TOPIC = "versioned_notifications"
_QUEUE = "lease-scheduler.default"


class Nova:
    """Sends notifications on Nova's exchange, as Nova does."""

    def __init__(self, url: str) -> None:
        import oslo_messaging

        conf = configuration.load([])
        wiring.default_transport(conf, url)
        conf.set_override("control_exchange", "nova")
        self.transport = messaging.notification_transport(conf)
        self._notifier = oslo_messaging.Notifier(
            self.transport, publisher_id="nova-compute:node1", driver="messagingv2", topics=[_TOPIC], retry=0
        )

    def say(self, event_type: str) -> None:
        """Send a recorded message; it is lost if there is no broker."""
        self._notifier.info({}, event_type, RECORDED[event_type]["payload"])


@contextmanager
def _listening(url: str, queue_ttl: float, heard: list[Hint]) -> Iterator[None]:
    conf = configuration.load([])
    wiring.default_transport(conf, url)
    listener = NotificationListener(lambda: listening_transport(conf, None), "nova", [_TOPIC], _QUEUE, queue_ttl)
    listener.start(heard.append)
    yield
    listener.stop()


@contextmanager
def _nova(url: str) -> Iterator[Nova]:
    nova = Nova(url)
    yield nova
    nova.transport.cleanup()


def _queue(server: RabbitMQ, url: str) -> dict[str, Any] | None:
    """Return RabbitMQ's description of the queue, or None."""
    found = server.manage("GET", f"queues/{url.rpartition('/')[2]}")
    return next((each for each in found if each["name"] == _QUEUE), None)


def test_nothing_piles_up(rabbitmq_server: RabbitMQ, rabbitmq_url: str) -> None:
    """A queue without a listener expires; a listener that comes before gets its messages."""
    with _nova(rabbitmq_url) as nova:
        first: list[Hint] = []
        with _listening(rabbitmq_url, 3, first):
            assert wait_until(lambda: _queue(rabbitmq_server, rabbitmq_url) is not None, _LIMIT)
            described = _queue(rabbitmq_server, rabbitmq_url)
            assert described is not None
            assert described["arguments"]["x-expires"] == 3_000
            nova.say("service.update")
            assert wait_until(lambda: first == [ServiceHint("node1")], _LIMIT)
            # Longer than the expiry time of an unused queue.
            assert not wait_until(lambda: _queue(rabbitmq_server, rabbitmq_url) is None, 4)
        nova.say("service.delete")
        second: list[Hint] = []
        with _listening(rabbitmq_url, 3, second):
            assert wait_until(lambda: second == [ServiceHint("node4")], _LIMIT)
        assert first == [ServiceHint("node1")]
        assert wait_until(lambda: _queue(rabbitmq_server, rabbitmq_url) is None, _LIMIT)


def test_the_broker_goes_and_comes_back(rabbitmq_server: RabbitMQ, rabbitmq_url: str) -> None:
    """A listener reconnects by itself, also if it was started while the broker was away."""
    late: list[Hint] = []
    heard: list[Hint] = []
    with _nova(rabbitmq_url) as nova, _listening(rabbitmq_url, 600, heard):
        assert wait_until(lambda: _queue(rabbitmq_server, rabbitmq_url) is not None, _LIMIT)
        rabbitmq_server.restart()
        nova.say("service.update")

        def hears() -> bool:
            nova.say("service.update")
            return bool(heard)

        assert wait_until(hears, _LIMIT)
    rabbitmq_server.stop()
    with _listening(rabbitmq_url, 600, late):
        rabbitmq_server.start()
        with _nova(rabbitmq_url) as nova:

            def hears_late() -> bool:
                nova.say("service.delete")
                return ServiceHint("node4") in late

            assert wait_until(hears_late, _LIMIT)
