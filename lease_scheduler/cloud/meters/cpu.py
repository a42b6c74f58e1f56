"""The meter ``cloud``: CPU times of servers that the cloud itself reports.

Nova has the CPU times in the diagnostics of servers, which are for administrators. Nova passes each request for them on
to the host of the server, so the meter sends one after the other, with pauses.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Collection, Mapping, Sequence

from lease_scheduler.cloud.facts import LeaseOnHosts, LeaseServer, Power
from lease_scheduler.cloud.meters.base import Activity, MeterOptions, activity_of

LOG = logging.getLogger(__name__)

#: Number of consecutive leases without an answer after which the meter gives up until the next call.
_FAILURES = 3


class CpuMeter:
    """Meter that compares the CPU times of servers with those of the last call.

    A server is used if it used more than ``cpu_threshold`` percent of its vCPUs since then, as even an idle operating
    system uses a little. A server is unknown if it is measured for the first time, or was started again since the last
    call.

    :param steady: returns seconds from a clock that cannot be set
    :param sleep: waits for some seconds
    """

    def __init__(
        self,
        options: MeterOptions,
        steady: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._cloud = options.cloud
        self._share: float = options.values["cpu_threshold"] / 100
        self._pause: float = options.values["request_interval"]
        self._steady = steady
        self._sleep = sleep
        #: Server -> its CPU seconds at the last measurement, and the seconds of that measurement.
        self._samples: dict[str, tuple[float, float]] = {}

    def measure(
        self, leases: Collection[LeaseOnHosts], is_stopping: Callable[[], bool] = lambda: False
    ) -> Mapping[str, Activity]:
        """See ``Meter.measure``."""
        servers = self._cloud.servers_of(leases)
        present = {each.server_id for of_lease in servers.values() for each in of_lease}
        self._samples = {key: sample for key, sample in self._samples.items() if key in present}
        found: dict[str, Activity] = {}
        failures = 0
        for lease in leases:
            if is_stopping():
                break
            try:
                found[lease.lease_id] = self._of_lease(servers.get(lease.lease_id, ()))
                failures = 0
            except Exception as error:
                LOG.warning("lease %s: it is not known whether its servers use anything: %s", lease.lease_id, error)
                failures += 1
                if failures == _FAILURES:
                    LOG.warning("the cloud does not tell what servers use; it is asked again later")
                    break
        return found

    def _of_lease(self, servers: Sequence[LeaseServer]) -> Activity:
        """Return the activity of a lease. Once a server is used, the others are not measured."""
        found = set()
        for server in servers:
            activity = self._of_server(server)
            if activity is Activity.USED:
                return activity
            found.add(activity)
        return activity_of(found)

    def _of_server(self, server: LeaseServer) -> Activity:
        if server.power is Power.OFF:
            self._samples.pop(server.server_id, None)
            return Activity.IDLE
        if server.power is Power.UNKNOWN:
            self._samples.pop(server.server_id, None)
            return Activity.UNKNOWN
        self._sleep(self._pause)
        used, now = self._cloud.cpu_time(server.server_id), self._steady()
        before = self._samples.pop(server.server_id, None)
        if used is None:
            return Activity.UNKNOWN
        self._samples[server.server_id] = (used, now)
        if before is None or used < before[0] or now <= before[1]:
            return Activity.UNKNOWN
        share = (used - before[0]) / ((now - before[1]) * max(1, server.vcpus))
        return Activity.USED if share > self._share else Activity.IDLE
