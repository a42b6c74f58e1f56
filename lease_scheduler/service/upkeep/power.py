"""Hosts sleep and wake as the plan wishes."""

from __future__ import annotations

from lease_scheduler.cloud.power.keeper import PowerKeeper, PowerTimes
from lease_scheduler.service.rounds import OwnThreads, UpkeepWorker


class PowerUpkeep(UpkeepWorker):
    """Has the power of hosts follow the wishes of the engine.

    :param keeper: does the work. Unless it is stepped, it deals with several hosts at the same time
    :param times: how often it looks
    """

    def __init__(self, keeper: PowerKeeper, times: PowerTimes) -> None:
        super().__init__("power", times.interval)
        self._keeper = keeper
        self._interval = times.interval

    def own_threads(self) -> OwnThreads:
        """See ``UpkeepWorker``."""
        return self._keeper

    def wake(self) -> None:
        """Look at once, as wishes may have changed."""
        self._keeper.wake()
        super().wake()

    def round(self, now: float) -> float:
        """Deal with the hosts whose time has come, one after the other."""
        self._keeper.look()
        return self._interval
