"""Messages that are lost, late or sent twice, and a broker that is away."""

from __future__ import annotations

from collections.abc import Sequence

from lease_scheduler.rehearsal.faults.partition import half
from lease_scheduler.rehearsal.faults.setting import Setting
from lease_scheduler.rehearsal.runtime.broker import BrokerFaults, BusMessage
from lease_scheduler.rehearsal.runtime.processes import Process
from lease_scheduler.rehearsal.swarm import pace, stream

#: Probability in bad weather.
_LOST, _LATE, _TWICE, _HINT_LOST = 0.2, 0.3, 0.2, 0.5

#: Seconds: mean of an exponential distribution.
_DELAY = 5.0

#: Seconds between two starts of the broker at most: mean of an exponential distribution.
_BETWEEN_RESTARTS = 3_000.0

#: Sender of Nova's notifications.
_NOVA = "nova."


class ManyBrokerFaults(BrokerFaults):
    """All faults of a seed. A message is as late as all of them together make it."""

    def __init__(self, faults: Sequence[BrokerFaults]) -> None:
        self._faults = faults

    def deliveries(self, message: BusMessage) -> Sequence[float]:
        """See ``BrokerFaults``."""
        delays: tuple[float, ...] = (0.0,)
        for each in self._faults:
            more = each.deliveries(message)
            delays = tuple(first + second for first in delays for second in more)
        return delays

    def is_away(self, process: Process) -> bool:
        """See ``BrokerFaults``."""
        return any(each.is_away(process) for each in self._faults)


class LostMessages(BrokerFaults):
    """Messages between the parts of the service are lost."""

    name = "lost-messages"

    def __init__(self, setting: Setting) -> None:
        self._weather, self._story = setting.weather("lost-messages"), setting.story

    def deliveries(self, message: BusMessage) -> Sequence[float]:
        """See ``BrokerFaults``."""
        if not message.sender.label.startswith(_NOVA) and self._weather.strikes(_LOST):
            self._story.tell(message.sender.label, f"sends a message to {message.queue} that is lost")
            return ()
        return (0.0,)


class LateMessages(BrokerFaults):
    """Messages are late, and overtake each other."""

    name = "late-messages"

    def __init__(self, setting: Setting) -> None:
        self._weather = setting.weather("late-messages", 300.0)

    def deliveries(self, message: BusMessage) -> Sequence[float]:
        """See ``BrokerFaults``."""
        return (self._weather.random.expovariate(1.0 / _DELAY) if self._weather.strikes(_LATE) else 0.0,)


class DoubleMessages(BrokerFaults):
    """Messages arrive twice."""

    name = "double-messages"

    def __init__(self, setting: Setting) -> None:
        self._weather, self._story = setting.weather("double-messages", 600.0), setting.story

    def deliveries(self, message: BusMessage) -> Sequence[float]:
        """See ``BrokerFaults``."""
        if self._weather.strikes(_TWICE):
            self._story.tell(message.sender.label, f"sends a message to {message.queue} that arrives twice")
            return (0.0, self._weather.random.expovariate(1.0 / _DELAY))
        return (0.0,)


class LostHints(BrokerFaults):
    """Notifications of Nova are lost."""

    name = "lost-hints"

    def __init__(self, setting: Setting) -> None:
        self._weather = setting.weather("lost-hints", 3_600.0)

    def deliveries(self, message: BusMessage) -> Sequence[float]:
        """See ``BrokerFaults``."""
        return () if message.sender.label.startswith(_NOVA) and self._weather.strikes(_HINT_LOST) else (0.0,)


class AbsentBroker(BrokerFaults):
    """Nobody reaches the broker."""

    name = "broker-away"

    def __init__(self, setting: Setting) -> None:
        self._weather = setting.weather("broker-away", 60.0)

    def is_away(self, process: Process) -> bool:
        """See ``BrokerFaults``."""
        return self._weather.is_bad()


class RestartingBroker(BrokerFaults):
    """The broker starts again, and has lost all messages in its queues."""

    name = "broker-restart"

    def __init__(self, setting: Setting) -> None:
        self._setting, self._random = setting, stream(setting.seed, "broker-restart")
        self._wait()

    def _wait(self) -> None:
        seconds = self._random.expovariate(1.0 / (_BETWEEN_RESTARTS * pace(self._setting.seed)))
        self._setting.world.scheduler.call_later(seconds, self._restart)

    def _restart(self) -> None:
        world = self._setting.world
        if world.scheduler.now < self._setting.calm:
            world.broker.restart()
            self._setting.disturbances.begin(self.name)()
            self._setting.story.tell("broker", "starts again, without its messages")
            self._wait()


class HalfReachedBroker(BrokerFaults):
    """One of two hosts does not reach the broker, while the other one does not reach the database.

    ``databases.HalfReachedDatabase`` is the other half.
    """

    name = "partition"

    def __init__(self, setting: Setting) -> None:
        self._weather = setting.weather(self.name)

    def is_away(self, process: Process) -> bool:
        """See ``BrokerFaults``."""
        return self._weather.is_bad() and process.host == half(self._weather)
