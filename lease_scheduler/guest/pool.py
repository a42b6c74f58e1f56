"""Handlers that run beside the rounds: one at a time for each node."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass

from lease_scheduler.guest.errors import GuestError


@dataclass(frozen=True, slots=True)
class Done:
    """A handler that has ended.

    :ivar step: what was done, as given to ``start``
    :ivar address: what it returned
    :ivar error: why it failed, or None
    """

    node: str
    step: str
    address: str | None = None
    error: str | None = None


class HandlerPool:
    """Runs handlers in threads.

    :param threads: how many at the same time
    """

    def __init__(self, threads: int) -> None:
        self._executor = ThreadPoolExecutor(threads, thread_name_prefix="handler")
        self._running: dict[str, tuple[str, Future[str | None]]] = {}

    def start(self, node: str, step: str, call: Callable[[], str | None]) -> bool:
        """Start a handler, unless one of the node runs or has not been collected; return whether it was started."""
        if node in self._running:
            return False
        self._running[node] = (step, self._executor.submit(call))
        return True

    def collect(self) -> list[Done]:
        """Return the handlers that have ended since the last call, each once."""
        ended = [node for node, (_, future) in self._running.items() if future.done()]
        return [self._result(node, *self._running.pop(node)) for node in ended]

    @staticmethod
    def _result(node: str, step: str, future: Future[str | None]) -> Done:
        error = future.exception()
        if error is None:
            return Done(node, step, address=future.result())
        if not isinstance(error, GuestError):
            raise error
        return Done(node, step, error=str(error))

    def stop(self) -> None:
        """Wait for the handlers that run; those that have not begun do not."""
        self._executor.shutdown(cancel_futures=True)
