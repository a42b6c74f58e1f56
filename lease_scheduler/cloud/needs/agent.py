"""The source ``agent``: CPU times that the agents on compute hosts read from the hypervisor."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping

from lease_scheduler.cloud.needs.base import NeedsOptions


class AgentNeeds:
    """Source that compares the CPU times of servers with those of the last call.

    A server is unknown when it is seen for the first time, and when its counter has fallen. Then it was started again,
    or has moved to another host.

    :param steady: returns seconds from a clock that cannot be set
    """

    is_prompt = True

    def __init__(self, options: NeedsOptions, steady: Callable[[], float] = time.monotonic) -> None:
        self._shares = options.shares
        self._steady = steady
        self._last: Mapping[str, float] = {}
        self._at = 0.0

    def cpus(self, servers: Collection[str]) -> Mapping[str, float]:
        """See ``NeedsSource.cpus``."""
        before, since = self._last, self._at
        self._last, self._at = self._shares.cpu_times(), self._steady()
        elapsed = self._at - since
        if elapsed <= 0:
            return {}
        return {
            server_id: (used - before[server_id]) / elapsed
            for server_id, used in self._last.items()
            if server_id in servers and server_id in before and used >= before[server_id]
        }
