"""Runs of VMs of Azure with several host selection policies: how many hosts stay free of leases."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.model.host import Site
from lease_scheduler.model.resources import MEMORY_MB, VCPU, Resources
from lease_scheduler.model.states import LeaseState
from lease_scheduler.papers.data_folder import data_folder
from lease_scheduler.papers.replications import FIRST_SEED, block_name
from lease_scheduler.simulation.formats.azure import AzureOptions, read_azure
from lease_scheduler.simulation.run import Run
from lease_scheduler.simulation.settings import RunSettings
from lease_scheduler.simulation.site_run import SiteRun

#: The development split of the trace; other splits are not looked at.
TRACE = "azure-v1/v1.dev.txt.gz"

SELECTIONS = ("greedy", "packing", "vector-fit")

_DAY = 86_400


@dataclass(frozen=True)
class Shape:
    """A site. The trace does not say what hosts Azure has.

    :ivar hosts: number of hosts
    :ivar vcpus: VCPUs of each host
    :ivar gib: GiB of memory of each host
    :ivar sample: share of the batches that it gets
    """

    hosts: int
    vcpus: int
    gib: int
    sample: float


#: Name -> site. The VMs ask for 2 GiB for each VCPU on average: 1.75 most of them, 7 the large ones.
SHAPES: Mapping[str, Shape] = MappingProxyType(
    {
        "60 hosts, 4 GiB per VCPU": Shape(60, 64, 256, 0.05),
        "60 hosts, 2 GiB per VCPU": Shape(60, 64, 128, 0.05),
        "800 hosts, 4 GiB per VCPU": Shape(800, 64, 256, 1.0),
        "1,500 hosts, 3 GiB per VCPU": Shape(1_500, 32, 96, 1.0),
    }
)


@dataclass(frozen=True)
class AzureHostsCase:
    """A run of one host selection policy on one site.

    :ivar shape: a key of ``SHAPES``
    :ivar selection: the host selection policy
    :ivar seed: seed of the choice of batches, and of the lifetimes within their bins
    """

    shape: str
    selection: str
    seed: int = FIRST_SEED

    @property
    def name(self) -> str:
        """See ``campaigns.case.Case``."""
        return f"Azure on {self.shape}: {self.selection}{block_name(self.seed)}"

    @property
    def cost_s(self) -> float:
        """See ``campaigns.case.CostedCase``."""
        return 90 * SHAPES[self.shape].sample

    def run(self) -> dict[str, Any]:
        """See ``campaigns.case.Case``."""
        folder = data_folder()
        if folder is None:
            raise InvalidValueError("LEASE_SCHEDULER_DATA", f"must name the folder of workload logs for {TRACE}")
        shape = SHAPES[self.shape]
        workload = read_azure(folder / TRACE, AzureOptions(sample=shape.sample, seed=self.seed))
        site = Site.homogeneous(shape.hosts, Resources({VCPU: 100 * shape.vcpus, MEMORY_MB: 1024 * shape.gib}))
        meter = FreeHosts(_DAY, workload.last_submission)
        result = Run(workload, RunSettings(policies={"host_selection": self.selection}), site).execute([meter])
        return {
            "free_hosts": meter.mean,
            "accepted": sum(lease.state is LeaseState.DONE for lease in result.leases) / len(result.leases),
            "wall_s": result.wall_s,
        }


class FreeHosts:
    """A watcher that measures the mean number of hosts without any lease, over a period.

    :param start: begin of the period, after which the site is no longer filling up
    :param end: end of the period
    """

    def __init__(self, start: int, end: int) -> None:
        self._start = start
        self._end = end
        self._since = start
        self._free = 0
        self._host_seconds = 0

    @property
    def mean(self) -> float:
        """Mean number of hosts without leases; 0 if nothing was measured."""
        return self._host_seconds / max(1, self._since - self._start)

    def __call__(self, site: SiteRun) -> None:
        """See ``simulation.site_run.Watcher``."""
        now = min(max(site.clock.now(), self._start), self._end)
        self._host_seconds += self._free * (now - self._since)
        self._since = now
        availability = site.planner.plan.availability
        instant = site.clock.now()
        self._free = int(availability.is_unused(instant, instant + 1).sum())
