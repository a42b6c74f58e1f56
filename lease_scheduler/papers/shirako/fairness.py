"""The lag between flows, compared with the bounds of the theorems.

See Grit 2007, theorems 5.3.1 and 5.6.1; shirako E13.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import Any, ClassVar

from lease_scheduler.papers.replications import FIRST_SEED, block, block_name
from lease_scheduler.policy.queueing.winks.shares import WinksOptions
from lease_scheduler.random_streams import random_stream
from lease_scheduler.simulation.generators.flows import FlowLoad
from lease_scheduler.simulation.shares.fairness import Backlog, lag_bound, largest_lag
from lease_scheduler.simulation.shares.run import SharesRun

#: Sizes of sites, and number of random workloads on each.
HOSTS = (1, 4, 16, 100)
WORKLOADS = 100

_LONGEST = 20


@dataclass(frozen=True)
class FairnessCase:
    """Random workloads of flows that always have requests, on one site.

    :ivar hosts: number of hosts
    :ivar disturbed: whether requests are preempted and end early at random
    :ivar workloads: number of workloads
    :ivar seed: which block of that many workloads
    """

    hosts: int
    disturbed: bool
    workloads: int = WORKLOADS
    seed: int = FIRST_SEED
    cost_s: ClassVar[float] = 1.5

    @property
    def name(self) -> str:
        """See ``campaigns.case.Case``."""
        disturbed = ", disturbed" if self.disturbed else ""
        return f"fairness {self.hosts} hosts{disturbed}, {self.workloads} workloads{block_name(self.seed)}"

    def run(self) -> dict[str, Any]:
        """See ``campaigns.case.Case``."""
        ratios = [
            _largest_ratio(self.hosts, seed, disturbed=self.disturbed) for seed in block(self.seed, self.workloads)
        ]
        return {"largest_ratio": max(ratios), "beyond_bound": sum(ratio > 1 for ratio in ratios)}


def _largest_ratio(hosts: int, seed: int, *, disturbed: bool) -> float:
    """Return the largest lag of two flows over any interval between completions, as a part of its bound."""
    draws = random_stream(seed, "fairness")
    weights = [int(weight) for weight in draws.integers(1, 10, int(draws.integers(2, 4)))]
    total = sum(weights)
    loads = [FlowLoad(str(number), weight / total, (1, _LONGEST), load=3.0) for number, weight in enumerate(weights)]
    ticks = 40 * _LONGEST // hosts + 100
    run = _DisturbedRun(loads, hosts, ticks, WinksOptions(), bound=40 * _LONGEST * hosts, seed=seed)
    run.is_on = disturbed
    result = run.execute()
    largest = 0.0
    for one, other in combinations(range(len(weights)), 2):
        done = [
            [(each.end, each.width * each.duration) for each in result.flows[number].starts if each.end <= ticks]
            for number in (one, other)
        ]
        backlogs = [Backlog(Fraction(weights[number], total), _LONGEST) for number in (one, other)]
        lag = largest_lag(done[0], done[1], backlogs[0].weight, backlogs[1].weight)
        largest = max(largest, float(lag / lag_bound(hosts, backlogs[0], backlogs[1], run.preempted)))
    return largest


class _DisturbedRun(SharesRun):
    """A run in which the newest request of each flow now and then ends early or is preempted.

    :ivar is_on: whether that happens
    :ivar preempted: number of requests that were preempted
    """

    is_on = False
    preempted = 0

    def serve(self, now: int) -> None:
        """See ``SharesRun.serve``."""
        super().serve(now)
        if not self.is_on or now % 7 != 3:
            return
        for name in self.shares.flows:
            starts = self.result(name).starts
            if not starts or not starts[-1].start < now < starts[-1].end:
                continue
            if now % 2:
                self.end_early(name, len(starts) - 1, now)
            else:
                self.preempt(name, len(starts) - 1, now)
                self.preempted += 1
