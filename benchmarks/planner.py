"""Single decisions of the planner, on plans of many sizes.

Decisions are timed with the garbage collector on, over requests that all differ. Each decision is undone, and answers
that the plan has cached are dropped, so that every request meets the same plan. Every size runs in a process of its
own, so that memory is measured separately.
"""

from __future__ import annotations

import csv
import multiprocessing
import resource
import time
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path
from statistics import median

import numpy as np
from rich.console import Console
from rich.table import Table

from benchmarks.growth import plot_growth
from benchmarks.plans import DAY, HOST, SPAN, best_effort, empty_planner, fill, flavor, immediate, reservation
from benchmarks.timing import Timing
from lease_scheduler.engine.behaviour import CloudBehaviour
from lease_scheduler.engine.options import EngineOptions
from lease_scheduler.engine.outcomes import Outcomes
from lease_scheduler.engine.state import EngineState
from lease_scheduler.model.lease import Lease, LeaseRequest
from lease_scheduler.model.nodes import NodeSet
from lease_scheduler.model.resources import Resources
from lease_scheduler.model.states import LeaseState
from lease_scheduler.plan.capacity.worst_fit import Slivers, worst_fit
from lease_scheduler.plan.explaining.quote import quote
from lease_scheduler.plan.fitting.earliest_fit import place_soonest
from lease_scheduler.plan.plan import NotPlannableError
from lease_scheduler.plan.planner import Planner
from lease_scheduler.policy.base import PolicyOptions
from lease_scheduler.policy.loader import load_policy
from lease_scheduler.policy.policy_set import PolicySet
from lease_scheduler.simulation.cloud import InMemoryCloud
from lease_scheduler.simulation.recorder import RunRecorder
from lease_scheduler.simulation.store import MemoryStore

_SEED = 7
_QUEUE = 1_000
_VM_SIZES = (2, 4, 8, 16)

_COUNTS = (100, 1_000, 10_000)
_SIZES = [(hosts, leases) for hosts in _COUNTS for leases in _COUNTS]
_QUICK_SIZES = [(hosts, leases) for hosts in _COUNTS[:2] for leases in _COUNTS[:2]]

#: Host selection policies beside the default.
_SELECTIONS = ("packing", "vector-fit", "worst-fit")

#: (measure, hosts, leases) -> longest median, in milliseconds, that we aim for.
_AIMS = {
    ("reservation", 1_000, 1_000): 2.0,
    ("reservation", 10_000, 10_000): 50.0,
    ("earliest fit, 64 nodes", 10_000, 10_000): 250.0,
    ("earliest fit, 64 whole hosts", 10_000, 10_000): 250.0,
    ("worst fit of 100 slivers", 10_000, 10_000): 20.0,
}


@dataclass(frozen=True)
class _Job:
    """What one process measures: a size of plan, and how many leases came and went before."""

    hosts: int
    leases: int
    history: int
    times: int


def run(directory: Path, out: Console, *, quick: bool) -> None:
    """Measure everything, print the results, and write ``planner.csv`` and ``planner-growth.png``."""
    times = 30 if quick else 200
    jobs = [_Job(hosts, leases, 0, times) for hosts, leases in (_QUICK_SIZES if quick else _SIZES)]
    jobs.append(_Job(1_000, 1_000, 2_000 if quick else 100_000, times))
    timings: list[Timing] = []
    with multiprocessing.get_context("spawn").Pool(1, maxtasksperchild=1) as pool:
        for found in pool.imap(_measure, jobs):
            timings += found
    out.print(_table(timings))
    _write_csv(timings, directory / "planner.csv")
    plot_growth(timings, directory / "planner-growth.png")
    out.print(f"Figures and plot: {directory / 'planner.csv'}, {directory / 'planner-growth.png'}")


def _measure(job: _Job) -> list[Timing]:
    planner = empty_planner(job.hosts)
    now = _pass_history(planner, job.history)
    fill(planner, job.leases, now, _SEED)
    bench = _Bench(planner, now, np.random.default_rng(_SEED + 1))
    steps = planner.plan.availability.step_count
    fewer = max(10, job.times // 10)
    measures: list[tuple[str, Callable[[], Callable[[], None]], int]] = [("reservation", bench.reservation, job.times)]
    if not job.history:
        measures += [
            ("reservation of 64 whole hosts", bench.large_reservation, fewer),
            ("immediate", bench.immediate, job.times),
            *((f"immediate, {name}", bench.immediate_by(name), job.times) for name in _SELECTIONS),
            ("earliest fit, 64 nodes", bench.earliest_small, job.times),
            ("earliest fit, 64 whole hosts", bench.earliest_large, job.times),
            ("worst fit of 100 slivers", bench.worst_fit, job.times),
            ("quote of 70 to 100 % of the hosts", bench.most_hosts, fewer),
            (f"queue of {_QUEUE:,}, one pass", bench.queue, fewer),
            ("forget a day", bench.forget, fewer),
        ]
    timings = []
    for name, prepare, times in measures:
        spent: defaultdict[str, list[float]] = defaultdict(list)
        for _ in range(times):
            outcome, milliseconds = bench.timed(prepare())
            spent[outcome].append(milliseconds)
        for outcome, found in sorted(spent.items()):
            after = f", after {job.history:,} leases" if job.history else ""
            timings.append(
                Timing(
                    measure=name + outcome + after,
                    hosts=job.hosts,
                    leases=job.leases,
                    steps=steps,
                    decisions=len(found),
                    median_ms=median(found),
                    p95_ms=float(np.percentile(found, 95)),
                    memory_mib=resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
                    aim_ms=None if job.history else _AIMS.get((name + outcome, job.hosts, job.leases)),
                )
            )
    return timings


def _pass_history(planner: Planner, leases: int) -> int:
    """Plan, run and end a number of leases, one every 10 s for up to 5 min each.

    :return: when the last of them has ended
    """
    rng = np.random.default_rng(_SEED + 2)
    live: list[Lease] = []
    now = 0
    for number in range(leases):
        now = 10 * number
        request = reservation(f"past-{number}", _nodes(rng, 4), now + 60, 240)
        live.append(planner.place(Lease(request, number, LeaseState.PENDING), now))
        if len(live) > 30:
            ended = planner.release(live.pop(0))
            planner.plan.remove(ended.lease_id)
        planner.plan.take_changes()
        planner.plan.forget(now)
    for lease in live:
        planner.plan.remove(planner.release(lease).lease_id)
    return now + 300 if leases else 0


class _UndoneError(Exception):
    """Leaves a tentative block that was entered only to time it."""


class _Bench:
    """Decisions on one plan. Each public method draws a request and returns the function to be timed.

    That function raises ``NotPlannableError`` if the request is refused.
    """

    def __init__(self, planner: Planner, now: int, rng: np.random.Generator) -> None:
        self._planner = planner
        self._now = now
        self._rng = rng
        self._names = count()
        recorder = RunRecorder()
        self._state = EngineState(
            planner,
            PolicySet(),
            InMemoryCloud(CloudBehaviour(), {}),
            MemoryStore(),
            recorder,
            EngineOptions(),
            Outcomes(tuple),
        )

    def timed(self, decide: Callable[[], None]) -> tuple[str, float]:
        """Return the outcome of a decision, as a suffix of its name, and the milliseconds that it took."""
        plan = self._planner.plan
        plan.availability = plan.availability.unremembered()
        outcome, spent = "", 0.0
        try:
            with plan.tentative():
                began = time.perf_counter()
                try:
                    decide()
                except NotPlannableError:
                    outcome = ", refused"
                spent = time.perf_counter() - began
                raise _UndoneError
        except _UndoneError:
            return outcome, spent * 1_000

    def _placed(self, request: LeaseRequest) -> Callable[[], None]:
        """Return a complete decision: the request is planned, stored and put on the agenda."""
        lease = Lease(request, 1_000_000, LeaseState.PENDING)

        def decide() -> None:
            self._state.put(lease)
            self._planner.place(lease, self._now)
            self._state.publish(self._now)

        return decide

    def _name(self) -> str:
        return f"request-{next(self._names)}"

    def _start(self) -> int:
        return self._now + int(self._rng.integers(1, SPAN))

    def _duration(self) -> int:
        return int(self._rng.integers(3_600, DAY))

    def _whole_hosts(self) -> NodeSet:
        return NodeSet(min(64, len(self._planner.plan.site) // 2), HOST)

    def reservation(self) -> Callable[[], None]:
        return self._placed(reservation(self._name(), _nodes(self._rng, 16), self._start(), self._duration()))

    def large_reservation(self) -> Callable[[], None]:
        return self._placed(reservation(self._name(), self._whole_hosts(), self._start(), self._duration()))

    def most_hosts(self) -> Callable[[], None]:
        """Return a quote for a request that is nearly always refused; it includes the search for alternatives."""
        hosts = len(self._planner.plan.site)
        nodes = NodeSet(int(self._rng.integers(hosts * 7 // 10, hosts)), HOST)
        request = reservation(self._name(), nodes, self._start(), self._duration())

        def decide() -> None:
            found = quote(self._planner, request, 1_000_000, self._now)
            if found.refusal is not None:
                raise NotPlannableError(found.refusal.message)

        return decide

    def immediate(self) -> Callable[[], None]:
        return self._placed(immediate(self._name(), _nodes(self._rng, 16), self._duration()))

    def immediate_by(self, selection: str) -> Callable[[], Callable[[], None]]:
        """Return ``immediate`` with another host selection policy than the default."""
        policy = load_policy("host_selection", selection, PolicyOptions())
        found = replace(self._planner.context, selection=policy)

        def prepare() -> Callable[[], None]:
            decide = self.immediate()

            def decide_by_policy() -> None:
                default, self._planner.context = self._planner.context, found
                try:
                    decide()
                finally:
                    self._planner.context = default

            return decide_by_policy

        return prepare

    def earliest_small(self) -> Callable[[], None]:
        return self._earliest(NodeSet(64, _flavor(self._rng)))

    def earliest_large(self) -> Callable[[], None]:
        return self._earliest(self._whole_hosts())

    def _earliest(self, nodes: NodeSet) -> Callable[[], None]:
        lease = Lease(best_effort(self._name(), nodes, self._duration(), preemptible=False), 1_000_000)
        earliest = self._now + int(self._rng.integers(1, SPAN // 2))

        def decide() -> None:
            if place_soonest(self._planner.context, lease, earliest, may_wait=True) is None:
                raise NotPlannableError("no place at all")

        return decide

    def worst_fit(self) -> Callable[[], None]:
        """Return a search for 50 to 100 slivers of half to all of a flavor, in all classes of the site."""
        plan = self._planner.plan
        nodes = NodeSet(100, _flavor(self._rng))
        largest = plan.demands(reservation(self._name(), nodes, 0, 1))[0].amounts
        wanted = Slivers(50, 100, (largest + 1) // 2, largest)
        start = self._start()
        end = start + self._duration()

        def decide() -> None:
            if worst_fit(plan.availability.free(start, end), wanted, capacity=plan.availability.capacity) is None:
                raise NotPlannableError("too few slivers fit")

        return decide

    def queue(self) -> Callable[[], None]:
        waiting = [
            Lease(
                best_effort(self._name(), _nodes(self._rng, 64), self._duration(), preemptible=True),
                1_000_000 + number,
                LeaseState.QUEUED,
            )
            for number in range(_QUEUE)
        ]

        def decide() -> None:
            self._planner.plan.put_all(waiting)
            self._planner.process_queue(self._now)

        return decide

    def forget(self) -> Callable[[], None]:
        availability = self._planner.plan.availability

        def decide() -> None:
            availability.forgotten(self._now + DAY)

        return decide


def _flavor(rng: np.random.Generator) -> Resources:
    return flavor(_VM_SIZES[int(rng.integers(len(_VM_SIZES)))])


def _nodes(rng: np.random.Generator, most: int) -> NodeSet:
    return NodeSet(int(rng.integers(1, most + 1)), _flavor(rng))


def _table(timings: list[Timing]) -> Table:
    table = Table(title="Planner, milliseconds a decision", title_justify="left")
    for heading in ("measure", "hosts", "live leases", "steps", "decisions", "median", "p95", "aim", "memory, MiB"):
        table.add_column(heading, justify="left" if heading == "measure" else "right")
    for timing in timings:
        aim = "" if timing.aim_ms is None else f"<= {timing.aim_ms:g}"
        sizes = (f"{n:,}" for n in (timing.hosts, timing.leases, timing.steps, timing.decisions))
        figures = (f"{timing.median_ms:.2f}", f"{timing.p95_ms:.2f}", aim, f"{timing.memory_mib:.0f}")
        table.add_row(timing.measure, *sizes, *figures)
    return table


def _write_csv(timings: list[Timing], path: Path) -> None:
    with path.open("w", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(
            ("measure", "hosts", "leases", "steps", "decisions", "median_ms", "p95_ms", "aim_ms", "memory_mib")
        )
        for t in timings:
            figures = (f"{t.median_ms:.3f}", f"{t.p95_ms:.3f}", t.aim_ms or "", f"{t.memory_mib:.0f}")
            writer.writerow((t.measure, t.hosts, t.leases, t.steps, t.decisions, *figures))
