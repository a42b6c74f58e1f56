"""One decision of the planner on plans of many sizes.

A plan holds reservations of 1 to 16 nodes of different sizes on hosts of 32 cores, spread over four weeks, so that
hosts
are shared by several leases and about half full. Decisions are timed with the garbage collector on, over requests that
all differ; each of them is undone, so that every one meets the same plan.
"""

from __future__ import annotations

import csv
import resource
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from statistics import median, quantiles

import numpy as np
from matplotlib.figure import Figure
from rich.console import Console
from rich.table import Table

from lease_scheduler.model.host import Site
from lease_scheduler.model.lease import Lease, LeaseKind, LeaseRequest, NodeSet
from lease_scheduler.model.reservation import Reservation
from lease_scheduler.model.resources import DISK_GB, MEMORY_MB, VCPU, Resources
from lease_scheduler.model.states import LeaseState
from lease_scheduler.plan.options import PlanningOptions
from lease_scheduler.plan.plan import NotPlannableError
from lease_scheduler.plan.planner import Planner
from lease_scheduler.plan.soonest import place_soonest
from lease_scheduler.policy.base import PolicyOptions
from lease_scheduler.policy.loader import load_host_selection, load_preemption

_HOST = Resources({VCPU: 32, MEMORY_MB: 131_072, DISK_GB: 1_000})
_FLAVORS = [Resources({VCPU: n, MEMORY_MB: n * 4_096, DISK_GB: n * 20}) for n in (2, 4, 8, 16)]
_SPAN = 28 * 86_400
_SEED = 7

_SIZES = [(100, 100), (1_000, 100), (100, 1_000), (1_000, 1_000), (10_000, 1_000), (1_000, 10_000), (10_000, 10_000)]
_QUICK_SIZES = [(100, 100), (1_000, 1_000)]

#: (measure, hosts, leases) -> most milliseconds that we want it to take.
_AIMS = {
    ("reservation", 1_000, 1_000): 2.0,
    ("reservation", 10_000, 10_000): 50.0,
    ("earliest fit, 64 nodes", 10_000, 10_000): 250.0,
}


@dataclass(frozen=True)
class Timing:
    """Milliseconds of one kind of decision on one size of plan."""

    measure: str
    hosts: int
    leases: int
    steps: int
    median_ms: float
    p95_ms: float

    @property
    def aim_ms(self) -> float | None:
        return _AIMS.get((self.measure, self.hosts, self.leases))


def run(directory: Path, out: Console, *, quick: bool) -> None:
    timings = [
        timing
        for hosts, leases in (_QUICK_SIZES if quick else _SIZES)
        for timing in _time_plan(hosts, leases, quick=quick)
    ]
    history = 2_000 if quick else 100_000
    timings += _time_after_history(history)
    table = Table(title="Planner, milliseconds a decision", title_justify="left")
    for heading in ("measure", "hosts", "live leases", "steps", "median", "p95", "aim"):
        table.add_column(heading, justify="left" if heading == "measure" else "right")
    for timing in timings:
        aim = "" if timing.aim_ms is None else f"<= {timing.aim_ms:g}"
        row = (timing.hosts, timing.leases, timing.steps)
        table.add_row(timing.measure, *(f"{n:,}" for n in row), f"{timing.median_ms:.2f}", f"{timing.p95_ms:.2f}", aim)
    out.print(table)
    rss = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    out.print(f"largest resident memory of all of this: {rss:,.0f} MiB")
    _write_csv(timings, directory / "planner.csv")
    _plot(timings, directory / "planner-growth.png")
    out.print(f"Figures and plot: {directory / 'planner.csv'}, {directory / 'planner-growth.png'}")


def _time_plan(hosts: int, leases: int, *, quick: bool) -> Iterator[Timing]:
    planner = _filled_planner(hosts, leases)
    steps = planner.plan.availability.step_count
    rng = np.random.default_rng(_SEED + 1)
    few = 20 if quick or hosts * leases > 10_000_000 else 200
    names = count()

    def reservation() -> None:
        start = int(rng.integers(1, _SPAN))
        _undone(planner, _pending(f"r{next(names)}", LeaseKind.RESERVATION, _nodes(rng, 16), 7_200, start))

    def refused() -> None:
        start = int(rng.integers(1, _SPAN))
        whole = NodeSet(hosts, _HOST)
        _undone(planner, _pending(f"x{next(names)}", LeaseKind.RESERVATION, whole, 7_200, start))

    def earliest() -> None:
        flavor = _FLAVORS[int(rng.integers(len(_FLAVORS)))]
        duration = int(rng.integers(3_600, 86_400))
        request = _request(f"e{next(names)}", LeaseKind.BEST_EFFORT, NodeSet(64, flavor), duration, None)
        if place_soonest(planner.context, Lease(request, 0), 0, may_wait=True) is None:
            raise RuntimeError("a place was expected")

    def earliest_whole() -> None:
        duration = int(rng.integers(3_600, 86_400))
        nodes = NodeSet(min(64, hosts // 2), _HOST)
        request = _request(f"w{next(names)}", LeaseKind.BEST_EFFORT, nodes, duration, None)
        if place_soonest(planner.context, Lease(request, 0), 0, may_wait=True) is None:
            raise RuntimeError("a place was expected")

    yield _timed("reservation", planner, hosts, leases, steps, reservation, few)
    yield _timed("reservation, refused", planner, hosts, leases, steps, refused, few)
    yield _timed("earliest fit, 64 nodes", planner, hosts, leases, steps, earliest, max(10, few // 5))
    yield _timed("earliest fit, whole hosts", planner, hosts, leases, steps, earliest_whole, max(10, few // 5))


def _time_after_history(history: int) -> Iterator[Timing]:
    """The same decision on 1,000 x 1,000 after many leases have come and gone."""
    hosts = leases = 1_000
    planner = _filled_planner(hosts, leases)
    rng = np.random.default_rng(_SEED + 2)
    # What is live stays where it is; what comes and goes lies in the past of it.
    for number in range(history):
        lease = _pending(f"h{number}", LeaseKind.RESERVATION, _nodes(rng, 4), 60, number % 1_000)
        planner.plan.put(lease)
        try:
            placed = planner.place(lease, 0)
        except NotPlannableError:
            placed = lease
        planner.release(placed)
        planner.plan.remove(lease.lease_id)
    planner.plan.take_changes()
    names = count()

    def reservation() -> None:
        start = int(rng.integers(1, _SPAN))
        _undone(planner, _pending(f"r{next(names)}", LeaseKind.RESERVATION, _nodes(rng, 16), 7_200, start))

    steps = planner.plan.availability.step_count
    yield _timed(f"reservation, after {history:,} leases", planner, hosts, leases, steps, reservation, 200)


def _timed(
    measure: str, planner: Planner, hosts: int, leases: int, steps: int, decide: Callable[[], None], times: int
) -> Timing:
    decide()
    spent = []
    for _ in range(times):
        # What availability remembers of the last question must not help with the next one.
        planner.plan.availability = planner.plan.availability.unremembered()
        began = time.perf_counter()
        decide()
        spent.append((time.perf_counter() - began) * 1_000)
    return Timing(measure, hosts, leases, steps, median(spent), quantiles(spent, n=20)[-1])


def _undone(planner: Planner, lease: Lease) -> None:
    """Decide on a lease with everything that belongs to it, and take the decision back (which costs nothing)."""
    try:
        with planner.plan.tentative():
            planner.plan.put(lease)
            planner.place(lease, 0)
            raise NotPlannableError("only to see how long it takes")
    except NotPlannableError:
        planner.plan.forget_lease(lease.lease_id)


def _filled_planner(hosts: int, leases: int) -> Planner:
    options = PolicyOptions()
    planner = Planner(
        Site.homogeneous(hosts, _HOST),
        PlanningOptions(),
        load_host_selection("greedy", options),
        load_preemption("by-kind", options),
        deadline_preemption=True,
    )
    rng = np.random.default_rng(_SEED)
    filled = []
    for number in range(leases):
        flavor = _FLAVORS[int(rng.integers(len(_FLAVORS)))]
        nodes = int(rng.integers(1, 17))
        start = int(rng.integers(0, _SPAN))
        end = start + int(rng.integers(600, 86_400))
        chosen = tuple(int(host) for host in rng.choice(hosts, size=min(nodes, hosts), replace=False))
        request = _request(f"l{number}", LeaseKind.RESERVATION, NodeSet(len(chosen), flavor), end - start, start)
        held = (Reservation(chosen, start, start, end, end),)
        filled.append(Lease(request, number, LeaseState.READY, reservations=held))
    planner.plan.put_all(filled)
    planner.plan.take_changes()
    return planner


def _nodes(rng: np.random.Generator, most: int) -> NodeSet:
    return NodeSet(int(rng.integers(1, most + 1)), _FLAVORS[int(rng.integers(len(_FLAVORS)))])


def _request(name: str, kind: LeaseKind, nodes: NodeSet, duration: int, start: int | None) -> LeaseRequest:
    return LeaseRequest(name, kind, (nodes,), 0, duration=duration, start=start, preemptible=start is None)


def _pending(name: str, kind: LeaseKind, nodes: NodeSet, duration: int, start: int) -> Lease:
    return Lease(_request(name, kind, nodes, duration, start), 1_000_000, LeaseState.PENDING)


def _write_csv(timings: list[Timing], path: Path) -> None:
    with path.open("w", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(("measure", "hosts", "leases", "steps", "median_ms", "p95_ms", "aim_ms"))
        for t in timings:
            figures = (f"{t.median_ms:.3f}", f"{t.p95_ms:.3f}")
            writer.writerow((t.measure, t.hosts, t.leases, t.steps, *figures, t.aim_ms or ""))


def _plot(timings: list[Timing], path: Path) -> None:
    """Median over the number of live leases and over the number of hosts, both axes logarithmic."""
    figure = Figure(figsize=(11, 4.5), layout="constrained")
    over_leases, over_hosts = figure.subplots(1, 2, sharey=True)
    colours = {"reservation": "#0072B2", "earliest fit, 64 nodes": "#D55E00"}
    for measure, colour in colours.items():
        mine = [t for t in timings if t.measure == measure]
        for hosts, marker in ((100, "o"), (1_000, "s"), (10_000, "^")):
            line = sorted((t.leases, t.median_ms) for t in mine if t.hosts == hosts)
            over_leases.plot(*zip(*line, strict=True), color=colour, marker=marker, label=f"{measure}; {hosts:,} hosts")
        for leases, marker in ((100, "o"), (1_000, "s"), (10_000, "^")):
            line = sorted((t.hosts, t.median_ms) for t in mine if t.leases == leases)
            over_hosts.plot(
                *zip(*line, strict=True), color=colour, marker=marker, label=f"{measure}; {leases:,} leases"
            )
    for axes, what in ((over_leases, "live leases"), (over_hosts, "hosts")):
        axes.set(xscale="log", yscale="log", xlabel=what)
        axes.grid(alpha=0.3)
        axes.legend(fontsize=8)
    over_leases.set_ylabel("median of one decision (ms)")
    figure.savefig(path, dpi=130)
