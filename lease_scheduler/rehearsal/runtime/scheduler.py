"""Scheduler of a world: simulated threads, their order, and the time that passes while all of them wait."""

from __future__ import annotations

import gc
from collections.abc import Callable
from functools import partial
from heapq import heappop, heappush
from itertools import count
from random import Random
from typing import TYPE_CHECKING, Any

from greenlet import GreenletExit, getcurrent, greenlet

from lease_scheduler.random_streams import random_stream
from lease_scheduler.rehearsal.runtime.trace import Trace

if TYPE_CHECKING:
    from lease_scheduler.rehearsal.runtime.processes import Process

#: Switches at one instant after which the threads are assumed to wake each other forever.
_ENDLESS = 1_000_000

#: Switches between two collections of cyclic garbage. They must not depend on what else is in the memory.
_BETWEEN_COLLECTIONS = 20_000

#: Seconds of a pause: mean of an exponential distribution.
_PAUSE = 0.05

#: Number of times that a thread is told to end when its world is closed. Each may be swallowed by an ``except``.
_ATTEMPTS_TO_END = 50

#: Threads that did not end with their world. They are kept because a greenlet without references would be continued.
_UNENDING: list[greenlet] = []


class EndlessWorldError(RuntimeError):
    """Threads wake each other without end while no time passes."""


class GreenThread:
    """A simulated thread.

    :ivar process: process that it belongs to
    :ivar name: name in the trace, which does not depend on the names that programs give
    :ivar ident: number that no other thread of the world has
    :ivar is_alive: false when it has ended, or its process was killed
    :ivar is_parked: whether it waits
    :ivar locals: attributes of each ``threading.local`` in this thread
    """

    __slots__ = ("_ticket", "_was_woken", "greenlet", "ident", "is_alive", "is_parked", "locals", "name", "process")

    def __init__(self, process: Process, name: str, ident: int, run: Callable[[], None], hub: greenlet) -> None:
        self.process, self.name, self.ident = process, name, ident
        self.is_alive = True
        self.is_parked = False
        self.locals: dict[object, dict[str, Any]] = {}
        self._ticket = 0
        self._was_woken = False
        self.greenlet = greenlet(run, hub)

    def park(self) -> int:
        """Note that the thread waits, and return the number of this wait."""
        self.is_parked = True
        self._ticket += 1
        return self._ticket

    def end_wait(self, ticket: int | None) -> bool:
        """End a wait, and return whether there was one.

        :param ticket: number of the wait whose time is over; None if the thread is woken
        """
        if not (self.is_parked and self.is_alive) or ticket not in (None, self._ticket):
            return False
        self.is_parked = False
        self._was_woken = ticket is None
        return True

    @property
    def was_woken(self) -> bool:
        """Whether the latest wait ended by ``wake``, and not because its time was over."""
        return self._was_woken


class Scheduler:
    """Runs the threads of a world, one at a time. The seed decides the order of those that can run.

    Time passes only while all threads wait: then it jumps to the next instant at which one of them goes on.

    :param seed: at least 0
    :param pauses: probability that a thread pauses when it takes a lock of the service, or reads a clock there
    :ivar now: true seconds since the world began
    :ivar current: the thread that runs, or None
    :ivar services: simulated servers by address, for the drivers that connect to them
    :ivar pids: numbers for processes
    :ivar random: random numbers of the schedule
    :ivar identifiers: random numbers that programs draw, such as those of identifiers
    :ivar trace: record of what happens
    :ivar crashes: errors that ended threads: (instant, name of the thread, error)
    :ivar switches: number of times that a thread was continued
    :ivar on_switch: called before a thread is continued; it may kill the process of the thread. None for nothing
    """

    def __init__(self, seed: int, pauses: float = 0.0, trace: Trace | None = None) -> None:
        self.now = 0.0
        self.current: GreenThread | None = None
        self.services: dict[str, Any] = {}
        self.pids = count(1_000)
        self.random = Random(int(random_stream(seed, "schedule").integers(2**62)))
        self.identifiers = Random(int(random_stream(seed, "identifiers").integers(2**62)))
        self.trace = trace or Trace()
        self.crashes: list[tuple[float, str, BaseException]] = []
        self.switches = 0
        self.on_switch: Callable[[GreenThread], None] | None = None
        self._pauses = pauses
        self._hub = getcurrent()
        self._ready: list[GreenThread] = []
        self._timers: list[tuple[float, int, GreenThread | None, Any]] = []
        self._numbers = count(1)
        self._idents = count(1)
        self._threads: list[GreenThread] = []
        self._is_closing = False

    # -- for threads -------------------------------------------------------------------------------------

    def pause(self) -> None:
        """Let other threads run that can. Does nothing outside of threads."""
        if self.current is not None:
            self._ready.append(self.current)
            self._switch()

    def pause_by_chance(self) -> None:
        """Let other threads run for a moment, with the probability that the world was made with."""
        if self._pauses and self.current is not None and self.random.random() < self._pauses:
            self.sleep(self.random.expovariate(1.0 / _PAUSE))

    def park(self, seconds: float | None = None) -> bool:
        """Wait until the calling thread is woken. Return False if the time was over first.

        :param seconds: maximum seconds to wait; None for no limit
        :raises RuntimeError: called outside of the threads of the world
        """
        thread = self.current
        if thread is None:
            raise RuntimeError("only a thread of the world can wait; give this work to a process")
        ticket = thread.park()
        if seconds is not None:
            heappush(self._timers, (self.now + max(0.0, seconds), next(self._numbers), thread, ticket))
        self._switch()
        return thread.was_woken

    def sleep(self, seconds: float) -> None:
        """Let the calling thread wait."""
        if seconds > 0:
            self.park(seconds)
        else:
            self.pause()

    def wake(self, thread: GreenThread) -> None:
        """End the wait of a thread, if it waits."""
        if thread.end_wait(None):
            self._ready.append(thread)

    def leave(self) -> None:
        """Never return to the calling thread, whose process has been killed."""
        self._switch()

    def _switch(self) -> None:
        if self._is_closing:
            raise GreenletExit
        self._hub.switch()

    # -- for the world -----------------------------------------------------------------------------------

    def spawn(self, process: Process, run: Callable[[], None]) -> GreenThread:
        """Return a new thread of a process, which can run from now on."""

        def guarded() -> None:
            try:
                run()
            except GreenletExit:
                pass
            except BaseException as error:
                self.crashes.append((self.now, thread.name, error))
                self.trace.note(f"{self.now:.6f} {thread.name} crashed: {type(error).__name__}")
            finally:
                thread.is_alive = False
                process.threads.pop(thread, None)

        thread = GreenThread(process, process.next_thread_name(), next(self._idents), guarded, self._hub)
        process.threads[thread] = None
        self._threads.append(thread)
        self._ready.append(thread)
        return thread

    def call_later(self, seconds: float, callback: Callable[[], object]) -> None:
        """Have a function called, outside of all threads. It must not wait.

        :param seconds: seconds until then
        """
        heappush(self._timers, (self.now + max(0.0, seconds), next(self._numbers), None, callback))

    def run(self, seconds: float) -> None:
        """Run the world for some seconds of its time.

        :raises EndlessWorldError: the threads wake each other forever
        """
        end = self.now + seconds
        while True:
            self._run_ready()
            if not self._timers or self._timers[0][0] > end:
                break
            self.now = self._timers[0][0]
            self._end_waits()
        self.now = end
        self._threads = [thread for thread in self._threads if not thread.greenlet.dead]

    def _run_ready(self) -> None:
        ready, random = self._ready, self.random.random
        last = self.switches + _ENDLESS
        while ready:
            index = int(random() * len(ready))
            thread = ready[index]
            ready[index] = ready[-1]
            ready.pop()
            if self.on_switch is not None and thread.is_alive:
                self.on_switch(thread)
            if not thread.is_alive:
                continue
            if thread.process.frozen_until > self.now:
                self.call_later(thread.process.frozen_until - self.now, partial(ready.append, thread))
                continue
            self.switches += 1
            if self.switches > last:
                names = ", ".join(sorted({each.name for each in (thread, *ready)}))
                raise EndlessWorldError(f"no time passes at {self.now:.6f} s, because these go on without end: {names}")
            self.trace.note(f"{self.now:.6f} {thread.name}")
            self.current = thread
            thread.greenlet.switch()
            self.current = None
            if self.switches % _BETWEEN_COLLECTIONS == 0:
                gc.collect(1)

    def _end_waits(self) -> None:
        """End all waits of this instant, before any of their threads runs."""
        timers, now = self._timers, self.now
        while timers and timers[0][0] <= now:
            _, _, thread, what = heappop(timers)
            if thread is None:
                what()
            elif thread.end_wait(what):
                self._ready.append(thread)

    def close(self) -> None:
        """End all threads, including those of killed processes. What they still do has no effect on anything else.

        The processes must be dead.
        """
        self._is_closing = True
        for thread in self._threads:
            thread.is_alive = False
            self.current = thread
            for _ in range(_ATTEMPTS_TO_END):
                if thread.greenlet.dead:
                    break
                thread.greenlet.throw()
            if not thread.greenlet.dead:
                _UNENDING.append(thread.greenlet)
        self.current = None
        self._threads, self._ready, self._timers = [], [], []
