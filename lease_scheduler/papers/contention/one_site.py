"""Runs of one site with local and external requests (Amini Salehi 2012, section 3.3; contention E1-E4)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from lease_scheduler.engine.options import EngineOptions
from lease_scheduler.model.host import Site
from lease_scheduler.model.kinds import LeaseKind, PreemptionMode
from lease_scheduler.model.lease import Lease, LeaseRequest
from lease_scheduler.model.nodes import NodeSet
from lease_scheduler.model.resources import MEMORY_MB, VCPU, Resources
from lease_scheduler.model.states import LeaseState
from lease_scheduler.plan.durations.overhead_model import OverheadRates
from lease_scheduler.plan.durations.suspension import SuspensionModel
from lease_scheduler.plan.options import Exclusion, Migration, PlanningOptions, RoomLead, Suspension
from lease_scheduler.random_streams import random_stream
from lease_scheduler.simulation.generators.lublin import Lublin, lublin_jobs
from lease_scheduler.simulation.result import Phase, RunResult
from lease_scheduler.simulation.run import Run
from lease_scheduler.simulation.settings import RunSettings
from lease_scheduler.simulation.workload import Workload, WorkloadLease

#: Policy of the dissertation -> name of ours.
POLICIES = {"NOP": "no-preemption", "MOV": "mov", "MLIP": "mlip", "MOML": "moml"}

REQUESTS = 3_000
LOCALS = 1_000
_HOSTS = 32
_VM = Resources({VCPU: 1, MEMORY_MB: 1024})
_DAY = 86_400
_SPAN = 14 * _DAY
_LONGEST_RUNTIME = 36_000.0

#: The typeless model on 32 nodes; a medium of 2.5 gives the mean of 4 nodes.
_MODEL = Lublin(medium=2.5, high=5.0)

_NEVER_TOO_OLD = str(10_000 * _DAY)
_RATES = OverheadRates()


@dataclass(frozen=True)
class SiteCase:
    """A run of one policy on one workload.

    :ivar policy: a key of ``POLICIES``
    :ivar best_effort: share of the external requests that are best-effort, in per cent; half of them can be cancelled
    :ivar local: number of local requests in per cent of all; None for 1,000 of 3,000
    :ivar seed: seed of the workload
    :ivar hours: mean duration of requests; 2 in the dissertation
    """

    policy: str
    best_effort: int = 50
    local: int | None = None
    seed: int = 1
    hours: int = 2
    cost_s: ClassVar[float] = 2.0

    @property
    def name(self) -> str:
        """See ``campaigns.case.Case``."""
        local = "" if self.local is None else f" local={self.local}"
        hours = "" if self.hours == SiteCase.hours else f" hours={self.hours}"
        return f"site {self.policy} best-effort={self.best_effort}{local}{hours} seed={self.seed}"

    def run(self) -> dict[str, Any]:
        """See ``campaigns.case.Case``."""
        locals_ = LOCALS if self.local is None else REQUESTS * self.local // 100
        workload = mixed_workload(locals_, self.best_effort / 100, self.seed, self.hours)
        return figures(Run(workload, run_settings(POLICIES[self.policy])).execute())


def mixed_workload(local: int, best_effort: float, seed: int, hours: int = SiteCase.hours) -> Workload:
    """Return 3,000 requests within two weeks.

    :param local: number of local requests; they start at once
    :param best_effort: share of the external requests without a deadline
    :param hours: mean duration
    """
    jobs = lublin_jobs(_MODEL, REQUESTS, _SPAN, hours * 3_600.0, seed, _LONGEST_RUNTIME)
    external = REQUESTS - local
    without_deadline = round(external * best_effort)
    counts = (
        ("local", local),
        ("cancellable", without_deadline // 2),
        ("suspendable", without_deadline - without_deadline // 2),
        ("migratable", (external - without_deadline) // 2),
        ("non-preemptable", external - without_deadline - (external - without_deadline) // 2),
    )
    in_order = [kind for kind, count in counts for _ in range(count)]
    types = [in_order[place] for place in random_stream(seed, "types of requests").permutation(REQUESTS)]
    # The dissertation gives no deadlines.
    ratios = np.maximum(1.1, random_stream(seed, "deadlines").normal(4.0, 1.0, REQUESTS))
    leases = [
        WorkloadLease(
            typed_request(str(number), kind, int(nodes), int(arrival), int(runtime), int(arrival + runtime * ratio))
        )
        for number, (kind, nodes, arrival, runtime, ratio) in enumerate(
            zip(types, jobs.nodes, jobs.arrival, jobs.runtime, ratios, strict=True), 1
        )
    ]
    return Workload("lublin", tuple(leases), Site.homogeneous(_HOSTS, _VM))


def typed_request(
    lease_id: str,
    kind: str,
    nodes: int,
    arrival: int,
    runtime: int,
    deadline: int,
    origin: str | None = "peer",
) -> LeaseRequest:
    """Return a request of a type.

    :param kind: ``local``, or the value of a ``RequestType``
    :param deadline: instant by which it must have run, for the types that have a deadline
    :param origin: who requests it, unless it is local
    """
    node_sets = (NodeSet(nodes, _VM),)
    if kind == "local":
        return LeaseRequest(lease_id, LeaseKind.RESERVATION, node_sets, arrival, runtime, start=arrival)
    if kind in ("cancellable", "suspendable"):
        mode = PreemptionMode.DELETE if kind == "cancellable" else PreemptionMode.SUSPEND
        return LeaseRequest(
            lease_id,
            LeaseKind.BEST_EFFORT,
            node_sets,
            arrival,
            runtime,
            preemptible=True,
            preemption_mode=mode,
            origin=origin,
        )
    return LeaseRequest(
        lease_id,
        LeaseKind.DEADLINE,
        node_sets,
        arrival,
        runtime,
        start=arrival,
        deadline=deadline,
        preemptible=kind == "migratable",
        preemption_mode=PreemptionMode.MIGRATE if kind == "migratable" else PreemptionMode.NONE,
        origin=origin,
    )


def run_settings(preemption: str) -> RunSettings:
    """Return the settings: conservative backfilling, and suspension only by preemption, charged to the victim.

    The storage is shared, so a lease may resume on any host, and its nodes are suspended and resumed one after the
    other.
    """
    return RunSettings(
        policies={"preemption": preemption},
        planning=PlanningOptions(
            backfilling_limit=None,
            suspension=Suspension.ALL,
            planned_suspension=Suspension.NONE,
            suspend_rate=_RATES.suspend_rate,
            resume_rate=_RATES.resume_rate,
            exclusion=Exclusion.GLOBAL,
            force_scheduling_threshold=0,
            migration=Migration.YES_NO_TRANSFER,
            room_lead=RoomLead.CHARGE,
            slack_threshold=1.0,
            least_slack_first=False,
        ),
        engine=EngineOptions(explain_refusals=False),
        policy_options={"preemption_among": "external", "preemption_safe_age": _NEVER_TOO_OLD},
        deadline_preemption=False,
    )


def figures(result: RunResult) -> dict[str, Any]:
    """Return the metrics of the dissertation (contention 4.7), as JSON values."""
    local = [lease for lease in result.leases if lease.request.origin is None]
    external = [lease for lease in result.leases if lease.request.origin is not None]
    best_effort = [lease for lease in external if lease.kind is LeaseKind.BEST_EFFORT and lease.ended is not None]
    done = [lease for lease in result.leases if lease.state is LeaseState.DONE]
    makespan = max((lease.ended for lease in done if lease.ended is not None), default=0)
    work = sum(lease.request.node_count * lease.request.duration for lease in done)
    runs: dict[str, list[int]] = {}
    for each in result.occupations:
        if each.phase is Phase.RESUME:
            # A lease that is preempted in the second in which it goes on has a run without a length.
            runs.setdefault(each.lease_id, []).append(0)
        elif each.phase is Phase.RUN:
            of_lease = runs.setdefault(each.lease_id, [])
            if of_lease and of_lease[-1] == 0:
                of_lease.pop()
            of_lease.append(each.end - each.start)
    suspendable = [lease for lease in done if lease.request.preemptible and not _is_cancellable(lease)]
    return {
        "local_rejected_percent": _percent_rejected(local),
        "external_rejected_percent": _percent_rejected(external),
        "utilisation_percent": 100 * work / (len(result.site) * makespan),
        "lease_preemptions": result.counters.get("preempted_leases", 0),
        "vm_preemptions": result.counters.get("preempted_nodes", 0),
        "interrupted_runs": sum(len(each) - 1 for each in runs.values()),
        "response_h": sum(lease.ended - lease.request.submitted for lease in best_effort if lease.ended is not None)
        / max(1, len(best_effort))
        / 3_600,
        "suspendable_that_lost_work": sum(_lost_work(lease, runs[lease.lease_id]) for lease in suspendable),
        "wall_s": result.wall_s,
    }


def _lost_work(lease: Lease, runs: list[int]) -> bool:
    """Return whether a lease lost more work than the time that its suspensions should have taken.

    A suspension that took its time is not charged, so there may be several explanations of how long the lease ran.
    """
    request = lease.request
    model = SuspensionModel(run_settings("no-preemption").planning)
    charge = model.suspend_time(request, range(request.node_count))
    possible = {0}
    for seconds in runs[:-1]:
        ran = {before + seconds for before in possible}
        possible = ran | {each - min(each, charge) for each in ran}
    return request.duration - runs[-1] not in possible


def _is_cancellable(lease: Lease) -> bool:
    return lease.request.preemption_mode is PreemptionMode.DELETE


def _percent_rejected(leases: list[Lease]) -> float:
    return 100 * sum(lease.state is LeaseState.REJECTED for lease in leases) / max(1, len(leases))
