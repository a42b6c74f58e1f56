"""What clocks, chance and names of the machine are in a world. Outside of its threads they are the real ones."""

from __future__ import annotations

import _thread
import datetime as real_datetime
import gc
import os
import queue
import socket
import sys
import threading
import time
from collections.abc import Callable
from types import FrameType
from typing import Any

from oslo_utils import timeutils

from lease_scheduler.rehearsal.runtime import current
from lease_scheduler.rehearsal.runtime.locks import GreenLock, GreenRLock
from lease_scheduler.rehearsal.runtime.threads import GreenLocal

_TIME, _MONOTONIC, _PERF_COUNTER, _SLEEP = time.time, time.monotonic, time.perf_counter, time.sleep
_GET_IDENT, _LOCK, _RLOCK = _thread.get_ident, _thread.allocate_lock, _thread.RLock
_URANDOM, _GETPID, _GETHOSTNAME = os.urandom, os.getpid, socket.gethostname
_UTCNOW = timeutils.utcnow
_COLLECT, _FREEZE, _UNFREEZE = gc.collect, gc.freeze, gc.unfreeze
_DATETIME = real_datetime.datetime
_WAIT = threading.Condition.wait.__code__

#: Prefix of the names of our own modules.
_SERVICE = "lease_scheduler."


def _wall() -> float:
    thread = current.thread()
    return _TIME() if thread is None else thread.process.wall()


def _steady() -> float:
    thread = current.thread()
    return _MONOTONIC() if thread is None else thread.process.monotonic()


def _time() -> float:
    _pause_by_chance()
    return _wall()


def _time_ns() -> int:
    return int(_wall() * 1e9)


def _monotonic() -> float:
    _pause_by_chance()
    return _steady()


def _monotonic_ns() -> int:
    return int(_steady() * 1e9)


def _perf_counter() -> float:
    _pause_by_chance()
    thread = current.thread()
    return _PERF_COUNTER() if thread is None else thread.process.monotonic()


def _sleep(seconds: float) -> None:
    thread = current.thread()
    if thread is None:
        _SLEEP(seconds)
    else:
        current.scheduler().sleep(thread.process.clock.true_seconds(seconds))


def _get_ident() -> int:
    thread = current.thread()
    return _GET_IDENT() if thread is None else thread.ident


def _pause_by_chance() -> None:
    """Let other threads run sometimes when the service reads a clock: it does so where time matters.

    Whether libraries read one depends on what is in their caches already, and thus on earlier worlds.
    """
    if current.thread() is not None and str(sys._getframe(2).f_globals.get("__name__")).startswith(_SERVICE):
        current.scheduler().pause_by_chance()


def _make_lock() -> Any:
    if current.running() is None:
        return _LOCK()
    # The lock by which a condition waits is used by two threads, one after the other: a pause would change nothing.
    return GreenLock() if sys._getframe(1).f_code is _WAIT else GreenLock(_is_of_service())


def _make_rlock() -> Any:
    return _RLOCK() if current.running() is None else GreenRLock(_is_of_service())


def _is_of_service() -> bool:
    """Return whether the service makes a lock, directly or as part of a condition, an event or the like.

    Libraries take locks that depend on what is in their caches already, and thus on earlier worlds.
    """
    frame: FrameType | None = sys._getframe(2)
    while frame is not None and frame.f_globals.get("__name__") == "threading":
        frame = frame.f_back
    return frame is not None and str(frame.f_globals.get("__name__")).startswith(_SERVICE)


def _urandom(size: int) -> bytes:
    return _URANDOM(size) if current.thread() is None else current.scheduler().identifiers.randbytes(size)


def _getpid() -> int:
    thread = current.thread()
    return _GETPID() if thread is None else thread.process.pid


def _gethostname() -> str:
    thread = current.thread()
    return _GETHOSTNAME() if thread is None else thread.process.host


# Garbage of the whole Python process is no matter of a simulated one: a complete collection for each would take longer
# than what they do.


def _collect(generation: int = 2) -> int:
    return _COLLECT(generation) if current.thread() is None else 0


def _freeze() -> None:
    if current.thread() is None:
        _FREEZE()


def _unfreeze() -> None:
    if current.thread() is None:
        _UNFREEZE()


class _OfAnyDatetime(type):
    """Makes every ``datetime`` an instance of its substitute."""

    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, _DATETIME)

    def __subclasscheck__(cls, subclass: type) -> bool:
        return issubclass(subclass, _DATETIME)


class WorldDatetime(_DATETIME, metaclass=_OfAnyDatetime):
    """``datetime.datetime`` whose present is that of the world. Its values are plain ``datetime``."""

    def __new__(cls, *arguments: Any, **named: Any) -> Any:
        """Return a plain ``datetime``."""
        return _DATETIME(*arguments, **named)

    @classmethod
    def now(cls, tz: real_datetime.tzinfo | None = None) -> Any:
        """See ``datetime.now``. The time zone of the world's hosts is UTC."""
        found = _DATETIME.fromtimestamp(_wall(), real_datetime.UTC)
        return found.replace(tzinfo=None) if tz is None else found.astimezone(tz)

    @classmethod
    def utcnow(cls) -> Any:
        """See ``datetime.utcnow``."""
        return cls.now()


def _utcnow(with_timezone: bool = False) -> Any:
    if current.thread() is None:
        return _UTCNOW(with_timezone)
    return WorldDatetime.now(real_datetime.UTC if with_timezone else None)


#: Original -> substitute, in every module that has the original under any name.
EVERYWHERE: tuple[tuple[Any, Callable[..., Any]], ...] = (
    (_TIME, _time),
    (time.time_ns, _time_ns),
    (_MONOTONIC, _monotonic),
    (time.monotonic_ns, _monotonic_ns),
    (_PERF_COUNTER, _perf_counter),
    (_SLEEP, _sleep),
    (_GET_IDENT, _get_ident),
    (_LOCK, _make_lock),
    (threading.Lock, _make_lock),
    (_RLOCK, _make_rlock),
    (threading.local, GreenLocal),
    # The real one waits in C.
    (queue.SimpleQueue, queue._PySimpleQueue),  # type: ignore[attr-defined]
    (_URANDOM, _urandom),
    (_GETPID, _getpid),
    (_GETHOSTNAME, _gethostname),
    (_UTCNOW, _utcnow),
    (_COLLECT, _collect),
    (_FREEZE, _freeze),
    (_UNFREEZE, _unfreeze),
)

#: Original -> substitute, in the packages that ask for the present date only: the class is used for much else.
IN_SERVICE: tuple[tuple[Any, Any], ...] = ((_DATETIME, WorldDatetime),)
