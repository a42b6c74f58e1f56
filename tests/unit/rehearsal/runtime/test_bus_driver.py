from __future__ import annotations

import time
from collections.abc import Sequence
from importlib import import_module
from typing import Any

import pytest
from oslo_config import cfg

from lease_scheduler.cmd.messaging import complete
from lease_scheduler.rehearsal.runtime.broker import Broker, BrokerFaults, BusMessage
from lease_scheduler.rehearsal.runtime.processes import Process
from lease_scheduler.rehearsal.runtime.scheduler import Scheduler
from tests.unit.rehearsal.runtime.conftest import Start

# After the backend of oslo.service is chosen, which the import of cmd.messaging does.
oslo_messaging = import_module("oslo_messaging")

_TOPIC = "topic"


class _Endpoint:
    """Answers requests and takes notifications."""

    def __init__(self) -> None:
        self.got: list[Any] = []

    def double(self, context: Any, number: int) -> int:
        self.got.append(number)
        return 2 * number

    def wait(self, context: Any, seconds: float) -> str:
        time.sleep(seconds)
        return "done"

    def fail(self, context: Any) -> None:
        raise ValueError("in the test")

    def info(self, context: Any, publisher: str, event_type: str, payload: Any, metadata: Any) -> None:
        self.got.append((publisher, event_type, payload))


class _Lossy(BrokerFaults):
    def __init__(self, *deliveries: Sequence[float], away: Sequence[Process] = ()) -> None:
        self._deliveries, self._away = list(deliveries), away

    def deliveries(self, message: BusMessage) -> Sequence[float]:
        return self._deliveries.pop(0) if self._deliveries else (0.0,)

    def is_away(self, process: Process) -> bool:
        return process in self._away


def _transport(get: Any) -> Any:
    conf = cfg.ConfigOpts()
    conf([], default_config_files=[])
    complete(conf)
    return get(conf, "rehearsal://")


def _serve(start: Start, name: str, endpoint: _Endpoint) -> Process:
    def main() -> None:
        target = oslo_messaging.Target(topic=_TOPIC, server=name)
        oslo_messaging.get_rpc_server(_transport(oslo_messaging.get_rpc_transport), target, [endpoint]).start()

    return start(main, name)


def _client(**how: Any) -> Any:
    transport = _transport(oslo_messaging.get_rpc_transport)
    return oslo_messaging.get_rpc_client(transport, oslo_messaging.Target(topic=_TOPIC), **{"timeout": 10, **how})


@pytest.fixture
def broker(scheduler: Scheduler) -> Broker:
    return Broker(scheduler)


def test_a_request_is_answered_once(scheduler: Scheduler, start: Start, broker: Broker) -> None:
    endpoints = [_Endpoint(), _Endpoint()]
    for number, endpoint in enumerate(endpoints):
        _serve(start, f"server-{number}", endpoint)
    answers: list[int] = []
    start(lambda: answers.extend(_client().call({}, "double", number=each) for each in range(5)), "client")
    scheduler.run(20)
    assert answers == [0, 2, 4, 6, 8]
    assert sorted(endpoints[0].got + endpoints[1].got) == [0, 1, 2, 3, 4]
    assert scheduler.crashes == []


def test_errors_of_the_server_reach_the_client(scheduler: Scheduler, start: Start, broker: Broker) -> None:
    _serve(start, "server", _Endpoint())
    errors: list[str] = []

    def main() -> None:
        with pytest.raises(ValueError, match="in the test") as caught:
            _client().call({}, "fail")
        errors.append(str(caught.value).splitlines()[0])

    start(main, "client")
    scheduler.run(5)
    assert errors == ["in the test"]


@pytest.mark.parametrize("faults", [_Lossy(()), _Lossy((0.0,), ())], ids=["lost request", "lost reply"])
def test_a_lost_message_ends_in_a_timeout(
    scheduler: Scheduler, start: Start, broker: Broker, faults: BrokerFaults
) -> None:
    _serve(start, "server", _Endpoint())
    ends: list[float] = []

    def main() -> None:
        with pytest.raises(oslo_messaging.MessagingTimeout):
            _client().call({}, "double", number=1)
        ends.append(scheduler.now)

    broker.faults = faults
    start(main, "client")
    scheduler.run(30)
    assert ends == [10.0]


def test_a_late_reply_is_for_nobody(scheduler: Scheduler, start: Start, broker: Broker) -> None:
    _serve(start, "server", _Endpoint())
    ends: list[object] = []

    def main() -> None:
        with pytest.raises(oslo_messaging.MessagingTimeout):
            _client(timeout=2).call({}, "wait", seconds=3)
        ends.append(_client().call({}, "double", number=4))
        time.sleep(60)
        ends.append(scheduler.now)

    start(main, "client")
    scheduler.run(100)
    assert ends == [8, 62.0]


def test_a_request_without_a_queue_is_undeliverable(scheduler: Scheduler, start: Start, broker: Broker) -> None:
    errors: list[BaseException] = []

    def main() -> None:
        options = oslo_messaging.TransportOptions(at_least_once=True)
        with pytest.raises(oslo_messaging.MessageUndeliverable) as caught:
            _client(transport_options=options).call({}, "double", number=1)
        errors.append(caught.value)

    start(main, "client")
    scheduler.run(5)
    assert len(errors) == 1


def test_a_broker_that_is_away_is_tried_again(scheduler: Scheduler, start: Start, broker: Broker) -> None:
    ends: list[float] = []

    def main() -> None:
        with pytest.raises(oslo_messaging.MessageDeliveryFailure):
            _client(retry=2).call({}, "double", number=1)
        ends.append(scheduler.now)

    client = start(main, "client")
    broker.faults = _Lossy(away=[client])
    scheduler.run(30)
    assert ends == [2.0]


def test_a_fanned_out_message_reaches_all_servers(scheduler: Scheduler, start: Start, broker: Broker) -> None:
    endpoints = [_Endpoint(), _Endpoint()]
    for number, endpoint in enumerate(endpoints):
        _serve(start, f"server-{number}", endpoint)
    scheduler.run(1)
    start(lambda: _client().prepare(fanout=True).cast({}, "double", number=3), "client")
    scheduler.run(5)
    assert [endpoint.got for endpoint in endpoints] == [[3], [3]]


def test_notifications_wait_for_a_listener_and_outlive_one_that_is_killed(
    scheduler: Scheduler, start: Start, broker: Broker
) -> None:
    def tell() -> None:
        transport = _transport(oslo_messaging.get_notification_transport)
        notifier = oslo_messaging.Notifier(transport, "publisher", driver="messagingv2", topics=["news"])
        for number in range(3):
            notifier.info({}, "event", {"number": number})

    start(tell, "teller")
    scheduler.run(1)

    class Fatal(_Endpoint):
        def info(self, *arguments: Any) -> None:
            first.kill()

    def listen(endpoint: _Endpoint) -> None:
        transport = _transport(oslo_messaging.get_notification_transport)
        targets = [oslo_messaging.Target(topic="news")]
        oslo_messaging.get_notification_listener(transport, targets, [endpoint], executor="threading").start()

    first = start(lambda: listen(Fatal()), "first")
    scheduler.run(5)
    assert not first.is_alive
    endpoint = _Endpoint()
    start(lambda: listen(endpoint), "second")
    scheduler.run(5)
    assert sorted(payload["number"] for _, _, payload in endpoint.got) == [0, 1, 2]
    assert scheduler.crashes == []


def test_a_server_stops_at_once(scheduler: Scheduler, start: Start, broker: Broker) -> None:
    ends: list[float] = []

    def main() -> None:
        target = oslo_messaging.Target(topic=_TOPIC, server="server")
        server = oslo_messaging.get_rpc_server(_transport(oslo_messaging.get_rpc_transport), target, [_Endpoint()])
        server.start()
        time.sleep(5)
        server.stop()
        server.wait()
        ends.append(scheduler.now)

    start(main, "server")
    scheduler.run(20)
    assert ends
    assert ends[0] < 7


def test_each_pool_of_listeners_gets_every_notification_once(
    scheduler: Scheduler, start: Start, broker: Broker
) -> None:
    endpoints = [_Endpoint(), _Endpoint(), _Endpoint()]

    def listen(endpoint: _Endpoint, pool: str) -> None:
        transport = _transport(oslo_messaging.get_notification_transport)
        targets = [oslo_messaging.Target(topic="news"), oslo_messaging.Target(topic="more")]
        oslo_messaging.get_notification_listener(
            transport, targets, [endpoint], executor="threading", pool=pool
        ).start()

    for endpoint, pool in zip(endpoints, ("first", "first", "second"), strict=True):
        start(lambda endpoint=endpoint, pool=pool: listen(endpoint, pool), "listener")
    scheduler.run(1)

    def tell() -> None:
        transport = _transport(oslo_messaging.get_notification_transport)
        notifier = oslo_messaging.Notifier(transport, "publisher", driver="messagingv2", topics=["news", "more"])
        notifier.info({}, "event", {"number": 1})

    start(tell, "teller")
    scheduler.run(5)
    assert [len(each.got) for each in (endpoints[2],)] == [2]
    assert len(endpoints[0].got) + len(endpoints[1].got) == 2
