"""Driver of oslo.messaging for the broker of a world: ``transport_url = rehearsal://``.

As with RabbitMQ, a request waits in its queue until it expires, and is acknowledged when its handling begins; a
notification is acknowledged when it is handled.
"""

from __future__ import annotations

import json
from typing import Any

import oslo_messaging
from oslo_messaging._drivers import base, common
from oslo_serialization import jsonutils

from lease_scheduler.rehearsal.runtime import current
from lease_scheduler.rehearsal.runtime.broker import Broker, BusMessage, broker_of
from lease_scheduler.rehearsal.runtime.processes import Process

#: Seconds between two attempts to reach the broker.
_PAUSE = 1.0


def _own_process() -> Process:
    """Return the process of the calling thread.

    :raises NoWorldError: there is none
    """
    thread = current.thread()
    if thread is None:
        raise current.NoWorldError("messages are sent by processes of a world; give this work to one")
    return thread.process


class _Incoming(base.RpcIncomingMessage):  # type: ignore[misc]
    """A message that a process has received."""

    def __init__(self, driver: RehearsalDriver, process: Process, message: BusMessage) -> None:
        content = json.loads(message.body)
        super().__init__(content["context"], content["message"], content["id"])
        self._driver, self._process, self._message = driver, process, message

    def acknowledge(self) -> None:
        self._driver.broker.acknowledge(self._process, self._message)

    def requeue(self) -> None:
        self._driver.broker.requeue(self._process, self._message)

    def heartbeat(self) -> None:
        """Do nothing: no client of the service asks for heartbeats of long calls."""

    def reply(self, reply: Any = None, failure: Any = None) -> None:
        if self._message.reply_to is None:
            return
        said = None if failure is None else common.serialize_remote_exception(failure)
        body = jsonutils.dumps({"reply": reply, "failure": said}, sort_keys=True)
        # Without retries, a client would wait in vain for an answer that is there.
        self._driver.reach_broker(self._process, None)
        self._driver.broker.reply(self._process, self._message.reply_to, self._message.sender, body)


class _Listener(base.PollStyleListener):  # type: ignore[misc]
    """Reads some queues for a server of oslo.messaging."""

    def __init__(self, driver: RehearsalDriver, process: Process, queues: list[str]) -> None:
        super().__init__()
        self._driver, self._process, self._queues = driver, process, queues
        self._is_stopped = False

    @base.batch_poll_helper  # type: ignore[untyped-decorator]
    def poll(self, timeout: float | None = None) -> _Incoming | None:
        scheduler = current.scheduler()
        end = None if timeout is None else scheduler.now + self._process.clock.true_seconds(timeout)
        while not self._is_stopped:
            left = None if end is None else max(0.0, end - scheduler.now)
            message = self._driver.broker.get(self._process, self._queues, left)
            if message is not None:
                return _Incoming(self._driver, self._process, message)
            if end is not None and scheduler.now >= end:
                break
        return None

    def stop(self) -> None:
        self._is_stopped = True
        self._driver.broker.wake_all()


class RehearsalDriver(base.BaseDriver):  # type: ignore[misc]
    """Driver for the broker of the running world.

    :raises NoWorldError: no world runs
    """

    def __init__(self, conf: Any, url: Any, default_exchange: Any = None, allowed_remote_exmods: Any = None) -> None:
        super().__init__(conf, url, default_exchange, allowed_remote_exmods)
        self._scheduler = current.scheduler()
        self.broker: Broker = broker_of(self._scheduler)

    def require_features(self, requeue: bool = True) -> None:
        """See ``BaseDriver``. It has all features."""

    def reach_broker(self, process: Process, retry: int | None) -> None:
        """Return when the broker can be reached.

        :param retry: maximum number of further attempts; None or -1 for no limit
        :raises MessageDeliveryFailure: it cannot be reached
        """
        attempts = 0
        self._scheduler.pause()
        while not self.broker.is_reachable(process):
            attempts += 1
            if retry not in (None, -1) and attempts > (retry or 0):
                raise oslo_messaging.MessageDeliveryFailure("the broker does not answer")
            self._scheduler.sleep(_PAUSE)

    def _queues(self, target: Any) -> tuple[str, ...]:
        exchange = target.exchange or self._default_exchange
        if target.fanout:
            return self.broker.fanned_out(f"{exchange}/{target.topic}")
        server = "" if target.server is None else f".{target.server}"
        return (f"{exchange}/{target.topic}{server}",)

    def send(
        self,
        target: Any,
        ctxt: Any,
        message: Any,
        wait_for_reply: bool | None = None,
        timeout: float | None = None,
        call_monitor_timeout: Any = None,
        retry: int | None = None,
        transport_options: Any = None,
    ) -> Any:
        """See ``BaseDriver.send``."""
        process = _own_process()
        self.reach_broker(process, retry)
        queues = self._queues(target)
        if transport_options is not None and transport_options.at_least_once:
            for queue in queues:
                if not self.broker.has_queue(queue):
                    raise oslo_messaging.MessageUndeliverable("no queue", target.exchange, queue, message)
        body = self._body(ctxt, message)
        seconds = None if timeout is None else process.clock.true_seconds(timeout)
        if not wait_for_reply:
            for queue in queues:
                self.broker.declare(queue)
                self.broker.publish(process, queue, body, seconds)
            return None
        return self._call(process, queues[0], body, seconds)

    def _call(self, process: Process, queue: str, body: str, seconds: float | None) -> Any:
        replies: list[str] = []
        thread = self._scheduler.current
        assert thread is not None

        def take(reply: str) -> None:
            replies.append(reply)
            self._scheduler.wake(thread)

        number = self.broker.await_reply(take)
        try:
            self.broker.declare(queue)
            self.broker.publish(process, queue, body, seconds, number)
            if not replies:
                self._scheduler.park(seconds)
        finally:
            self.broker.await_no_more(number)
        if not replies:
            raise oslo_messaging.MessagingTimeout(f"no reply on queue {queue}")
        answer = json.loads(replies[0])
        if answer["failure"] is not None:
            raise common.deserialize_remote_exception(answer["failure"], self._allowed_remote_exmods)
        return answer["reply"]

    def _body(self, ctxt: Any, message: Any) -> str:
        identifier = f"{self._scheduler.identifiers.getrandbits(128):032x}"
        text: str = jsonutils.dumps({"id": identifier, "context": ctxt, "message": message}, sort_keys=True)
        return text

    def send_notification(self, target: Any, ctxt: Any, message: Any, version: float, retry: int | None = None) -> None:
        """See ``BaseDriver.send_notification``. Messages wait until somebody reads their queue."""
        process = _own_process()
        self.reach_broker(process, retry)
        (queue,) = self._queues(target)
        self.broker.declare(queue)
        body = self._body(ctxt, message)
        for each in (queue, *self.broker.fanned_out(queue)):
            self.broker.publish(process, each, body)

    def listen(self, target: Any, batch_size: int, batch_timeout: float) -> Any:
        """See ``BaseDriver.listen``."""
        topic = f"{target.exchange or self._default_exchange}/{target.topic}"
        queues = [f"{topic}.{target.server}", topic, f"{topic}_fanout.{target.server}"]
        for queue in queues:
            self.broker.declare(queue)
        self.broker.declare(queues[-1], fanout=topic)
        return self._adapter(queues, batch_size, batch_timeout)

    def listen_for_notifications(
        self, targets_and_priorities: Any, pool: str | None, batch_size: int, batch_timeout: float
    ) -> Any:
        """See ``BaseDriver.listen_for_notifications``. The members of a pool share one queue for all topics."""
        topics = [
            f"{target.exchange or self._default_exchange}/{target.topic}.{priority}"
            for target, priority in targets_and_priorities
        ]
        for topic in topics:
            self.broker.declare(topic if pool is None else pool, fanout=None if pool is None else topic)
        return self._adapter(topics if pool is None else [pool], batch_size, batch_timeout)

    def _adapter(self, queues: list[str], batch_size: int, batch_timeout: float) -> Any:
        listener = _Listener(self, _own_process(), queues)
        return base.PollStyleListenerAdapter(listener, batch_size, batch_timeout)

    def cleanup(self) -> None:
        """Close nothing: the broker belongs to the world."""
