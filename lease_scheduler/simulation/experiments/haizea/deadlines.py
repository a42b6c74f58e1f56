"""Deadline leases only (Sotomayor 2010, section 5.5; haizea E2).

BLUE2 on 144 hosts and DS on 164, every request with a start delay and a deadline, under three modes of preemption.
Both logs are read from the folder of workload logs, because they cannot be shipped.

The same runs are those of section 8.3 under strategy MAXIMUM (haizea E6): nobody turns a price down there, so that the
schedule does not depend on what users would pay, and one run serves all laws of users' rates.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from lease_scheduler.engine.state import EngineOptions
from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.model.host import Site
from lease_scheduler.model.lease import Lease
from lease_scheduler.model.resources import MEMORY_MB, VCPU, Resources
from lease_scheduler.model.states import LeaseState
from lease_scheduler.plan.options import Estimate, PlanningOptions, PreemptAt, Suspension
from lease_scheduler.simulation import metrics
from lease_scheduler.simulation.experiments.haizea.best_effort_and_reservations import data_folder
from lease_scheduler.simulation.formats.lwfa import annotate
from lease_scheduler.simulation.formats.swf import SwfOptions, read_swf
from lease_scheduler.simulation.generators.annotations import generate_deadline_annotations
from lease_scheduler.simulation.run import Run
from lease_scheduler.simulation.settings import RunSettings
from lease_scheduler.simulation.workload import Workload

MODES = ("no preemption", "without suspension", "with suspension")

#: Law of the start delay by its name in the dissertation.
STARTS = {"EARLY": "pareto", "UNIFORM": "uniform", "LATE": "invpareto"}
#: Law of the longest wait by its name in the dissertation.
DEADLINES = {"TIGHT": "pareto", "UNIFORM": "uniform", "LOOSE": "invpareto"}

#: Law of the users' rates by its name in section 8.3.
USERS = {"CHEAP": "pareto", "CONSTANT": "constant", "UNIFORM": "uniform", "RICH": "invpareto"}

#: Seconds at the beginning that do not count for the utilisation: 5 % of a month.
RAMP_UP = 129_600

_MONTH = 30 * 86_400
#: A fifth of the longest wait, the bound of the second criterion for a tight deadline.
_TIGHT_WAIT = 120_960
_TIGHT_SLACK = 2


@dataclass(frozen=True)
class _Trace:
    file: str
    begin: int
    queues: frozenset[int]
    hosts: int


#: The windows of the logs (workload notes of the documentation); queues of DS in the numbering of the current
#: version of the log.
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
    :ivar seed: of the annotations
    :ivar least_slack_first: whether the last step of the algorithm is taken
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
        """Money that the leases are worth to their users, in all and of those that were done or rejected, by law."""
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
    """What section 5.5 sets: 64 MB/s, and the author's timing of preemptions.

    :param mode: one of ``MODES``
    """
    return RunSettings(
        planning=PlanningOptions(
            suspension=Suspension.ALL if mode == "with suspension" else Suspension.NONE,
            suspend_rate=64,
            resume_rate=64,
            suspend_estimate=Estimate.SUM,
            preempt_at=PreemptAt.REQUEST,
            least_slack_first=least_slack_first,
        ),
        engine=EngineOptions(explain_refusals=False),
        preemption="no-preemption" if mode == "no preemption" else "deadline",
        deadline_preemption=mode != "no preemption",
    )


def annotated(workload: Workload, start: str, deadline: str, seed: int, users: str | None = None) -> Workload:
    """A workload with starts, deadlines and, if asked for, users' rates.

    :param start: a key of ``STARTS``
    :param deadline: a key of ``DEADLINES``
    :param users: a key of ``USERS``; starts and deadlines are the same whichever it is
    """
    law = None if users is None else USERS[users]
    annotations = generate_deadline_annotations(workload, STARTS[start], DEADLINES[deadline], seed, law)
    return annotate(workload, annotations)


def read_trace(name: str) -> Workload:
    """One of the two months.

    :raises InvalidValueError: the folder of workload logs is not there
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
    """The longest wait is at most twice the duration: the criterion that fits the counts of table 5.2 (a)."""
    request = lease.request
    assert request.deadline is not None and request.start is not None
    return request.deadline - request.start - request.duration <= _TIGHT_SLACK * request.duration


def _wait_is_tight(lease: Lease) -> bool:
    """Longest wait and duration together are at most 20 % of a week: the criterion that fits table 5.2 (b)."""
    request = lease.request
    assert request.deadline is not None and request.start is not None
    return request.deadline - request.start <= _TIGHT_WAIT
