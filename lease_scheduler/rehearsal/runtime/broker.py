"""Message broker of a world: queues that processes share, with hooks for what goes wrong on the way."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import Any

from lease_scheduler.rehearsal.runtime.processes import Process
from lease_scheduler.rehearsal.runtime.scheduler import GreenThread, Scheduler


@dataclass(eq=False)
class BusMessage:
    """A message on its way.

    :ivar number: number of the message; copies have the same
    :ivar queue: name of the queue that it goes to
    :ivar sender: process that sent it
    :ivar body: text, as it is on the wire
    :ivar expires: true seconds of the world at which the broker drops it; None for never
    :ivar reply_to: number under which the sender waits for a reply; None if it does not
    """

    number: int
    queue: str
    sender: Process
    body: str
    expires: float | None = None
    reply_to: int | None = None


class BrokerFaults:
    """What goes wrong with messages. This class lets everything succeed; others override."""

    def deliveries(self, message: BusMessage) -> Sequence[float]:
        """Return the seconds after which each copy of a message arrives: none if it is lost, several if it is sent
        more than once. Messages with different delays overtake each other.
        """
        return (0.0,)

    def is_away(self, process: Process) -> bool:
        """Return whether a process cannot reach the broker."""
        return False


@dataclass
class _Queue:
    messages: deque[BusMessage] = field(default_factory=deque)
    waiting: list[GreenThread] = field(default_factory=list)


class Broker:
    """Queues by name. They exist from their declaration on, whether or not anybody reads them.

    :ivar faults: decides what goes wrong; may be replaced at any time
    """

    #: Its address among the services of a world.
    ADDRESS = "broker"

    def __init__(self, scheduler: Scheduler) -> None:
        self.faults = BrokerFaults()
        self._scheduler = scheduler
        self._numbers = count(1)
        self._queues: dict[str, _Queue] = {}
        self._fanouts: dict[str, list[str]] = {}
        self._unacknowledged: dict[Process, list[BusMessage]] = {}
        self._replies: dict[int, Callable[[str], None]] = {}
        scheduler.services[self.ADDRESS] = self

    def is_reachable(self, process: Process) -> bool:
        """Return whether a process can reach the broker. A dead one cannot."""
        return process.is_alive and not self.faults.is_away(process)

    def declare(self, name: str, fanout: str | None = None) -> None:
        """Make a queue, unless it exists.

        :param fanout: name of the topic of which the queue gets a copy of every fanned-out message, or None
        """
        self._queues.setdefault(name, _Queue())
        if fanout is not None and name not in self._fanouts.setdefault(fanout, []):
            self._fanouts[fanout].append(name)

    def has_queue(self, name: str) -> bool:
        """Return whether a queue exists."""
        return name in self._queues

    def fanned_out(self, topic: str) -> tuple[str, ...]:
        """Return the names of the queues that get the fanned-out messages of a topic."""
        return tuple(self._fanouts.get(topic, ()))

    def restart(self) -> None:
        """Lose all queues with their messages, as a broker without durable queues does when it starts again."""
        for queue in self._queues.values():
            queue.messages.clear()
        self._queues = {name: queue for name, queue in self._queues.items() if queue.waiting}
        for messages in self._unacknowledged.values():
            messages.clear()

    def publish(
        self, sender: Process, queue: str, body: str, seconds: float | None = None, reply_to: int | None = None
    ) -> None:
        """Send a message to a queue, which must exist.

        :param seconds: true seconds after which it expires; None for never
        :param reply_to: from ``await_reply``, or None
        """
        expires = None if seconds is None else self._scheduler.now + seconds
        message = BusMessage(next(self._numbers), queue, sender, body, expires, reply_to)
        self._note("sends", message)
        for delay in self.faults.deliveries(message):
            self._after(delay, lambda: self._arrive(message))

    def _after(self, delay: float, arrive: Callable[[], None]) -> None:
        if delay <= 0:
            arrive()
        else:
            self._scheduler.call_later(delay, arrive)

    def _arrive(self, message: BusMessage) -> None:
        queue = self._queues.get(message.queue)
        if queue is not None:
            queue.messages.append(message)
            self._wake(queue)

    def _wake(self, queue: _Queue) -> None:
        for thread in queue.waiting:
            self._scheduler.wake(thread)

    def wake_all(self) -> None:
        """Have all readers look again, because faults have changed."""
        for queue in self._queues.values():
            self._wake(queue)

    def get(self, reader: Process, names: Sequence[str], seconds: float | None) -> BusMessage | None:
        """Return the next message of some queues, or None if none came in time or ``interrupt`` was called.

        The message comes back to its queue if the reader is killed before it calls ``acknowledge``.

        :param seconds: maximum true seconds to wait; None for no limit
        """
        self._follow(reader)
        found = self._take(reader, names)
        thread = self._scheduler.current
        if found is not None or thread is None or seconds == 0:
            return found
        queues = [self._queues.setdefault(name, _Queue()) for name in names]
        for queue in queues:
            queue.waiting.append(thread)
        self._scheduler.park(seconds)
        for queue in queues:
            queue.waiting.remove(thread)
        return self._take(reader, names)

    def _take(self, reader: Process, names: Iterable[str]) -> BusMessage | None:
        if not self.is_reachable(reader):
            return None
        for name in names:
            messages = self._queues[name].messages if name in self._queues else ()
            while messages:
                message = messages.popleft()
                if message.expires is None or message.expires > self._scheduler.now:
                    self._unacknowledged[reader].append(message)
                    return message
        return None

    def _follow(self, reader: Process) -> None:
        """Learn of the end of a reader."""
        if reader not in self._unacknowledged:
            self._unacknowledged[reader] = []
            reader.on_death.append(lambda: self._forget(reader))

    def acknowledge(self, reader: Process, message: BusMessage) -> None:
        """Note that a message is handled, so that it does not come again."""
        if reader.is_alive and message in self._unacknowledged.get(reader, ()):
            self._unacknowledged[reader].remove(message)

    def requeue(self, reader: Process, message: BusMessage) -> None:
        """Put a message back, first in its queue."""
        if reader.is_alive and message in self._unacknowledged.get(reader, ()):
            self._unacknowledged[reader].remove(message)
            self._put_back(message)

    def _put_back(self, message: BusMessage) -> None:
        queue = self._queues.get(message.queue)
        if queue is not None:
            queue.messages.appendleft(message)
            self._wake(queue)

    def _forget(self, reader: Process) -> None:
        """Put back what a killed process has not acknowledged, and have none of its threads wait."""
        for queue in self._queues.values():
            queue.waiting = [thread for thread in queue.waiting if thread.process is not reader]
        for message in reversed(self._unacknowledged.pop(reader, [])):
            self._put_back(message)

    # -- replies -----------------------------------------------------------------------------------------

    def await_reply(self, on_reply: Callable[[str], None]) -> int:
        """Return a number for a request. The function is called with each reply to it."""
        number = next(self._numbers)
        self._replies[number] = on_reply
        return number

    def await_no_more(self, number: int) -> None:
        """Drop replies to a request from now on."""
        self._replies.pop(number, None)

    def reply(self, sender: Process, number: int, receiver: Process, body: str) -> None:
        """Send the reply to a request."""
        message = BusMessage(next(self._numbers), f"reply of {receiver.label}", sender, body)
        self._note("replies", message)

        def arrive() -> None:
            on_reply = self._replies.get(number)
            if on_reply is not None and self.is_reachable(receiver):
                on_reply(body)

        for delay in self.faults.deliveries(message):
            self._after(delay, arrive)

    def _note(self, verb: str, message: BusMessage) -> None:
        self._scheduler.trace.note(
            f"{self._scheduler.now:.6f} {message.sender.label} {verb} {message.number} {message.queue} {message.body}"
        )


def broker_of(scheduler: Scheduler) -> Broker:
    """Return the broker of a world."""
    found: Any = scheduler.services[Broker.ADDRESS]
    assert isinstance(found, Broker)
    return found
