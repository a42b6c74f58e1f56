"""Messages between gateways and sites, which take time to arrive (Amini Salehi 2012, section 7.3.3; contention F74)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from heapq import heappop, heappush

from lease_scheduler.simulation.clock import SimulatedClock

#: What is done when a message arrives.
Action = Callable[[], None]


@dataclass(order=True)
class Entry:
    """Something that is to be done.

    :ivar instant: when
    :ivar is_request: whether a user makes a request
    :ivar number: in which order it was added
    :ivar action: what; None if it was cancelled
    """

    instant: int
    is_request: bool
    number: int
    action: Action | None = field(compare=False)

    def cancel(self) -> None:
        """Do nothing at the instant."""
        self.action = None


class Post:
    """Actions at instants, as the party of a ``world.World``.

    At one instant, messages arrive in the order in which they were sent. Requests of users follow when no message is
    left, so that each of them finds what the one before has led to.

    :param clock: the clock of the world
    """

    def __init__(self, clock: SimulatedClock) -> None:
        self._clock = clock
        self._waiting: list[Entry] = []
        self._number = 0

    def now(self) -> int:
        """Return the present instant."""
        return self._clock.now()

    def after(self, delay: int, action: Action) -> None:
        """Do something when a message has taken so many seconds."""
        self._add(self.now() + delay, action)

    def at(self, instant: int, action: Action) -> Entry:
        """Do something at an instant, or now if it has passed, unless it is cancelled."""
        return self._add(max(instant, self.now()), action)

    def arrive(self, instant: int, action: Action) -> None:
        """Let a user make a request at an instant."""
        self._add(instant, action, is_request=True)

    def _add(self, instant: int, action: Action, *, is_request: bool = False) -> Entry:
        self._number += 1
        entry = Entry(instant, is_request, self._number, action)
        heappush(self._waiting, entry)
        return entry

    def next_instant(self) -> int | None:
        """See ``world.Party``."""
        while self._waiting and self._waiting[0].action is None:
            heappop(self._waiting)
        return self._waiting[0].instant if self._waiting else None

    def act(self) -> None:
        """See ``world.Party``."""
        entry = heappop(self._waiting)
        if entry.action is not None:
            entry.action()
