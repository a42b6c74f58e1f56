"""Registration: whether a simulation of a site places and runs leases as the site itself did.

Pucher 2016, section 3.3.3 (prediction A2 to A4). The requests that the site got are replayed several times on the
engine with its own policies. The time that each operation takes is drawn from what the site measured, never a mean. If
the utilisation of any host differs by more than 0.02, either the simulation lacks something that matters, or one of the
two has an error.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean, pstdev

from lease_scheduler.engine.interfaces import OperationKind
from lease_scheduler.engine.run_record import RunRecord
from lease_scheduler.model.documents import Document
from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.model.host import Site
from lease_scheduler.model.lease import Lease, LeaseRequest
from lease_scheduler.model.resources import FLOATING_IP, HOST_SHARE, WHOLE_HOST
from lease_scheduler.model.states import LeaseState
from lease_scheduler.simulation.clock import SimulatedClock
from lease_scheduler.simulation.settings import RunSettings
from lease_scheduler.simulation.site_run import SiteRun
from lease_scheduler.simulation.workload import Workload, WorkloadLease
from lease_scheduler.simulation.world import World

#: Largest difference of the utilisation of a host at which simulation and site agree.
BOUND = 0.02

#: The phase of a lease in which an operation of each kind holds hosts.
_PHASES = {
    OperationKind.SUSPEND: "suspend",
    OperationKind.RESUME: "resume",
    OperationKind.STOP: "shutdown",
}


@dataclass(frozen=True)
class Held:
    """Hosts that a lease held in ``[start, end)``; ``hosts`` has the number of the host of each node."""

    lease_id: str
    start: int
    end: int
    hosts: Sequence[int]


@dataclass(frozen=True)
class HostMatch:
    """A host in the record and in the simulations.

    :ivar recorded: its utilisation in the record, 0 to 1
    :ivar simulated: its utilisation in each simulation
    """

    host: str
    recorded: float
    simulated: tuple[float, ...]

    @property
    def mean(self) -> float:
        """The mean of the simulations."""
        return fmean(self.simulated)

    @property
    def spread(self) -> float:
        """The standard deviation of the simulations."""
        return pstdev(self.simulated)

    @property
    def difference(self) -> float:
        """By how much the mean of the simulations is too high."""
        return self.mean - self.recorded


@dataclass(frozen=True)
class Registration:
    """How well simulations agree with a record.

    :ivar resource_class: the class whose use is compared: the most used one
    :ivar hosts: all hosts
    :ivar leases: number of leases that were replayed
    :ivar withdrawn: number of leases that were not replayed, because they ended before they began
    :ivar measured: number of measured times, by kind of operation
    """

    resource_class: str
    hosts: tuple[HostMatch, ...]
    leases: int
    withdrawn: int
    measured: Mapping[str, int]

    @property
    def largest(self) -> float:
        """The largest difference of a host, 0 to 1."""
        return max(abs(each.difference) for each in self.hosts)

    @property
    def agrees(self) -> bool:
        """Whether no host differs by more than ``BOUND``."""
        return self.largest <= BOUND

    def document(self) -> Document:
        """Return everything as JSON."""
        return {
            "resource_class": self.resource_class,
            "leases": self.leases,
            "withdrawn": self.withdrawn,
            "measured": dict(self.measured),
            "hosts": [
                {
                    "host": each.host,
                    "recorded": round(each.recorded, 4),
                    "simulated": round(each.mean, 4),
                    "sd": round(each.spread, 4),
                    "difference": round(each.difference, 4),
                }
                for each in self.hosts
            ],
            "largest": round(self.largest, 4),
            "bound": BOUND,
            "agrees": self.agrees,
        }


def register(record: RunRecord, settings: RunSettings, runs: int) -> Registration:
    """Replay a record, and compare the utilisation of its hosts with that in the simulations.

    :param settings: the policies and options of the site; the times of operations are taken from the record
    :param runs: number of simulations, each with other draws
    :raises InvalidValueError: the record cannot be replayed; the error says why
    """
    site = record.site
    played = [each for each in record.leases if not _is_withdrawn(each)]
    if not played:
        raise InvalidValueError("--start", "no lease was submitted since then that began to run")
    requests = {each.lease_id: each.request for each in played}
    before = {each.lease_id for each in record.uses} - {each.lease_id for each in record.leases}
    if before:
        raise InvalidValueError(
            "--start", f"leases that were submitted before held hosts then ({len(before)}); choose when none did"
        )
    real = [Held(each.lease_id, each.start, each.end, each.hosts) for each in record.uses if each.lease_id in requests]
    span = (record.start, record.end)
    usage = {name: utilisation(real, requests, site, name, *span) for name in _classes(site)}
    chosen = max(sorted(usage), key=lambda name: sum(usage[name].values()))
    measured = {
        OperationKind.START: record.boots,
        **{
            kind: tuple(each.end - each.start for each in record.uses if each.phase == phase)
            for kind, phase in _PHASES.items()
        },
    }
    workload = Workload("record", tuple(_workload_lease(each) for each in played), site)
    simulated = []
    for run in range(runs):
        cloud = replace(settings.cloud, measured=measured, seed=settings.cloud.seed + run)
        held = _simulate(workload, replace(settings, cloud=cloud), record.start)
        simulated.append(utilisation(held, requests, site, chosen, *span))
    return Registration(
        chosen,
        tuple(HostMatch(host, share, tuple(each[host] for each in simulated)) for host, share in usage[chosen].items()),
        len(played),
        len(record.leases) - len(played),
        {kind.value: len(seconds) for kind, seconds in measured.items()},
    )


def utilisation(
    held: Iterable[Held], requests: Mapping[str, LeaseRequest], site: Site, resource_class: str, start: int, end: int
) -> dict[str, float]:
    """Return the share of each host's capacity that was used in ``[start, end)``, by name.

    Hosts that have nothing of the class are left out.
    """
    used: defaultdict[int, float] = defaultdict(float)
    for each in held:
        seconds = min(each.end, end) - max(each.start, start)
        if seconds <= 0:
            continue
        nodes = (node_set for node_set in requests[each.lease_id].nodes for _ in range(node_set.count))
        # A lease that was changed may have had more nodes before.
        for node_set, host in zip(nodes, each.hosts, strict=False):
            whole = node_set.resources.get(HOST_SHARE) == WHOLE_HOST
            capacity = site.hosts[host].capacity.get(resource_class, 0)
            used[host] += seconds * (capacity if whole else node_set.resources.get(resource_class, 0))
    return {
        host.name: used[number] / (host.capacity[resource_class] * (end - start))
        for number, host in enumerate(site.hosts)
        if host.capacity.get(resource_class, 0)
    }


def _classes(site: Site) -> set[str]:
    found = {name for host in site.hosts for name, amount in host.capacity.items() if amount}
    return found - {HOST_SHARE, FLOATING_IP}


def _is_withdrawn(lease: Lease) -> bool:
    """Return whether a lease ended before it ran, although the scheduler did not reject it."""
    return lease.is_final and lease.started is None and lease.state is not LeaseState.REJECTED


def _workload_lease(lease: Lease) -> WorkloadLease:
    """Return a request with its real duration, if that is shorter than the requested one."""
    ended_early = lease.is_final and lease.started is not None and 0 < lease.accumulated < lease.request.duration
    return WorkloadLease(lease.request, lease.accumulated if ended_early else None, lease.grant)


def _simulate(workload: Workload, settings: RunSettings, start: int) -> list[Held]:
    run = SiteRun(workload, settings, SimulatedClock(start))
    result = World({workload.name: run}).execute().sites[workload.name]
    return [Held(each.lease_id, each.start, each.end, each.assignment) for each in result.occupations]
