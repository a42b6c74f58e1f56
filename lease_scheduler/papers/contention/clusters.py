"""Runs of a gateway before three clusters (Amini Salehi 2012, section 4.4; contention E5-E9).

External requests arrive at the gateway, which divides them over the clusters. Local ones arrive at each cluster, and
preempt external leases there. Times are in seconds; durations of workloads are those at 1000 MIPS.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import ceil
from typing import Any, ClassVar

import numpy as np

from lease_scheduler.federation.members import Arrivals, PublishedLoad
from lease_scheduler.federation.negotiation.record import Rules
from lease_scheduler.federation.routing.loader import load_routing_policies
from lease_scheduler.federation.routing.question import Question
from lease_scheduler.federation.routing.state import RoutingState
from lease_scheduler.model.host import Site
from lease_scheduler.model.lease import LeaseRequest
from lease_scheduler.model.request_types import RequestType, request_type
from lease_scheduler.model.resources import MEMORY_MB, VCPU, Resources
from lease_scheduler.papers.contention.cluster_figures import figures
from lease_scheduler.papers.contention.one_site import run_settings, typed_request
from lease_scheduler.policy.base import PolicyOptions
from lease_scheduler.random_streams import random_stream
from lease_scheduler.simulation.clock import SimulatedClock
from lease_scheduler.simulation.generators.das2 import CLUSTERS, EXTERNAL, Das2, das2_jobs
from lease_scheduler.simulation.grid.gateway import Gateway, GatewaySettings
from lease_scheduler.simulation.grid.grid import Grid
from lease_scheduler.simulation.grid.peers import Link, SitePeer
from lease_scheduler.simulation.grid.post import Post
from lease_scheduler.simulation.member import SimulatedMember
from lease_scheduler.simulation.site_run import SiteRun
from lease_scheduler.simulation.workload import Workload, WorkloadLease

#: Policy of the dissertation -> allocation and dispatch policy here.
POLICIES = {
    "RR": ("round-robin", "random"),
    "LRF-RND": ("lrf", "random"),
    "BCF-RND": ("bcf", "random"),
    "PAP-RND": ("pap", "random"),
    "PAP-RTDP": ("pap", "by-type"),
}

#: Number of nodes of a cluster -> speed of a node in 1000 MIPS, and share of the cluster that local requests need.
SPEEDS = {64: 2.0, 128: 3.0, 256: 2.1}
LOCAL_LOADS = {64: 0.55, 128: 0.30, 256: 0.20}

#: Seconds in which requests arrive. The dissertation has two days.
SPAN = 6 * 3_600

#: Types of external requests, a quarter each.
TYPES = ("cancellable", "suspendable", "migratable", "non-preemptable")

_VM = Resources({VCPU: 1, MEMORY_MB: 1024})

#: Coefficients of variation that the model assumes (section 4.4.2). Those of the workload are larger.
_VARIATION_EXTERNAL, _VARIATION_LOCAL = 0.5, 0.1


@dataclass(frozen=True)
class ClusterCase:
    """A run of one policy on one workload.

    :ivar policy: a key of ``POLICIES``
    :ivar number: number of the workload, which is its seed
    :ivar medium: binary logarithm of the number of nodes at which the laws of external requests meet; more is larger
    :ivar duration: mean of the natural logarithm of external durations
    :ivar gap: scale of the times between external requests, with the shape 0.5; None for a mean of 6.75 s and the shape
        1.1
    :ivar local_rate: arrivals of local requests in per cent of those with which they need ``LOCAL_LOADS``
    :ivar reroutes: whether the gateway passes on to another cluster what one refuses
    """

    policy: str
    number: int
    medium: float = 3.0
    duration: float = 4.595
    gap: float | None = None
    local_rate: int = 100
    reroutes: bool = False
    cost_s: ClassVar[float] = 6.0

    @property
    def name(self) -> str:
        """See ``campaigns.case.Case``."""
        words = [f"clusters {self.policy}"]
        words += [
            f"{field}={getattr(self, field)}"
            for field in ("medium", "duration", "gap", "local_rate")
            if getattr(self, field) != getattr(ClusterCase, field)
        ]
        return " ".join([*words, *(["rerouted"] if self.reroutes else []), f"workload={self.number}"])

    @property
    def external(self) -> Das2:
        """The laws of external requests."""
        gaps = EXTERNAL.gaps if self.gap is None else (self.gap, 0.5)
        return replace(EXTERNAL, medium=self.medium, runtime=(self.duration, EXTERNAL.runtime[1]), gaps=gaps)

    def run(self) -> dict[str, Any]:
        """See ``campaigns.case.Case``."""
        allocation, dispatch = POLICIES[self.policy]
        policies = load_routing_policies({"allocation": allocation, "dispatch": dispatch}, PolicyOptions())
        clock = SimulatedClock()
        post = Post(clock)
        sites = {
            str(nodes): SiteRun(local_workload(nodes, laws, SPEEDS[nodes], self.number), run_settings("mov"), clock)
            for nodes, laws in self._local_laws().items()
        }
        loads = self._loads()
        peers = {
            name: SitePeer(SimulatedMember(name, site, load=loads[int(name)], speed=SPEEDS[int(name)]), can_hold=False)
            for name, site in sites.items()
        }
        settings = GatewaySettings(Rules("gateway"), reroutes=self.reroutes)
        random = random_stream(self.number, "dispatch")
        gateway = Gateway(policies, settings, random, post)
        gateway.connect([Link(peer) for peer in peers.values()])
        external = external_workload(self.external, self.number)
        result = Grid(sites, [gateway], post, {gateway.name: external}).execute()
        sent = Counter(
            (_type_of(outcome.request).value, outcome.asked[0]) for outcome in result.outcomes if outcome.asked
        )
        members = {name: peer.describe() for name, peer in peers.items()}
        shares = policies.allocation.allocate(
            Question(external.leases[0].request, members, tuple(members)), RoutingState()
        )
        return {
            **figures(result),
            "sent": [[of_type, cluster, count] for (of_type, cluster), count in sorted(sent.items())],
            "shares": dict(getattr(shares, "by_member", {})),
        }

    def _local_laws(self) -> Mapping[int, Das2]:
        return {
            nodes: laws.calibrated(nodes * SPEEDS[nodes], LOCAL_LOADS[nodes] * self.local_rate / 100)
            for nodes, laws in CLUSTERS.items()
        }

    def _loads(self) -> Mapping[int, PublishedLoad]:
        """Return what is known of the load of each cluster: the means of the laws, as in the dissertation."""
        external = self.external
        each = _arrivals(1 / external.mean_gap / len(CLUSTERS), external, _VARIATION_EXTERNAL)
        return {
            nodes: PublishedLoad(_arrivals(1 / laws.mean_gap, laws, _VARIATION_LOCAL), {None: each})
            for nodes, laws in self._local_laws().items()
        }


def _arrivals(rate: float, laws: Das2, variation: float) -> Arrivals:
    work = laws.mean_nodes * laws.mean_runtime
    return Arrivals(rate, {VCPU: work}, {VCPU: work**2 * (1 + variation**2)})


def _type_of(request: LeaseRequest) -> RequestType:
    found = request_type(request)
    assert found is not None
    return found


def local_workload(nodes: int, laws: Das2, speed: float, seed: int) -> Workload:
    """Return the local requests of a cluster, which start at once.

    :param speed: speed of a node, by which durations are divided
    """
    jobs = das2_jobs(laws, SPAN, seed, f"local requests of {nodes} nodes")
    leases = tuple(
        WorkloadLease(
            typed_request(f"{nodes}-{number}", "local", min(int(size), nodes), int(arrival), ceil(runtime / speed), 0)
        )
        for number, (arrival, size, runtime) in enumerate(zip(jobs.arrival, jobs.nodes, jobs.runtime, strict=True), 1)
    )
    return Workload(f"cluster of {nodes}", leases, Site.homogeneous(nodes, _VM))


def external_workload(laws: Das2, seed: int) -> Workload:
    """Return the external requests, a quarter of each type. The largest fit into the smallest cluster."""
    jobs = das2_jobs(laws, SPAN, seed, "external requests")
    count = len(jobs.arrival)
    in_order = [TYPES[number % len(TYPES)] for number in range(count)]
    types = [in_order[place] for place in random_stream(seed, "types of requests").permutation(count)]
    # The dissertation gives no deadlines.
    ratios = np.maximum(1.1, random_stream(seed, "deadlines").normal(4.0, 1.0, count))
    smallest = min(CLUSTERS)
    leases = [
        WorkloadLease(
            typed_request(
                str(number),
                kind,
                min(int(size), smallest),
                int(arrival),
                int(runtime),
                int(arrival + runtime * ratio) + 1,
                origin=None,
            )
        )
        for number, (kind, arrival, size, runtime, ratio) in enumerate(
            zip(types, jobs.arrival, jobs.nodes, jobs.runtime, ratios, strict=True), 1
        )
    ]
    return Workload("external requests", tuple(leases))
