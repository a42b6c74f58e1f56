"""Runs with deadline leases only (Sotomayor 2010, section 5.5; haizea E2).

The workloads are BLUE2 on 144 hosts and DS on 164. Every request has a start delay and a deadline. There are three
modes of preemption. Both logs are read from the folder of workload logs, because they cannot be shipped.

Section 8.3 has the same runs under strategy MAXIMUM (haizea E6). With MAXIMUM all users accept their prices, so the
schedule does not depend on the users' rates, and one run gives the results for all laws of rates.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from lease_scheduler.engine.options import EngineOptions
from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.model.host import Site
from lease_scheduler.model.lease import Lease
from lease_scheduler.model.resources import MEMORY_MB, VCPU, Resources
from lease_scheduler.model.states import LeaseState
from lease_scheduler.papers.data_folder import data_folder
from lease_scheduler.plan.options import Estimate, PlanningOptions, PreemptAt, Suspension
from lease_scheduler.simulation import metrics
from lease_scheduler.simulation.formats.lwfa import annotate
from lease_scheduler.simulation.formats.swf import SwfOptions, read_swf
from lease_scheduler.simulation.generators.annotations import generate_deadline_annotations
from lease_scheduler.simulation.run import Run
from lease_scheduler.simulation.settings import RunSettings
from lease_scheduler.simulation.workload import Workload

MODES = ("no preemption", "without suspension", "with suspension")

#: Name in the dissertation -> law of the start delay.
STARTS = {"EARLY": "pareto", "UNIFORM": "uniform", "LATE": "invpareto"}
#: Name in the dissertation -> law of the longest wait.
DEADLINES = {"TIGHT": "pareto", "UNIFORM": "uniform", "LOOSE": "invpareto"}

#: Name in section 8.3 -> law of the users' rates.
USERS = {"CHEAP": "pareto", "CONSTANT": "constant", "UNIFORM": "uniform", "RICH": "invpareto"}

#: Seconds at the beginning that the utilisation leaves out: 5 % of a month.
RAMP_UP = 129_600

_MONTH = 30 * 86_400
#: Bound of the second criterion for a tight deadline, in seconds: a fifth of the longest wait.
_TIGHT_WAIT = 120_960
_TIGHT_SLACK = 2


@dataclass(frozen=True)
class _Trace:
    file: str
    begin: int
    queues: frozenset[int]
    hosts: int


#: The windows of the logs. The numbers of the queues of DS are those in the current version of the log.
TRACES = {
    "BLUE2": _Trace("windows/BLUE2.swf.gz", 70_154_553, frozenset({1, 2, 3, 4}), 144),
    "DS": _Trace("windows/DS.swf.gz", 4_293_741, frozenset({2, 3}), 164),
}


@dataclass(frozen=True)
class DeadlineCase:
    """One run.

    :ivar trace: a key of ``TRACES``
    :ivar start: a key of ``STARTS``
    :ivar deadline: a key of ``DEADLINES``
    :ivar mode: one of ``MODES``
    :ivar seed: seed of the annotations
    :ivar least_slack_first: whether the algorithm includes its last step
    """

    trace: str
    start: str
    deadline: str
    mode: str
    seed: int
    least_slack_first: bool = True

    @property
    def name(self) -> str:
        """See ``campaigns.case.Case``."""
        step = "" if self.least_slack_first else " no least-slack-first"
        return f"{self.trace} {self.start}/{self.deadline} {self.mode} seed={self.seed}{step}"

    @property
    def cost_s(self) -> float:
        """See ``campaigns.case.CostedCase``."""
        return 11.0 if self.trace == "BLUE2" else 33.0

    def run(self) -> dict[str, Any]:
        """See ``campaigns.case.Case``."""
        workload = read_trace(self.trace)
        settings = run_settings(self.mode, least_slack_first=self.least_slack_first)
        result = Run(annotated(workload, self.start, self.deadline, self.seed), settings).execute()
        by_slack = [lease for lease in result.leases if _slack_is_tight(lease)]
        by_wait = [lease for lease in result.leases if _wait_is_tight(lease)]
        return {
            "requested": len(result.leases),
            "accepted": _accepted(result.leases),
            "tight_by_slack": len(by_slack),
            "accepted_by_slack": _accepted(by_slack),
            "tight_by_wait": len(by_wait),
            "accepted_by_wait": _accepted(by_wait),
            "utilisation": metrics.utilisation(result).average(RAMP_UP, result.last_submission),
            "suspensions": result.counters.get("suspensions", 0),
            "wall_s": result.wall_s,
            **self._worth(workload, result.leases),
        }

    def _worth(self, workload: Workload, leases: Sequence[Lease]) -> dict[str, float]:
        """Return what leases are worth to their users by law of rates: all leases, those done and those rejected."""
        states = {lease.lease_id: lease.state for lease in leases}
        worth = {}
        for users in USERS:
            rated = annotated(workload, self.start, self.deadline, self.seed, users)
            values = {lease.request.lease_id: metrics.worth_to_user(lease.request) or 0.0 for lease in rated.leases}
            worth[f"{users}_all"] = sum(values.values())
            for name, state in (("done", LeaseState.DONE), ("rejected", LeaseState.REJECTED)):
                worth[f"{users}_{name}"] = sum(values[lease_id] for lease_id in states if states[lease_id] is state)
        return worth


def run_settings(mode: str, *, least_slack_first: bool = True) -> RunSettings:
    """Return the settings of section 5.5: 64 MB/s, and preemptions timed as in Haizea.

    :param mode: one of ``MODES``
    :param least_slack_first: whether the algorithm includes its last step
    """
    return RunSettings(
        policies={"preemption": "no-preemption" if mode == "no preemption" else "deadline"},
        planning=PlanningOptions(
            suspension=Suspension.ALL if mode == "with suspension" else Suspension.NONE,
            suspend_rate=64,
            resume_rate=64,
            suspend_estimate=Estimate.SUM,
            preempt_at=PreemptAt.REQUEST,
            least_slack_first=least_slack_first,
        ),
        engine=EngineOptions(explain_refusals=False),
        deadline_preemption=mode != "no preemption",
    )


def annotated(workload: Workload, start: str, deadline: str, seed: int, users: str | None = None) -> Workload:
    """Return a workload with random starts, deadlines and, unless ``users`` is None, users' rates.

    :param start: a key of ``STARTS``
    :param deadline: a key of ``DEADLINES``
    :param seed: seed of the annotations
    :param users: a key of ``USERS``, which does not affect starts and deadlines
    """
    law = None if users is None else USERS[users]
    annotations = generate_deadline_annotations(workload, STARTS[start], DEADLINES[deadline], seed, law)
    return annotate(workload, annotations)


def read_trace(name: str) -> Workload:
    """Return the month of a log as a workload.

    :param name: a key of ``TRACES``
    :raises InvalidValueError: ``LEASE_SCHEDULER_DATA`` does not name the folder of workload logs
    """
    trace = TRACES[name]
    folder = data_folder()
    if folder is None:
        raise InvalidValueError("LEASE_SCHEDULER_DATA", f"must name the folder of workload logs for {name}")
    options = SwfOptions(begin=trace.begin, length=_MONTH, scale=8, queues=trace.queues)
    host = Resources({VCPU: 100, MEMORY_MB: 1024})
    return replace(read_swf(folder / trace.file, options), name=name, site=Site.homogeneous(trace.hosts, host))


def _accepted(leases: list[Lease] | tuple[Lease, ...]) -> int:
    return sum(lease.state is not LeaseState.REJECTED for lease in leases)


def _slack_is_tight(lease: Lease) -> bool:
    """Return whether the longest wait is at most twice the duration, which fits the counts of table 5.2 (a)."""
    request = lease.request
    assert request.deadline is not None and request.start is not None
    return request.deadline - request.start - request.duration <= _TIGHT_SLACK * request.duration


def _wait_is_tight(lease: Lease) -> bool:
    """Return whether longest wait plus duration is at most 20 % of a week, which fits the counts of table 5.2 (b)."""
    request = lease.request
    assert request.deadline is not None and request.start is not None
    return request.deadline - request.start <= _TIGHT_WAIT
