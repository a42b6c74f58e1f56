"""What the model takes from its caller: a clock, calls at later instants, and random numbers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from random import Random
from uuid import UUID


@dataclass(frozen=True)
class Timing:
    """The time of the model.

    :ivar time: returns the seconds since the epoch
    :ivar call_later: calls a function after some seconds, in the order of the instants
    :ivar random: the only source of random numbers of the model
    """

    time: Callable[[], float]
    call_later: Callable[[float, Callable[[], None]], object]
    random: Random

    def stamp(self) -> str:
        """Return the time as Nova and Glance write it: whole seconds of UTC."""
        return self._moment().strftime("%Y-%m-%dT%H:%M:%SZ")

    def precise_stamp(self) -> str:
        """Return the time with microseconds, as Nova writes it in events and services."""
        return self._moment().strftime("%Y-%m-%dT%H:%M:%S.%f")

    def new_id(self) -> str:
        """Return a random UUID."""
        return str(UUID(int=self.random.getrandbits(128), version=4))

    def new_short_id(self) -> str:
        """Return a random id in the form that Keystone uses, without hyphens."""
        return self.new_id().replace("-", "")

    def _moment(self) -> datetime:
        return datetime.fromtimestamp(self.time(), UTC)
