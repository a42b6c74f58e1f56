"""When something goes wrong: spells of bad weather, by a stream of random numbers of its own."""

from __future__ import annotations

from random import Random

from lease_scheduler.rehearsal.disturbances import Disturbances
from lease_scheduler.rehearsal.runtime.scheduler import Scheduler
from lease_scheduler.rehearsal.swarm import pace, stream

#: Seconds between two spells at most, and of a spell: means of exponential distributions.
_BETWEEN, _SPELL = 3_000.0, 120.0


class Weather:
    """Spells of bad weather of one kind. Within a spell, what may go wrong does so with a probability.

    :param purpose: name of the stream of random numbers
    :param calm: true seconds since the world began after which the weather is good
    :param disturbances: record of the spells that somebody has met
    :param spell: mean of the seconds of a spell
    :ivar random: the stream, for what else is to be decided
    """

    def __init__(
        self,
        seed: int,
        purpose: str,
        scheduler: Scheduler,
        calm: float,
        disturbances: Disturbances,
        spell: float = _SPELL,
    ) -> None:
        self.random: Random = stream(seed, purpose)
        self._purpose, self._scheduler, self._calm, self._spell = purpose, scheduler, calm, spell
        self._disturbances = disturbances
        self._noted = -1.0
        self._between = _BETWEEN * pace(seed)
        self._start = self.random.expovariate(1.0 / self._between)
        self._end = self._start + self.random.expovariate(1.0 / spell)

    def is_bad(self) -> bool:
        """Return whether the weather is bad now."""
        now = self._scheduler.now
        if now >= self._calm:
            return False
        while now >= self._end:
            self._start = self._end + self.random.expovariate(1.0 / self._between)
            self._end = self._start + self.random.expovariate(1.0 / self._spell)
        if now < self._start:
            return False
        if self._noted != self._start:
            self._noted = self._start
            self._disturbances.add(self._purpose, min(self._end, self._calm))
        return True

    @property
    def spell(self) -> float:
        """The beginning of the present or next spell, in true seconds since the world began."""
        return self._start

    def strikes(self, probability: float) -> bool:
        """Return whether something goes wrong that does so with a probability while the weather is bad."""
        return self.is_bad() and self.random.random() < probability
