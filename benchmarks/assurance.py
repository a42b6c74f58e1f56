"""What promises of lifetimes add to decisions, with a full history of demand on 1,000 hosts."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from statistics import median

import numpy as np
from rich import box
from rich.console import Console
from rich.table import Table

from benchmarks.plans import DAY, best_effort, empty_planner, fill, flavor
from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.lease import Lease
from lease_scheduler.model.nodes import NodeSet
from lease_scheduler.model.states import LeaseState
from lease_scheduler.policy.assurance.base import Promise, Wanted
from lease_scheduler.policy.assurance.statistical import Statistical
from lease_scheduler.policy.base import PolicyOptions
from lease_scheduler.policy.outcomes import Outcome

_SEED = 13
_HOSTS = _LEASES = 1_000
_AIM_MS = 0.1


class _Bench:
    """A policy that knows 90 days of a site on which all reservations of a plan run."""

    def __init__(self, days: int) -> None:
        self.random = np.random.default_rng(_SEED)
        planner = empty_planner(_HOSTS)
        fill(planner, _LEASES, 0, _SEED)
        self.policy = Statistical(PolicyOptions())
        self.policy.follow(planner.plan.site)
        running = [
            replace(lease, state=LeaseState.ACTIVE, started=0, active_since=0, request=replace(lease.request, start=0))
            for lease in planner.plan.leases.values()
            if lease.kind is LeaseKind.RESERVATION
        ]
        self.policy.take_over(running[len(running) // 2 :], 0)
        self.others = running[: len(running) // 2]
        self.ends: list[Lease] = []
        self.now = 0
        while self.now < days * DAY:
            self.now += 900
            self.change()

    def change(self) -> None:
        """Let a lease start or end."""
        starts = bool(self.others) and (not self.ends or self.random.random() < 0.5)
        taken, other = (self.others, self.ends) if starts else (self.ends, self.others)
        lease = taken.pop(int(self.random.integers(len(taken))))
        other.append(lease)
        active = self.now if starts else None
        self.policy.observe(
            Outcome.STARTED if starts else Outcome.DONE, replace(lease, active_since=active), None, self.now
        )

    def question(self, assurance: float) -> Callable[[], bool]:
        """Return what asks for a lifetime, and returns whether it is promised."""
        hours, nodes = int(self.random.integers(1, 24)), int(self.random.integers(1, 100))
        request = best_effort("asks", NodeSet(nodes, flavor(8)), 30 * DAY, preemptible=True)
        wanted = Wanted(replace(request, min_lifetime=hours * 3_600, assurance=assurance))
        return lambda: isinstance(self.policy.promise(wanted, self.now), Promise)


def _added_by_foreseeing(times: int) -> tuple[list[float], list[float]]:
    """Return the seconds by which a decision is longer because a lease may be refused that cannot be promised enough.

    Two plans get the same leases in turns, of one to 16 nodes.

    :return: for leases that can start at once, and for those that cannot
    """
    random, planners = np.random.default_rng(_SEED), (empty_planner(_HOSTS), empty_planner(_HOSTS))
    for planner in planners:
        fill(planner, _LEASES, 0, _SEED)
    at_once: list[float] = []
    later: list[float] = []
    for number in range(times):
        nodes = NodeSet(int(random.integers(1, 17)), flavor(8))
        request = best_effort(f"asks-{number}", nodes, 6 * 3_600, preemptible=True)
        spent = [0.0, 0.0]
        # Whoever is second finds the processor's caches warm.
        for way in (0, 1) if number % 2 else (1, 0):
            planner = planners[way]
            begun = time.process_time()
            lease = planner.plan.put(Lease(request, 2 * _LEASES + number, LeaseState.PENDING))
            if way:
                planner.turn_places.foresee(planner.context, lease, 0)
            planner.enqueue(lease)
            planner.process_queue(0, lambda placed: placed)
            spent[way] = time.process_time() - begun
            planner.plan.take_changes()
        held = planners[0].plan.leases[request.lease_id].holdings
        (at_once if held and held[0].start == 0 else later).append(spent[1] - spent[0])
    return at_once, later


def run(out: Console, *, quick: bool) -> None:
    """Time promises, refusals, and what the policy is told (fewer days and decisions if quick)."""
    bench, times = _Bench(20 if quick else 90), 100 if quick else 1_000
    bench.question(0.8)()
    found: dict[str, list[float]] = {"promised": [], "refused, with what could be had": []}
    for _ in range(times):
        seconds, is_promised = _timed(bench.question(float(bench.random.choice([0.8, 0.95, 0.99]))))
        found["promised" if is_promised else "refused, with what could be had"].append(seconds)
    first = []
    for _ in range(times // 10):
        bench.now += 3_600
        bench.change()
        first.append(_timed(bench.question(0.9))[0])
    found["the first question in an hour"] = first
    found["told of a start or an end"] = [_timed(bench.change)[0] for _ in range(times)]
    found["added by a look ahead, starts at once"], found["added, has to wait"] = _added_by_foreseeing(times // 2)
    title = f"Assured lifetimes, {_HOSTS:,} hosts, {_LEASES:,} leases"
    table = Table(title=title, title_justify="left", box=box.ASCII)
    for heading in ("decision", "times", "median, ms", "95 %, ms", "aim, ms"):
        table.add_column(heading, justify="left" if heading == "decision" else "right")
    for name, spent in found.items():
        if not spent:
            continue
        milliseconds = [each * 1_000 for each in spent]
        figures = f"{median(milliseconds):.3f}", f"{np.percentile(milliseconds, 95):.3f}"
        table.add_row(name, str(len(spent)), *figures, "" if spent is first else f"<= {_AIM_MS}")
    out.print(table)


def _timed(work: Callable[[], bool | None]) -> tuple[float, bool | None]:
    begun = time.process_time()
    found = work()
    return time.process_time() - begun, found
