"""Shares of a thousand flows on ten thousand hosts, with the queueing policy alone; starts at once; long queues."""

from __future__ import annotations

import time
from dataclasses import replace
from statistics import median

import numpy as np
from rich.console import Console
from rich.table import Table

from benchmarks.plans import DAY, best_effort, empty_planner, flavor
from lease_scheduler.engine.outcomes import outcomes_of
from lease_scheduler.model.holding import Holding
from lease_scheduler.model.lease import Lease
from lease_scheduler.model.nodes import NodeSet
from lease_scheduler.model.states import LeaseState
from lease_scheduler.plan.options import PlanningOptions, Suspension
from lease_scheduler.policy.base import PolicyOptions
from lease_scheduler.policy.outcomes import Outcome
from lease_scheduler.policy.queueing.winks.policy import Winks
from lease_scheduler.policy.queueing.winks.shares import WinksOptions
from lease_scheduler.simulation.generators.flows import FlowLoad
from lease_scheduler.simulation.run import Run
from lease_scheduler.simulation.settings import RunSettings
from lease_scheduler.simulation.shares.run import SharesRun
from lease_scheduler.simulation.shares.workload import as_workload

_AIM, _AIM_ALIKE, _AIM_ROUND_MS = 20.0, 1.0, 100.0
_AIM_ENGINE, _AIM_ENGINE_MIB = 600.0, 1_024
_TICKS = 4_000
_SEED = 19
_ROUNDS = 20


def run(out: Console, *, quick: bool) -> None:
    """Time months of 1,000 flows on 10,000 hosts, 10,000 starts at one instant, and rounds over 10,000 queued leases.

    If quick, all of that is a tenth.
    """
    _months(out, quick=quick)
    _months_through_the_engine(out, quick=quick)
    _alike_starts(out, 1_000 if quick else 10_000)
    _rounds(out, 1_000 if quick else 10_000)


def _months(out: Console, *, quick: bool) -> None:
    count, hosts = (100, 1_000) if quick else (1_000, 10_000)
    table = Table(title=f"Shares: {count:,} flows, {hosts:,} hosts, {_TICKS:,} ticks", title_justify="left")
    for heading in ("wide flows", "efficiency", "processor time, s", "aim"):
        table.add_column(heading, justify="right")
    for wide in (0, 30):
        study = _study(count, hosts, wide, bound=2_000)
        begun = time.process_time()
        result = study.execute()
        seconds = time.process_time() - begun
        table.add_row(f"{wide} %", f"{result.efficiency():.1%}", f"{seconds:.1f}", "" if quick else f"<= {_AIM:.0f}")
    out.print(table)


def _study(count: int, hosts: int, wide: int, *, bound: int) -> SharesRun:
    """Return a run of the policy alone.

    :param count: number of flows
    :param wide: how many of a hundred flows have wide requests
    :param bound: cost of the queued requests of a flow up to which it takes more, in ticks of its share
    """
    loads = [
        FlowLoad(f"flow {number}", 1 / count, (10, 200), (4, 64) if number % 100 < wide else None, load=1.5 / count)
        for number in range(count)
    ]
    return SharesRun(loads, hosts, _TICKS, WinksOptions(200 if wide else 0, debt=True), bound=bound * hosts // count)


def _months_through_the_engine(out: Console, *, quick: bool) -> None:
    """Time the same months through the whole engine, from the submission of each lease to its end.

    Queues are shorter than with the policy alone, as what waits at the end has to run, too: each flow has work for 500
    ticks of its share.
    """
    count, hosts = (100, 1_000) if quick else (1_000, 10_000)
    table = Table(title=f"Through the engine: {count:,} flows, {hosts:,} hosts, {_TICKS:,} ticks", title_justify="left")
    for heading in ("wide flows", "leases", "efficiency", "largest difference of a share", "processor time, s", "MiB"):
        table.add_column(heading, justify="right")
    for wide in (0, 30):
        alone = _study(count, hosts, wide, bound=500).execute()
        workload, shares = as_workload(alone), alone.shares()
        del alone
        settings = RunSettings(
            policies={"queueing": "winks"},
            planning=PlanningOptions(backfilling_limit=None, suspension=Suspension.NONE),
            policy_options={"winks_window": str(200 if wide else 0)},
        )
        begun = time.process_time()
        result = Run(workload, settings).execute()
        seconds = time.process_time() - begun
        used = dict.fromkeys(shares, 0)
        for lease in result.leases:
            assert lease.request.user is not None and lease.started is not None and lease.ended is not None
            ran = max(0, min(lease.ended, _TICKS) - lease.started)
            used[lease.request.user] += lease.request.node_count * ran
        total = sum(used.values())
        table.add_row(
            f"{wide} %",
            f"{len(result.leases):,}",
            f"{total / (hosts * _TICKS):.1%}",
            f"{100 * max(abs(used[name] / total - share) for name, share in shares.items()):.3f} points",
            f"{seconds:.0f}{'' if quick else f' (aim {_AIM_ENGINE:.0f})'}",
            f"{result.peak_rss_bytes / 2**20:.0f}{'' if quick else f' (aim {_AIM_ENGINE_MIB:,})'}",
        )
        del workload, result
    out.print(table)


def _alike_starts(out: Console, count: int) -> None:
    """Time one pass over a queue of alike leases that all start at once."""
    table = Table(title=f"{count:,} alike leases that start at one instant", title_justify="left")
    for heading in ("VCPUs of 32", "hosts", "processor time, s", "aim"):
        table.add_column(heading, justify="right")
    for vcpus in (32, 8):
        hosts = count * vcpus // 32
        planner = empty_planner(hosts)
        for number in range(count):
            request = best_effort(f"lease {number}", NodeSet(1, flavor(vcpus)), 3_600, preemptible=True)
            planner.enqueue(Lease(request, number, LeaseState.PENDING))
        begun = time.process_time()
        planner.process_queue(0)
        seconds = time.process_time() - begun
        assert not planner.plan.queue
        table.add_row(str(vcpus), f"{hosts:,}", f"{seconds:.2f}", f"<= {_AIM_ALIKE:.0f}" if count == 10_000 else "")
    out.print(table)


def _rounds(out: Console, queued: int) -> None:
    """Time passes over a queue on a full site, each after one host has become free.

    In the last rows, ten flows hold all hosts, and the least run is over for all of their leases: the first pass gives
    the others their shares at once.
    """
    hosts = queued // 10
    table = Table(title=f"Rounds over {queued:,} queued leases, {hosts:,} hosts", title_justify="left")
    for heading in ("policy", "flows", "median, ms", "longest, ms", "aim"):
        table.add_column(heading, justify="right")
    for title, options, numbers in (
        ("fifo", None, (10, 1_000)),
        ("winks", {}, (10, 1_000)),
        ("winks, window", {"winks_window": str(DAY)}, (10, 1_000)),
        ("winks, suspends for shares", {"winks_preempt_after": "10"}, (10, 1_000)),
        ("winks, suspends for shares, ten have all", {"winks_preempt_after": "5000"}, (1_000,)),
    ):
        for flows in numbers:
            times = sorted(_round_times(queued, hosts, flows, options, ten_have_all=title.endswith("ten have all")))
            aim = f"<= {_AIM_ROUND_MS:.0f}" if queued == 10_000 else ""
            table.add_row(title, f"{flows:,}", f"{median(times):.1f}", f"{times[-1]:.1f}", aim)
    out.print(table)


def _round_times(
    queued: int, hosts: int, flows: int, options: dict[str, str] | None, *, ten_have_all: bool = False
) -> list[float]:
    """Return the processor time of each round, in milliseconds.

    :param ten_have_all: whether all that runs is of ten flows, and has run for long enough to be suspended
    """
    random = np.random.default_rng(_SEED)
    policy = None if options is None else Winks(PolicyOptions(options))
    planner = empty_planner(hosts, queueing=policy)
    planner.brief_queueing()
    whole = flavor(32)

    first = 6_000 if ten_have_all else 1

    def lease(number: int, nodes: int, state: LeaseState) -> Lease:
        hours, of_ten = int(random.integers(1, 9)), ten_have_all and state is LeaseState.ACTIVE
        if of_ten:
            hours += 11
        request = best_effort(f"lease {number}", NodeSet(nodes, whole), hours * 3_600, preemptible=True)
        return Lease(replace(request, user=f"flow {random.integers(10 if of_ten else flows)}"), number, state)

    running = []
    for host in range(hosts):
        placed = lease(host, 1, LeaseState.ACTIVE)
        end = placed.request.duration
        running.append(replace(placed, started=0, active_since=0, holdings=(Holding((host,), 0, 0, end, end),)))
        planner.plan.put(running[-1])
        if policy is not None:
            policy.observe(Outcome.PLACED, running[-1], None, 0)
    for number in range(queued):
        waiting = planner.enqueue(lease(hosts + number, int(random.choice([1, 1, 1, 2, 4, 8])), LeaseState.PENDING))
        if policy is not None:
            policy.observe(Outcome.QUEUED, waiting, None, 0)
    found = []
    for number in range(_ROUNDS):
        now = first + number
        running_still = planner.plan.leases[running[number].lease_id]
        planner.plan.put(replace(running_still.to(LeaseState.DONE), holdings=(), active_since=None))
        planner.plan.pass_to(now)
        begun = time.process_time()
        planner.process_queue(now)
        found.append(1_000 * (time.process_time() - begun))
        changed = [(before, after) for before, after in planner.plan.take_changes() if before is not None]
        for before, after in changed:
            if policy is not None:
                for outcome in outcomes_of(before, after):
                    policy.observe(outcome, after, before, now)
    return found
