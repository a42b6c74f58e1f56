"""Recorded private clouds whose hosts sleep: for how long they are awake if running leases move together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from lease_scheduler.engine.options import EngineOptions
from lease_scheduler.engine.power_options import PowerOptions
from lease_scheduler.engine.relocation_options import RelocationOptions
from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.model.host import Site
from lease_scheduler.model.kinds import LeaseKind, PreemptionMode
from lease_scheduler.model.lease import LeaseRequest
from lease_scheduler.model.nodes import NodeSet
from lease_scheduler.model.resources import VCPU, Resources
from lease_scheduler.model.states import LeaseState
from lease_scheduler.papers.data_folder import data_folder
from lease_scheduler.papers.prediction.requests import TRACES
from lease_scheduler.simulation.formats.eucalyptus import Instance, read_eucalyptus
from lease_scheduler.simulation.run import Run
from lease_scheduler.simulation.settings import RunSettings
from lease_scheduler.simulation.site_run import SiteRun
from lease_scheduler.simulation.workload import Workload, WorkloadLease

#: Keys of ``TRACES``.
CLOUDS = ("DS2", "DS3")
#: Host selection and relocation policies, the first ones being what the others are compared with.
POLICIES = (
    ("greedy", "none"),
    ("packing", "none"),
    ("vector-fit", "none"),
    ("greedy", "energy-aware"),
    ("vector-fit", "energy-aware"),
)

_HOUR = 3_600
#: Seconds from a request to its start, in which a sleeping host can wake.
_NOTICE = 600


@dataclass(frozen=True)
class ConsolidationCase:
    """A run in which every instance is a reservation that may move while it runs.

    :ivar cloud: one of ``CLOUDS``
    :ivar selection: the host selection policy
    :ivar relocation: the relocation policy, which decides each hour
    """

    cloud: str
    selection: str
    relocation: str
    cost_s: ClassVar[float] = 5.0

    @property
    def name(self) -> str:
        """See ``campaigns.case.Case``."""
        return f"consolidation {self.cloud} {self.selection} relocation={self.relocation}"

    def run(self) -> dict[str, Any]:
        """See ``campaigns.case.Case``."""
        folder = data_folder()
        if folder is None:
            raise InvalidValueError("LEASE_SCHEDULER_DATA", f"must name the folder of workload logs for {self.cloud}")
        trace = TRACES[self.cloud]
        site = Site.homogeneous(trace.nodes, Resources({VCPU: 100 * trace.cores}))
        leases = tuple(_reservation(*each) for each in enumerate(read_eucalyptus(folder / trace.file)))
        settings = RunSettings(
            policies={"host_selection": self.selection, "relocation": self.relocation, "power": "sesp"},
            policy_options={"energy_aware_threshold": "100"},
            engine=EngineOptions(
                explain_refusals=False,
                power=PowerOptions(confirms=False),
                relocation=RelocationOptions(interval=_HOUR, budget=10, rest=_HOUR),
            ),
        )
        awake = AwakeHours(trace.nodes)
        result = Run(Workload(self.cloud, leases, site), settings).execute([awake])
        return {
            "awake_h": awake.hours,
            "accepted": sum(lease.state is LeaseState.DONE for lease in result.leases) / len(leases),
            "late": sum(
                lease.started != lease.request.start
                for lease in result.leases
                if lease.state is not LeaseState.REJECTED
            ),
            "moved": result.counters.get("relocated_nodes", 0),
            "wall_s": result.wall_s,
        }


class AwakeHours:
    """A watcher that adds up for how many hours hosts do not sleep.

    :param hosts: number of hosts
    """

    def __init__(self, hosts: int) -> None:
        self._hosts = hosts
        self._awake = hosts
        self._since = 0
        self._seconds = 0

    @property
    def hours(self) -> float:
        """Hours of all hosts together."""
        return self._seconds / _HOUR

    def __call__(self, site: SiteRun) -> None:
        """See ``simulation.site_run.Watcher``."""
        now = site.clock.now()
        self._seconds += self._awake * (now - self._since)
        self._since = now
        self._awake = self._hosts - site.engine.hosts.sleeping


def _reservation(number: int, instance: Instance) -> WorkloadLease:
    start = max(instance.start, _NOTICE)
    return WorkloadLease(
        LeaseRequest(
            lease_id=str(number + 1),
            kind=LeaseKind.RESERVATION,
            nodes=(NodeSet(1, Resources({VCPU: 100 * instance.cores})),),
            submitted=start - _NOTICE,
            start=start,
            duration=max(1, instance.end - instance.start),
            preemptible=True,
            preemption_mode=PreemptionMode.MIGRATE,
        )
    )
