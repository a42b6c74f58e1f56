"""What backfilling gains on a small site: an experiment with one chapter."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from rich.console import Console

from lease_scheduler.model.host import Site
from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.lease import LeaseRequest
from lease_scheduler.model.nodes import NodeSet
from lease_scheduler.model.resources import VCPU, Resources
from lease_scheduler.papers.checks import Check
from lease_scheduler.papers.extent import Extent
from lease_scheduler.papers.replications import FIRST_SEED, DefaultSeeds, Replication
from lease_scheduler.papers.report import write_report
from lease_scheduler.plan.options import PlanningOptions
from lease_scheduler.random_streams import random_stream
from lease_scheduler.simulation import metrics
from lease_scheduler.simulation.campaigns.case import Case, Outcome
from lease_scheduler.simulation.run import Run
from lease_scheduler.simulation.settings import RunSettings
from lease_scheduler.simulation.workload import Workload, WorkloadLease

#: Number of leases that may hold a future place while others overtake them: 0 is no backfilling, 1 is aggressive.
LIMITS = (0, 1)
#: Seeds if the command line gives no number.
SEEDS = DefaultSeeds(5)

_HOSTS = 8
_NODE = Resources({VCPU: 100})


@dataclass(frozen=True)
class QueueCase:
    """A run of 200 best-effort leases.

    :ivar limit: one of ``LIMITS``
    :ivar seed: seed of the workload
    """

    limit: int
    seed: int
    cost_s: ClassVar[float] = 0.2

    @property
    def name(self) -> str:
        """See ``campaigns.case.Case``."""
        return f"backfilling {self.limit} seed={self.seed}"

    def run(self) -> dict[str, Any]:
        """See ``campaigns.case.Case``."""
        settings = RunSettings(planning=PlanningOptions(backfilling_limit=self.limit))
        result = Run(_workload(self.seed), settings).execute()
        return {"wait_s": float(metrics.waiting_times(result.leases).mean())}


def cases(*, extent: Extent, seed: int = FIRST_SEED) -> list[Case]:
    """Return all runs; see ``paper.Chapter``."""
    return [QueueCase(limit, seed) for limit in LIMITS]


def report(
    outcomes: Mapping[str, Outcome], directory: Path, *, replications: Sequence[Replication], console: Console
) -> int:
    """Print every figure, and write CSV files; see ``paper.Chapter``."""
    return write_report(_checks, cases, replications, outcomes, directory, console)


def _checks(outcomes: Mapping[str, Outcome], *, extent: Extent, seed: int) -> dict[str, list[Check]]:
    without, aggressive = (outcomes[QueueCase(limit, seed).name]["wait_s"] for limit in LIMITS)
    return {
        "Mean waiting time": [
            Check("without backfilling, s", None, (without,), None, None),
            Check("aggressive : without", None, (aggressive / without,), None, 1.0),
        ]
    }


def _workload(seed: int) -> Workload:
    stream = random_stream(seed, "queue")
    submitted = stream.integers(0, 40_000, 200)
    submitted.sort()
    nodes, durations = stream.integers(1, _HOSTS + 1, 200), stream.integers(60, 1_200, 200)
    requests = [
        LeaseRequest(
            lease_id=str(number),
            kind=LeaseKind.BEST_EFFORT,
            nodes=(NodeSet(int(nodes[number]), _NODE),),
            submitted=int(submitted[number]),
            duration=int(durations[number]),
        )
        for number in range(200)
    ]
    return Workload("queue", tuple(map(WorkloadLease, requests)), Site.homogeneous(_HOSTS, _NODE))
