"""Virtual time for code that sleeps, waits and starts threads as if time were real.

Threads are greenlets: one runs until it sleeps or waits, and time passes only when all do. ``install`` has to be called
before modules are imported that take functions or classes from ``time``, ``datetime`` and ``threading``.
"""

from __future__ import annotations

import datetime as datetime_module
import heapq
import time as time_module
from collections.abc import Callable
from itertools import count
from typing import Any

from greenlet import GreenletExit, getcurrent, greenlet

_BEGIN = 1_800_000_000.0


class Clock:
    """The clock, and what is to happen when."""

    def __init__(self) -> None:
        self.now = _BEGIN
        self._due: list[tuple[float, int, Callable[[], Any]]] = []
        self._numbers = count()
        self._hub: greenlet | None = None

    def call_later(self, seconds: float, function: Callable[[], Any]) -> None:
        """Call a function after some seconds."""
        heapq.heappush(self._due, (self.now + max(0.0, seconds), next(self._numbers), function))

    def spawn(self, function: Callable[[], Any]) -> None:
        """Call a function that may sleep, as soon as the present one sleeps."""
        self.call_later(0.0, lambda: greenlet(function, parent=self._hub).switch())

    def sleep(self, seconds: float = 0.0) -> None:
        """Have time pass."""
        self.call_later(seconds, getcurrent().switch)
        self.wait()

    def wait(self) -> Any:
        """Have time pass until somebody switches back."""
        if self._hub is None or self._hub.dead:
            self._hub = greenlet(self._run)
        assert getcurrent() is not self._hub, "what is called later must not sleep"
        return self._hub.switch()

    def reset(self) -> None:
        """Forget what is to happen."""
        self._due.clear()
        self._hub = None

    def _run(self) -> None:
        while self._due:
            instant, _, function = heapq.heappop(self._due)
            self.now = max(self.now, instant)
            function()


CLOCK = Clock()


class Event:
    """Stands for ``threading.Event``."""

    def __init__(self) -> None:
        self._is_set = False

    def is_set(self) -> bool:
        return self._is_set

    def set(self) -> None:
        self._is_set = True

    def clear(self) -> None:
        self._is_set = False

    def wait(self, timeout: float | None = None) -> bool:
        end = None if timeout is None else CLOCK.now + timeout
        while not self._is_set and (end is None or CLOCK.now < end):
            CLOCK.sleep(0.05 if end is None else min(0.05, end - CLOCK.now))
        return self._is_set


class Condition:
    """Stands for ``threading.Condition``. Nothing else runs while a thread has it."""

    def __init__(self) -> None:
        self._notified = 0

    def __enter__(self) -> Condition:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def notify_all(self) -> None:
        self._notified += 1

    notify = notify_all

    def wait(self, timeout: float | None = None) -> bool:
        before, end = self._notified, None if timeout is None else CLOCK.now + timeout
        while self._notified == before and (end is None or CLOCK.now < end):
            CLOCK.sleep(0.05 if end is None else min(0.05, end - CLOCK.now))
        return self._notified != before

    def wait_for(self, predicate: Callable[[], Any], timeout: float | None = None) -> Any:
        end = None if timeout is None else CLOCK.now + timeout
        while not (found := predicate()) and (end is None or CLOCK.now < end):
            self.wait(0.05 if end is None else min(0.05, end - CLOCK.now))
        return found


class Thread:
    """Stands for ``threading.Thread``."""

    def __init__(
        self, target: Callable[..., Any], name: str = "", args: tuple[Any, ...] = (), daemon: bool = True
    ) -> None:
        self._target = target
        self._arguments = args
        self._is_alive = False

    def start(self) -> None:
        self._is_alive = True
        CLOCK.spawn(self._run)

    def is_alive(self) -> bool:
        return self._is_alive

    def join(self, timeout: float | None = None) -> None:
        end = None if timeout is None else CLOCK.now + timeout
        while self._is_alive and (end is None or CLOCK.now < end):
            CLOCK.sleep(0.05)

    def _run(self) -> None:
        try:
            self._target(*self._arguments)
        except GreenletExit:
            pass
        finally:
            self._is_alive = False


class _VirtualDatetime(datetime_module.datetime):
    """Tells the virtual time."""

    @classmethod
    def now(cls, tz: datetime_module.tzinfo | None = None) -> _VirtualDatetime:
        return cls.fromtimestamp(CLOCK.now, tz)

    @classmethod
    def utcnow(cls) -> _VirtualDatetime:
        return cls.fromtimestamp(CLOCK.now, datetime_module.UTC).replace(tzinfo=None)


def install() -> None:
    """Have all modules that are imported from now on see the virtual time."""
    time_module.time = lambda: CLOCK.now
    time_module.monotonic = lambda: CLOCK.now
    time_module.sleep = CLOCK.sleep  # type: ignore[assignment]
    datetime_module.datetime = _VirtualDatetime  # type: ignore[misc]
