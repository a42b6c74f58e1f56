"""The time that nova-scheduler takes for a request, with and without our filter and weigher.

Run it inside Nova's environment: ``python -m benchmarks.in_nova.schedule HOSTS PAIRS FILE``.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable
from typing import Any
from uuid import uuid4

from nova.scheduler.client import report

from benchmarks.in_nova.cloud import SORTS, Cloud, run

_WARM_UP = 3


class Schedule:
    """Schedules servers one after the other, without ever booting them.

    :param pairs: number of requests of each kind measured with our plug-ins, and the same number without
    """

    def __init__(self, cloud: Cloud, pairs: int) -> None:
        self._cloud = cloud
        self._pairs = pairs

    def measure(self) -> dict[str, Any]:
        """Return the measured times in milliseconds."""
        samples = []
        specs = {sort: self._spec(sort) for sort in SORTS}
        # Exempt existing objects from garbage collection, as in a service that has run for a while.
        gc.collect()
        gc.freeze()
        for number in range(-_WARM_UP, self._pairs):
            for sort, spec in specs.items():
                # Alternate which of the two is measured first.
                for plugins in (False, True) if number % 2 else (True, False):
                    found = self._place(spec, plugins)
                    if number >= 0:
                        samples.append({"sort": sort, "plugins": plugins, **found})
        return {"samples": samples, "alone": [self._alone(sort, spec) for sort, spec in specs.items()]}

    def _spec(self, sort: str) -> Any:
        """Return the request in the form in which nova-scheduler receives it when a client boots such a server."""
        seen = []

        def look(original: Any, *arguments: Any, **more: Any) -> Any:
            seen.append(more["spec_obj"].obj_clone())
            return original(*arguments, **more)

        cloud = self._cloud
        with cloud.intercepted(cloud.manager, "select_destinations", look):
            cloud.delete(cloud.boot(sort))
        return seen[0]

    def _place(self, spec: Any, plugins: bool) -> dict[str, float]:
        """Find a host and claim it, then release the claim."""
        cloud = self._cloud
        cloud.use_plugins(ours=plugins)
        asked, server_id = spec.obj_clone(), str(uuid4())
        asked.instance_uuid = server_id
        placement = cloud.placement_seconds
        cpu, wall = time.process_time(), time.perf_counter()
        found = cloud.manager.select_destinations(
            cloud.context, spec_obj=asked, instance_uuids=[server_id], return_objects=True, return_alternates=True
        )
        wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
        placement = cloud.placement_seconds - placement
        assert found[0][0].service_host in cloud.hosts
        report.report_client_singleton().delete_allocation_for_instance(cloud.context, server_id, force=True)
        cloud.notifier.reset()
        cloud.stdlog.delete_stored_logs()
        return {"wall_ms": 1_000 * wall, "cpu_ms": 1_000 * cpu, "placement_ms": 1_000 * placement}

    def _alone(self, sort: str, spec: Any) -> dict[str, Any]:
        """Measure our plug-ins alone: within Nova's own handlers, but without Nova's plug-ins."""
        cloud = self._cloud
        seen: dict[str, list[Any]] = {}

        def look(name: str) -> Callable[..., Any]:
            def replacement(original: Any, hosts: Any, *arguments: Any) -> Any:
                seen[name] = list(hosts)
                return original(seen[name], *arguments)

            return replacement

        host_manager = cloud.manager.host_manager
        with (
            cloud.intercepted(host_manager, "get_filtered_hosts", look("filtered")),
            cloud.intercepted(host_manager, "get_weighed_hosts", look("weighed")),
        ):
            self._place(spec, plugins=True)
        filters, weighers = cloud.plugins
        asked = spec.obj_clone()
        asked.instance_uuid = str(uuid4())
        filtering = [
            _cpu_ms(lambda: host_manager.filter_handler.get_filtered_objects(filters, seen["filtered"], asked))
            for _ in range(self._pairs)
        ]
        weighing = [
            _cpu_ms(lambda: host_manager.weight_handler.get_weighed_objects(weighers, seen["weighed"], asked))
            for _ in range(self._pairs)
        ]
        return {
            "sort": sort,
            "filtered": len(seen["filtered"]),
            "weighed": len(seen["weighed"]),
            "filter_ms": filtering,
            "weigher_ms": weighing,
        }


def _cpu_ms(call: Callable[[], object]) -> float:
    begun = time.process_time()
    call()
    return 1_000 * (time.process_time() - begun)


if __name__ == "__main__":
    run(Schedule)
