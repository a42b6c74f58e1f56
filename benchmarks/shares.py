"""Shares of a thousand flows on ten thousand hosts, with the queueing policy alone, and leases that start at once."""

from __future__ import annotations

import time

from rich.console import Console
from rich.table import Table

from benchmarks.plans import best_effort, empty_planner, flavor
from lease_scheduler.model.lease import Lease, NodeSet
from lease_scheduler.model.states import LeaseState
from lease_scheduler.policy.queueing.winks.shares import WinksOptions
from lease_scheduler.simulation.generators.flows import FlowLoad
from lease_scheduler.simulation.shares.run import SharesRun

_AIM, _AIM_ALIKE = 20.0, 1.0


def run(out: Console, *, quick: bool) -> None:
    """Time months of 1,000 flows on 10,000 hosts, and 10,000 starts at one instant (a tenth of all that if quick)."""
    _months(out, quick=quick)
    _alike_starts(out, 1_000 if quick else 10_000)


def _months(out: Console, *, quick: bool) -> None:
    count, hosts = (100, 1_000) if quick else (1_000, 10_000)
    table = Table(title=f"Shares: {count:,} flows, {hosts:,} hosts, 4,000 ticks", title_justify="left")
    for heading in ("wide flows", "efficiency", "processor time, s", "aim"):
        table.add_column(heading, justify="right")
    for wide in (0, 30):
        loads = [
            FlowLoad(
                f"flow {number}",
                1 / count,
                (10, 200),
                (4, 64) if number % 100 < wide else None,
                load=1.5 / count,
            )
            for number in range(count)
        ]
        bound = hosts * 20_000 // (count * 10)
        study = SharesRun(loads, hosts, 4_000, WinksOptions(200 if wide else 0, debt=True), bound=bound)
        begun = time.process_time()
        result = study.execute()
        seconds = time.process_time() - begun
        table.add_row(f"{wide} %", f"{result.efficiency():.1%}", f"{seconds:.1f}", "" if quick else f"<= {_AIM:.0f}")
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
        assert planner.plan.queue_is_empty
        table.add_row(str(vcpus), f"{hosts:,}", f"{seconds:.2f}", f"<= {_AIM_ALIKE:.0f}" if count == 10_000 else "")
    out.print(table)
