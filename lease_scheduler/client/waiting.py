"""Waiting until a lease is active, as ``openstack server create --wait`` does for a server."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TextIO

from osc_lib import exceptions

from lease_scheduler.client import output
from lease_scheduler.model.documents import Document
from lease_scheduler.model.durations import exactly
from lease_scheduler.model.states import FINAL_STATES, PLANNED_STATES, LeaseState

#: A done lease was active between two looks.
_REACHED = frozenset({LeaseState.ACTIVE.value, LeaseState.DONE.value})
_FAILED = frozenset(state.value for state in FINAL_STATES) - _REACHED
_PLANNED = frozenset(state.value for state in PLANNED_STATES)
#: Seconds between two looks at the lease: a tenth of the time waited so far, within these bounds.
_SHORTEST, _LONGEST = 1.0, 15.0


class Waiting:
    """A wait for one lease.

    :param terminal: shows each new state in a line, if it is a terminal
    :param limit: seconds after which the wait ends; None means that it does not
    :param clock: seconds since any instant
    :param sleep: waits for some seconds
    """

    def __init__(
        self,
        terminal: TextIO,
        limit: int | None,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._terminal = terminal
        self._limit = limit
        self._clock = clock
        self._sleep = sleep
        self._shown = ""

    def until_active(self, lease: Document, look: Callable[[], Document]) -> Document:
        """Return the lease as soon as it is active, or was.

        :param lease: the lease as it is now
        :param look: returns the lease as it is when it is called
        :raises osc_lib.exceptions.CommandError: the lease ended without having been active, or the limit has passed
        """
        begun = self._clock()
        while True:
            self._show(lease)
            if lease["state"] in _REACHED:
                return lease
            if lease["state"] in _FAILED:
                raise exceptions.CommandError(_failure(lease))
            waited = self._clock() - begun
            pause = min(max(waited / 10, _SHORTEST), _LONGEST)
            if self._limit is not None:
                if waited >= self._limit:
                    raise exceptions.CommandError(
                        f"{_named(lease)} is still {lease['state']} after {exactly(self._limit)}; it is kept."
                    )
                pause = min(pause, self._limit - waited)
            self._sleep(pause)
            lease = look()

    def _show(self, lease: Document) -> None:
        words = f"{lease['name']}: {lease['state']}"
        if lease["state"] in _PLANNED and lease.get("start_date"):
            words += f", starts at {output.date(lease['start_date'])} UTC"
        if words != self._shown and self._terminal.isatty():
            self._terminal.write(f"{words}\n")
            self._terminal.flush()
        self._shown = words


def _named(lease: Document) -> str:
    return f"Lease {lease['name']} ({lease['id']})"


def _failure(lease: Document) -> str:
    reason = " ".join(str(lease.get("reason") or "").split()).rstrip(".")
    return f"{_named(lease)} is {lease['state']} and was not active{f': {reason}' if reason else '.'}"
