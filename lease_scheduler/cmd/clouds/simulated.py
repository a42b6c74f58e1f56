"""The simulated cloud that group ``simulated_cloud`` configures."""

from __future__ import annotations

from pathlib import Path

from lease_scheduler.cloud.configured import ConfiguredCloud
from lease_scheduler.cloud.simulated import SimulatedCloud
from lease_scheduler.cloud.simulated_hypervisors import alike_hypervisors
from lease_scheduler.cmd.options.behaviour import service_behaviour
from lease_scheduler.engine.interfaces import WaitingClock


class ConfiguredSimulatedCloud(ConfiguredCloud):
    """The simulated cloud that group ``simulated_cloud`` configures."""

    @property
    def simulated(self) -> str:
        """See ``ConfiguredCloud.simulated``."""
        return (
            f"[service] cloud = simulated: the {self.conf.simulated_cloud.hosts} hosts of the cloud are invented, and "
            "leases get no servers; set cloud = nova to carry leases out"
        )

    def driver(self, clock: WaitingClock) -> SimulatedCloud:
        """See ``ConfiguredCloud.driver``."""
        group = self.conf.simulated_cloud
        Path(group.path).parent.mkdir(parents=True, exist_ok=True)
        cloud = SimulatedCloud(group.path, clock, service_behaviour(self.conf))
        cloud.add_hypervisors(
            alike_hypervisors(group.hosts, group.host_prefix, group.vcpus, group.memory_mb, group.disk_gb)
        )
        return cloud
