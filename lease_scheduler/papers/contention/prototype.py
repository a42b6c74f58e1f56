"""The run of the prototype: seven requests on twelve nodes (Amini Salehi 2012, section 7.4, table 7.1)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from lease_scheduler.engine.options import EngineOptions
from lease_scheduler.federation.negotiation.record import Rules
from lease_scheduler.federation.routing.loader import load_routing_policies
from lease_scheduler.model.host import Site
from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.lease import LeaseRequest
from lease_scheduler.model.nodes import NodeSet
from lease_scheduler.model.resources import MEMORY_MB, VCPU, Resources
from lease_scheduler.model.states import LeaseState
from lease_scheduler.plan.durations.overhead_model import OverheadModel, OverheadRates
from lease_scheduler.plan.options import Exclusion, Migration, PlanningOptions, RoomLead, Suspension
from lease_scheduler.policy.base import PolicyOptions
from lease_scheduler.random_streams import random_stream
from lease_scheduler.simulation.clock import SimulatedClock
from lease_scheduler.simulation.grid.gateway import Gateway, GatewaySettings
from lease_scheduler.simulation.grid.grid import Grid
from lease_scheduler.simulation.grid.peers import Link, Peer, SitePeer
from lease_scheduler.simulation.grid.post import Post
from lease_scheduler.simulation.member import SimulatedMember
from lease_scheduler.simulation.result import Phase, RunResult
from lease_scheduler.simulation.run import Run
from lease_scheduler.simulation.settings import RunSettings
from lease_scheduler.simulation.site_run import SiteRun
from lease_scheduler.simulation.workload import Workload, WorkloadLease

#: Policy of the dissertation -> name of ours. The prototype preempted one lease after the other until the request fit;
#: only MOML looks at sets (section 7.3.4).
POLICIES = {"NOP": "no-preemption", "MLIP": "mlip-ordered", "MOV": "mov-ordered", "MOML": "moml"}

#: MB/s at which the shared storage was read and written.
STORAGE_RATE = 40.0

LOCAL = "7"

_NODES = 12

#: Id, arrival in seconds, number of nodes, MB of memory per node, duration in seconds. The last is the local request.
REQUESTS = (
    ("1", 0, 3, 256, 3600),
    ("2", 300, 1, 128, 5400),
    ("3", 360, 2, 128, 5400),
    ("4", 480, 1, 256, 5400),
    ("5", 530, 2, 64, 2400),
    ("6", 580, 3, 128, 3600),
    (LOCAL, 720, 5, 128, 3600),
)

_RATES = OverheadRates(STORAGE_RATE, STORAGE_RATE, STORAGE_RATE, pause_time=0, reschedule_time=0)


@dataclass(frozen=True)
class PrototypeCase:
    """The run with one policy.

    :ivar policy: a key of ``POLICIES``
    """

    policy: str
    cost_s: ClassVar[float] = 0.1

    @property
    def name(self) -> str:
        """See ``campaigns.case.Case``."""
        return f"prototype {self.policy}"

    def run(self) -> dict[str, Any]:
        """See ``campaigns.case.Case``."""
        return figures(Run(workload(), run_settings(POLICIES[self.policy])).execute())


@dataclass(frozen=True)
class GatewaysCase:
    """The run with one policy, in which external requests come through three gateways, as in figure 7.6.

    The first gateway owns the site. Users of the other two, which pass everything on to it, request the leases in
    turns; table 7.1 does not say who requests which. Messages take no time, as on a local network.

    :ivar policy: a key of ``POLICIES``
    """

    policy: str
    cost_s: ClassVar[float] = 0.1

    @property
    def name(self) -> str:
        """See ``campaigns.case.Case``."""
        return f"prototype {self.policy} through gateways"

    def run(self) -> dict[str, Any]:
        """See ``campaigns.case.Case``."""
        whole = workload()
        own, external = (
            [lease for lease in whole.leases if (lease.request.lease_id == LOCAL) is is_local]
            for is_local in (True, False)
        )
        clock = SimulatedClock()
        post, site = (
            Post(clock),
            SiteRun(Workload("local", tuple(own), whole.site), run_settings(POLICIES[self.policy]), clock),
        )
        first = _gateway("igg1", SitePeer(SimulatedMember("rp", site)), post)
        others = [_gateway(name, first, post) for name in ("igg2", "igg3")]
        arrivals = {
            gateway.name: Workload(gateway.name, tuple(external[number :: len(others)]))
            for number, gateway in enumerate(others)
        }
        found = Grid({"rp": site}, [first, *others], post, arrivals).execute()
        granted = [outcome for outcome in found.outcomes if outcome.lease is not None]
        ids = {outcome.lease.lease_id: outcome.request.lease_id for outcome in granted if outcome.lease is not None}
        return {**figures(found.sites["rp"], ids), "through_gateways": len(granted)}


def _gateway(name: str, peer: Peer, post: Post) -> Gateway:
    policies = load_routing_policies({}, PolicyOptions())
    gateway = Gateway(policies, GatewaySettings(Rules(name)), random_stream(0, name), post)
    gateway.connect([Link(peer)])
    return gateway


def workload() -> Workload:
    """Return the seven requests: suspendable leases of a peer, and a local reservation that is to start at once."""
    host = Resources({VCPU: 1, MEMORY_MB: 1024})
    leases = []
    for lease_id, arrival, nodes, memory, duration in REQUESTS:
        node_set = NodeSet(nodes, Resources({VCPU: 1, MEMORY_MB: memory}))
        if lease_id == LOCAL:
            request = LeaseRequest(lease_id, LeaseKind.RESERVATION, (node_set,), arrival, duration, start=arrival)
        else:
            request = LeaseRequest(
                lease_id, LeaseKind.BEST_EFFORT, (node_set,), arrival, duration, preemptible=True, origin="peer"
            )
        leases.append(WorkloadLease(request))
    return Workload("table 7.1", tuple(leases), Site.homogeneous(_NODES, host, "node"))


def run_settings(preemption: str) -> RunSettings:
    """Return the settings of the prototype.

    The local request starts at once, and its victims lose the time of their suspension. They resume where they were
    suspended, as the prototype did not migrate them.

    :param preemption: name of the preemption policy
    """
    return RunSettings(
        policies={"preemption": preemption},
        planning=PlanningOptions(
            backfilling_limit=None,
            suspension=Suspension.ALL,
            planned_suspension=Suspension.NONE,
            suspend_rate=STORAGE_RATE,
            resume_rate=STORAGE_RATE,
            exclusion=Exclusion.GLOBAL,
            force_scheduling_threshold=0,
            migration=Migration.NO,
            room_lead=RoomLead.CHARGE,
            slack_threshold=1.0,
            least_slack_first=False,
        ),
        engine=EngineOptions(explain_refusals=False),
        policy_options={
            "preemption_among": "external",
            "overhead_suspend_rate": str(STORAGE_RATE),
            "overhead_resume_rate": str(STORAGE_RATE),
            "overhead_pause_time": "0",
            "overhead_reschedule_time": "0",
        },
        deadline_preemption=False,
    )


def overhead(lease_id: str) -> float:
    """Return the seconds that preempting one of the requests costs, by the formula."""
    nodes, memory = next((nodes, memory) for each, _, nodes, memory, _ in REQUESTS if each == lease_id)
    return OverheadModel(_RATES).of_suspending([memory] * nodes)


def figures(result: RunResult, ids: Mapping[str, str] | None = None) -> dict[str, Any]:
    """Return the figures of table 7.2, as JSON values.

    :param ids: id of a lease at the site -> its id in table 7.1, for those for which they differ
    """
    known = ids or {}
    runs = Counter(known.get(each.lease_id, each.lease_id) for each in result.occupations if each.phase is Phase.RUN)
    preempted = sorted(lease_id for lease_id, times in runs.items() if times > 1)
    return {
        "preempted": " ".join(preempted),
        "rejected": " ".join(
            known.get(lease.lease_id, lease.lease_id) for lease in result.leases if lease.state is LeaseState.REJECTED
        ),
        "overhead_s": round(sum(overhead(lease_id) for lease_id in preempted), 6),
        "makespan_s": max(lease.ended for lease in result.leases if lease.ended is not None),
        "local_delay_s": next(
            (
                lease.started - lease.request.submitted
                for lease in result.leases
                if lease.lease_id == LOCAL and lease.started is not None
            ),
            -1,
        ),
        "runs_lost": result.counters.get("preemptions_with_loss", 0),
        "wall_s": result.wall_s,
    }
