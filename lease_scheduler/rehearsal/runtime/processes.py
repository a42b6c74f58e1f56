"""Simulated processes: their threads, clocks, and sudden ends."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import count
from threading import Thread

from lease_scheduler.rehearsal.runtime.scheduler import GreenThread, Scheduler
from lease_scheduler.rehearsal.runtime.threads import start_in

#: True time at which worlds begin, in seconds since the epoch: 2030-01-01 00:00 UTC, a Tuesday.
EPOCH = 1_893_456_000


@dataclass
class HostClock:
    """The clocks of a host.

    :ivar offset: seconds by which the wall clock is ahead of true time. May be changed at any time
    :ivar drift: seconds by which both clocks gain in a true second. Must not be changed, as the monotonic clock would
        jump
    """

    offset: float = 0.0
    drift: float = 0.0

    def monotonic(self, now: float) -> float:
        """Return the reading of the clock that cannot be set.

        :param now: true seconds since the world began
        """
        return now * (1.0 + self.drift)

    def wall(self, now: float) -> float:
        """Return the seconds since the epoch by the clock that can be set."""
        return EPOCH + self.offset + self.monotonic(now)

    def true_seconds(self, seconds: float) -> float:
        """Return the true seconds in which the clocks advance by some seconds."""
        return seconds / (1.0 + self.drift)


class Process:
    """A simulated process.

    :param name: what runs in it, for the trace
    :param host: name of its host
    :param clock: clocks of the host; None for true ones
    :ivar pid: number that no other process of the world has
    :ivar label: name that no other process of the world has
    :ivar frozen_until: true seconds since the world began before which none of its threads goes on
    :ivar is_alive: whether it has not been killed. Servers of the world refuse what comes from a dead process
    :ivar threads: its live threads, as keys
    :ivar on_death: called when it is killed, in this order. The servers that it is connected to learn of its end so
    """

    def __init__(self, scheduler: Scheduler, name: str, host: str, clock: HostClock | None = None) -> None:
        self.host = host
        self.clock = clock or HostClock()
        self.pid = next(scheduler.pids)
        self.label = f"{name}.{self.pid}"
        self.is_alive = True
        self.frozen_until = 0.0
        self.threads: dict[GreenThread, None] = {}
        self.on_death: list[Callable[[], None]] = []
        self._scheduler = scheduler
        self._thread_numbers = count(1)

    def next_thread_name(self) -> str:
        """Return the name for another thread in the trace."""
        return f"{self.label}#{next(self._thread_numbers)}"

    def start(self, main: Callable[[], object]) -> None:
        """Start a thread of the process.

        :param main: what it does; the process goes on when it returns
        """
        start_in(self, Thread(target=main, name="main", daemon=True))

    def monotonic(self) -> float:
        """Return the seconds of the clock that cannot be set."""
        return self.clock.monotonic(self._scheduler.now)

    def wall(self) -> float:
        """Return the seconds since the epoch, by the host's clock."""
        return self.clock.wall(self._scheduler.now)

    def freeze(self, seconds: float) -> None:
        """Let none of its threads go on for some seconds, as SIGSTOP does, or a host that moves its virtual machine.

        If a thread of the process itself calls this, the call returns after that time.
        """
        self.frozen_until = self._scheduler.now + seconds
        current = self._scheduler.current
        if current is not None and current.process is self:
            self._scheduler.pause()

    def kill(self) -> None:
        """End the process at once, as SIGKILL does: no ``finally`` block runs while the world does.

        If a thread of the process itself calls this, the call does not return.
        """
        if not self.is_alive:
            return
        self._scheduler.trace.note(f"{self._scheduler.now:.6f} {self.label} is killed")
        self.is_alive = False
        for thread in self.threads:
            thread.is_alive = False
        for tell in self.on_death:
            tell()
        current = self._scheduler.current
        if current is not None and current.process is self:
            self._scheduler.leave()
