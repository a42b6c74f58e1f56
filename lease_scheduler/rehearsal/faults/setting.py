"""What faults need of a world."""

from __future__ import annotations

from dataclasses import dataclass

from lease_scheduler.rehearsal.disturbances import Disturbances
from lease_scheduler.rehearsal.faults.weather import Weather
from lease_scheduler.rehearsal.site import CloudSite
from lease_scheduler.rehearsal.story import Story
from lease_scheduler.rehearsal.world import World


@dataclass(frozen=True)
class Setting:
    """A world, and when it is calm.

    :ivar site: the model of the cloud; None if the engine simulates its cloud itself
    :ivar calm: true seconds since the world began after which nothing new goes wrong
    """

    seed: int
    world: World
    story: Story
    site: CloudSite | None
    calm: float
    disturbances: Disturbances

    def weather(self, purpose: str, spell: float = 120.0) -> Weather:
        """Return the weather of a fault.

        :param spell: mean of the seconds of a spell
        """
        return Weather(self.seed, purpose, self.world.scheduler, self.calm, self.disturbances, spell)
