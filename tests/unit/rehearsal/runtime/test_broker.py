from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from lease_scheduler.rehearsal.runtime.broker import Broker, BrokerFaults, BusMessage, broker_of
from lease_scheduler.rehearsal.runtime.processes import Process
from lease_scheduler.rehearsal.runtime.scheduler import Scheduler
from tests.unit.rehearsal.runtime.conftest import Start

_QUEUE = "queue"


class _Faults(BrokerFaults):
    """Delays of the messages, in the order in which they are sent."""

    def __init__(self, *delays: Sequence[float]) -> None:
        self._delays = list(delays)
        self.away: Process | None = None

    def deliveries(self, message: BusMessage) -> Sequence[float]:
        return self._delays.pop(0) if self._delays else (0.0,)

    def is_away(self, process: Process) -> bool:
        return process is self.away


@pytest.fixture
def broker(scheduler: Scheduler) -> Broker:
    made = Broker(scheduler)
    made.declare(_QUEUE)
    assert broker_of(scheduler) is made
    return made


class _Reader:
    """A process that reads the queue.

    :ivar got: instants and messages
    """

    def __init__(self, scheduler: Scheduler, start: Start, broker: Broker, *, acknowledges: bool = True) -> None:
        self.got: list[tuple[float, str]] = []

        def main() -> None:
            while True:
                message = broker.get(self.process, [_QUEUE], None)
                if message is not None:
                    self.got.append((scheduler.now, message.body))
                    if acknowledges:
                        broker.acknowledge(self.process, message)

        self.process = start(main, "reader")


def _send(scheduler: Scheduler, start: Start, broker: Broker, *bodies: str, **how: Any) -> Process:
    def main() -> None:
        for body in bodies:
            broker.publish(sender, _QUEUE, body, **how)

    sender = start(main, "sender")
    scheduler.run(1)
    return sender


def test_messages_come_in_order(scheduler: Scheduler, start: Start, broker: Broker) -> None:
    reader = _Reader(scheduler, start, broker)
    _send(scheduler, start, broker, "a", "b")
    scheduler.run(1)
    assert [body for _, body in reader.got] == ["a", "b"]


def test_messages_are_lost_doubled_late_and_overtake_each_other(
    scheduler: Scheduler, start: Start, broker: Broker
) -> None:
    broker.faults = _Faults((), (0.0, 3.0), (5.0,), (2.0,))
    reader = _Reader(scheduler, start, broker)
    _send(scheduler, start, broker, "lost", "twice", "late", "early")
    scheduler.run(10)
    assert reader.got == [(0.0, "twice"), (2.0, "early"), (3.0, "twice"), (5.0, "late")]


def test_an_expired_message_is_dropped(scheduler: Scheduler, start: Start, broker: Broker) -> None:
    _send(scheduler, start, broker, "short", seconds=5)
    _send(scheduler, start, broker, "long", seconds=50)
    scheduler.run(10)
    reader = _Reader(scheduler, start, broker)
    scheduler.run(1)
    assert [body for _, body in reader.got] == ["long"]


def test_a_message_that_a_killed_process_has_not_acknowledged_comes_again(
    scheduler: Scheduler, start: Start, broker: Broker
) -> None:
    first = _Reader(scheduler, start, broker, acknowledges=False)
    _send(scheduler, start, broker, "a", "b")
    second = _Reader(scheduler, start, broker)
    scheduler.run(1)
    assert (first.got, second.got) == ([(0.0, "a"), (0.0, "b")], [])
    first.process.kill()
    scheduler.run(1)
    assert [body for _, body in second.got] == ["a", "b"]


def test_a_process_in_a_partition_gets_its_messages_after_it(
    scheduler: Scheduler, start: Start, broker: Broker
) -> None:
    broker.faults = faults = _Faults()
    reader = _Reader(scheduler, start, broker)
    faults.away = reader.process
    _send(scheduler, start, broker, "a")
    scheduler.run(9)
    assert reader.got == []
    faults.away = None
    broker.wake_all()
    scheduler.run(1)
    assert reader.got == [(10.0, "a")]


def test_a_restart_loses_queues_that_nobody_reads(scheduler: Scheduler, start: Start, broker: Broker) -> None:
    _send(scheduler, start, broker, "a")
    broker.restart()
    assert not broker.has_queue(_QUEUE)
    reader = _Reader(scheduler, start, broker)
    scheduler.run(1)
    broker.restart()
    assert broker.has_queue(_QUEUE)
    _send(scheduler, start, broker, "b")
    scheduler.run(1)
    assert [body for _, body in reader.got] == ["b"]


def test_nothing_of_a_dead_process_reaches_the_broker(scheduler: Scheduler, start: Start, broker: Broker) -> None:
    process = start(lambda: None)
    assert broker.is_reachable(process)
    process.kill()
    assert not broker.is_reachable(process)
