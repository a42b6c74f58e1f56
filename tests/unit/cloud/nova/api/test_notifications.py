"""A real notifier of oslo.messaging reaches our listener, over the in-process driver."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest
from oslo_config import cfg

from lease_scheduler.cloud.nova.api.hints import Hint, ServerHint, ServiceHint
from lease_scheduler.cloud.nova.api.notifications import NotificationListener
from lease_scheduler.cmd import configuration, wiring
from lease_scheduler.cmd.messaging import listening_transport
from tests.servers.base import wait_until
from tests.unit.cloud.nova.recorded import LEASE, RECORDED, SERVER, USER

_LIMIT = 30.0
_TOPIC = "versioned_notifications"


class Nova:
    """Sends notifications like Nova, on an exchange of its own."""

    def __init__(self, conf: cfg.ConfigOpts, exchange: str) -> None:
        import oslo_messaging

        self.transport = listening_transport(conf, None)
        conf.set_override("control_exchange", exchange)
        transport = listening_transport(conf, None)
        self._notifier = oslo_messaging.Notifier(transport, driver="messagingv2", topics=[_TOPIC])

    def say(self, event_type: str) -> None:
        """Send a recorded message."""
        message = RECORDED[event_type]
        notifier = self._notifier.prepare(publisher_id=message["publisher"])
        send = notifier.error if event_type.endswith(".error") else notifier.info
        send(_Context(message["context"]), event_type, message["payload"])


class _Context:
    """What oslo.messaging needs of a context: it sends a copy without secrets."""

    def __init__(self, values: dict[str, Any]) -> None:
        self._values = values

    def redacted_copy(self) -> dict[str, Any]:
        return self._values


@pytest.fixture
def exchange() -> str:
    # Exchanges are shared within a process.
    return f"nova-{uuid.uuid4()}"


@pytest.fixture
def conf() -> cfg.ConfigOpts:
    found = configuration.load([])
    wiring.default_transport(found, "fake://")
    return found


@pytest.fixture
def nova(conf: cfg.ConfigOpts, exchange: str) -> Nova:
    other = configuration.load([])
    wiring.default_transport(other, "fake://")
    return Nova(other, exchange)


Listen = Callable[..., tuple[NotificationListener, list[Hint]]]


@pytest.fixture
def listen(conf: cfg.ConfigOpts, exchange: str) -> Iterator[Listen]:
    """Starts a listener, which ends with the test."""
    with ExitStack() as stack:

        def start(queue: str = "lease-scheduler.default") -> tuple[NotificationListener, list[Hint]]:
            listener = NotificationListener(lambda: listening_transport(conf, None), exchange, [_TOPIC], queue, 600)
            heard: list[Hint] = []
            listener.start(heard.append)
            stack.callback(listener.stop)
            return listener, heard

        yield start


def _hears(nova: Nova, heard: list[Hint]) -> None:
    """Wait until a listener listens."""

    def hears() -> bool:
        nova.say("service.delete")
        return ServiceHint("node4") in heard

    assert wait_until(hears, _LIMIT)


def test_hints_of_both_priorities(nova: Nova, listen: Listen) -> None:
    _, heard = listen()
    _hears(nova, heard)
    for event_type in ("instance.create.start", "instance.create.end", "compute_task.build_instances.error"):
        nova.say(event_type)
    assert wait_until(lambda: sum(isinstance(hint, ServerHint) for hint in heard) == 2, _LIMIT), heard
    assert ServerHint("instance.create.end", SERVER, LEASE, "node2", USER) in heard


def test_everybody_else_hears_it_too(nova: Nova, listen: Listen) -> None:
    """A listener with another queue misses nothing; with the same queue, each message goes to one of the two."""
    _, ours = listen()
    _, others = listen("ceilometer")
    _hears(nova, ours)
    _hears(nova, others)
    nova.say("service.update")
    assert wait_until(lambda: ServiceHint("node1") in ours and ServiceHint("node1") in others, _LIMIT)


def test_a_hint_that_cannot_be_taken_stops_nothing(nova: Nova, conf: cfg.ConfigOpts, exchange: str) -> None:
    heard: list[Hint] = []

    def take(hint: Hint) -> None:
        heard.append(hint)
        raise ValueError("what is this?")

    listener = NotificationListener(lambda: listening_transport(conf, None), exchange, [_TOPIC], "queue", 600)
    listener.start(take)
    _hears(nova, heard)
    nova.say("service.update")
    assert wait_until(lambda: ServiceHint("node1") in heard, _LIMIT)
    listener.stop()


def test_nothing_is_heard_after_the_end_and_it_can_begin_again(nova: Nova, listen: Listen) -> None:
    listener, heard = listen()
    _hears(nova, heard)
    listener.stop()
    nova.say("service.update")
    _, later = listen()
    # Messages of the time in between arrive now, so a listener that resumes misses nothing.
    assert wait_until(lambda: ServiceHint("node1") in later, _LIMIT)
    assert ServiceHint("node1") not in heard


def test_a_broker_that_refuses_is_asked_again(
    nova: Nova, conf: cfg.ConfigOpts, exchange: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("lease_scheduler.cloud.nova.api.notifications._PAUSE", 0.05)
    attempts: list[int] = []

    def connect() -> Any:
        attempts.append(1)
        if len(attempts) < 3:
            raise ConnectionRefusedError("not now")
        return listening_transport(conf, None)

    listener = NotificationListener(connect, exchange, [_TOPIC], "queue", 600)
    heard: list[Hint] = []
    listener.start(heard.append)
    _hears(nova, heard)
    listener.stop()
    assert len(attempts) == 3
    assert "cannot listen to" in caplog.text
