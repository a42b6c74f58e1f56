"""Pools of threads in a world: idle threads are not woken, and the threads have an order.

The threads of futurist, which answer the requests to an engine, look for work every second, only to learn whether they
should end. In a world this takes more time than most requests. ``concurrent.futures`` keeps its threads in a set, and
waits for their ends in its order, which follows from addresses in memory.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from functools import wraps
from threading import Thread
from typing import Any

from futurist._thread import ThreadWorker


class _NoWork:
    """Item of a queue that makes its reader look whether it should end."""

    def run(self) -> None:
        """Do nothing."""


def _stop(worker: ThreadWorker) -> None:
    worker.should_stop = True
    worker.work_queue.put(_NoWork())  # type: ignore[arg-type]


class _Ordered(dict[Thread, None]):
    """Set of threads in the order in which they were started."""

    def add(self, thread: Thread) -> None:
        """Add a thread."""
        self[thread] = None


_INIT = ThreadPoolExecutor.__init__


@wraps(_INIT)
def _init(pool: ThreadPoolExecutor, *arguments: Any, **named: Any) -> None:
    _INIT(pool, *arguments, **named)
    pool._threads = _Ordered()  # type: ignore[assignment]


#: Class, attribute, and what replaces it in a world.
POOLS: tuple[tuple[Any, str, Any], ...] = (
    (ThreadWorker, "MAX_IDLE_FOR", None),
    (ThreadWorker, "stop", _stop),
    (ThreadPoolExecutor, "__init__", _init),
)
