"""The worker that switches hosts off and on as the engine wants."""

from __future__ import annotations

from lease_scheduler.cloud.power.keeper import PowerKeeper, PowerTimes
from lease_scheduler.service.rounds import OwnThreads, UpkeepWorker


class PowerUpkeep(UpkeepWorker):
    """Worker that makes the power of hosts what the engine wants.

    :param keeper: does the work; unless it is stepped, for several hosts at the same time
    :param times: how often it checks
    """

    def __init__(self, keeper: PowerKeeper, times: PowerTimes) -> None:
        super().__init__("power", times.interval)
        self._keeper = keeper
        self._interval = times.interval

    def own_threads(self) -> OwnThreads:
        """See ``UpkeepWorker``."""
        return self._keeper

    def wake(self) -> None:
        """Check at once, as wishes may have changed."""
        self._keeper.wake()
        super().wake()

    def round(self, now: float) -> float:
        """Switch or check the hosts that are due, one after the other."""
        self._keeper.look()
        return self._interval
