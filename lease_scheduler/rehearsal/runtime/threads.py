"""``threading.Thread`` in a world: its threads are simulated ones."""

from __future__ import annotations

import threading
from functools import partial
from threading import Thread
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from lease_scheduler.rehearsal.runtime import current
from lease_scheduler.rehearsal.runtime.scheduler import GreenThread

if TYPE_CHECKING:
    from lease_scheduler.rehearsal.runtime.processes import Process


class _Simulated:
    """The simulated thread behind a ``Thread``, and those that wait for its end."""

    def __init__(self) -> None:
        self.is_over = False
        self.waiting: list[GreenThread] = []


_SIMULATED: WeakKeyDictionary[Thread, _Simulated] = WeakKeyDictionary()

_START = Thread.start

#: Where ``threading.current_thread`` looks.
_ACTIVE: dict[int, Thread] = threading._active  # type: ignore[attr-defined]


def start_in(process: Process, thread: Thread) -> None:
    """Start a thread in a simulated process.

    :raises RuntimeError: it was started before
    """
    if thread in _SIMULATED:
        raise RuntimeError("threads can only be started once")
    scheduler = current.scheduler()
    state = _SIMULATED[thread] = _Simulated()

    def run() -> None:
        _ACTIVE[green.ident] = thread
        try:
            thread.run()
        finally:
            state.is_over = True
            _ACTIVE.pop(green.ident, None)
            for waiting in state.waiting:
                scheduler.wake(waiting)

    green = scheduler.spawn(process, run)
    # On the object and not on the class, as they are called even after the world, when Python ends.
    thread.join = partial(_join, thread, state)  # type: ignore[method-assign]
    thread.is_alive = partial(_is_alive, state)  # type: ignore[method-assign]
    thread._ident = green.ident  # type: ignore[attr-defined]
    thread._started.set()  # type: ignore[attr-defined]


def _start(thread: Thread) -> None:
    """Start a thread: a simulated one if the caller is one.

    :raises RuntimeError: a world runs, and the caller is none of its threads. The locks of a real thread would be
        those of the world
    """
    caller = current.thread()
    if caller is not None:
        start_in(caller.process, thread)
    elif current.running() is None:
        _START(thread)
    else:
        raise RuntimeError("while a world runs, threads are started by its processes")


def _join(thread: Thread, state: _Simulated, timeout: float | None = None) -> None:
    """Wait until a simulated thread has ended. After its world, it has."""
    caller = current.thread()
    if state.is_over or caller is None:
        return
    if _ACTIVE.get(caller.ident) is thread:
        raise RuntimeError("cannot join current thread")
    state.waiting.append(caller)
    seconds = None if timeout is None else caller.process.clock.true_seconds(timeout)
    current.scheduler().park(seconds)
    state.waiting.remove(caller)


def _is_alive(state: _Simulated) -> bool:
    """Return whether a simulated thread has not ended."""
    return not state.is_over and current.running() is not None


class GreenLocal:
    """Attributes of each thread, as ``threading.local``."""

    _outside: dict[str, Any]

    def __new__(cls) -> GreenLocal:
        """Return one without attributes."""
        made = super().__new__(cls)
        object.__setattr__(made, "_outside", {})
        return made

    def __getattr__(self, name: str) -> Any:
        try:
            return self._of_thread()[name]
        except KeyError:
            raise AttributeError(name) from None

    def __setattr__(self, name: str, value: Any) -> None:
        self._of_thread()[name] = value

    def __delattr__(self, name: str) -> None:
        try:
            del self._of_thread()[name]
        except KeyError:
            raise AttributeError(name) from None

    def _of_thread(self) -> dict[str, Any]:
        thread = current.thread()
        return self._outside if thread is None else thread.locals.setdefault(self, {})


def install() -> None:
    """Make threads simulated while a world runs."""
    Thread.start = _start  # type: ignore[assignment, method-assign]


def are_simulated() -> bool:
    """Return whether ``install`` was called and not undone."""
    return Thread.start is _start


def restore() -> None:
    """Undo ``install``."""
    Thread.start = _START  # type: ignore[method-assign]
