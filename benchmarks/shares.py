"""Shares of a thousand flows on ten thousand hosts, with the queueing policy alone."""

from __future__ import annotations

import time

from rich.console import Console
from rich.table import Table

from lease_scheduler.policy.queueing.winks.shares import WinksOptions
from lease_scheduler.simulation.generators.flows import FlowLoad
from lease_scheduler.simulation.shares.run import SharesRun

_AIM = 20.0


def run(out: Console, *, quick: bool) -> None:
    """Time months of 1,000 flows on 10,000 hosts (a tenth of the flows and hosts if quick)."""
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
