"""The time from ``POST`` until a server is ACTIVE, with and without our filter and weigher.

Run it inside Nova's environment: ``python -m benchmarks.in_nova.boot HOSTS PAIRS FILE``.
"""

from __future__ import annotations

import gc
import time
from typing import Any

from benchmarks.in_nova.cloud import SORTS, Cloud, run

_WARM_UP = 2


class Boots:
    """Boots servers one after the other, and deletes each before the next.

    :param pairs: number of measurements of each kind with our plug-ins, and the same number without
    """

    def __init__(self, cloud: Cloud, pairs: int) -> None:
        self._cloud = cloud
        self._pairs = pairs

    def measure(self) -> dict[str, Any]:
        """Return the measured times in milliseconds."""
        samples = []
        gc.collect()
        gc.freeze()
        for number in range(-_WARM_UP, self._pairs):
            for sort in SORTS:
                # Alternate which of the two is measured first.
                for plugins in (False, True) if number % 2 else (True, False):
                    found = self._boot(sort, plugins)
                    if number >= 0:
                        samples.append({"sort": sort, "plugins": plugins, **found})
        return {"samples": samples}

    def _boot(self, sort: str, plugins: bool) -> dict[str, float]:
        cloud = self._cloud
        cloud.use_plugins(ours=plugins)
        cpu, wall = time.process_time(), time.perf_counter()
        server_id = cloud.boot(sort)
        wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
        cloud.delete(server_id)
        return {"wall_ms": 1_000 * wall, "cpu_ms": 1_000 * cpu}


if __name__ == "__main__":
    run(Boots)
