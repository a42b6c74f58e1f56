"""The first week of the recorded month with the reservations of T20, through the engine on a simulated clock."""

from __future__ import annotations

from dataclasses import replace

from benchmarks.counted_work.calls import calls_of
from lease_scheduler.simulation.injection import inject
from lease_scheduler.simulation.result import RunResult
from lease_scheduler.simulation.run import Run
from lease_scheduler.simulation.settings import RunSettings
from lease_scheduler.simulation.shipped import load_workload

_WEEK = 7 * 86_400


def count(until: int = _WEEK) -> dict[str, int]:
    """Count the calls of the run, and its leases by outcome.

    :param until: instant from which on no requests are submitted
    """
    workload = inject(load_workload("blue1"), load_workload("t20"))
    leases = tuple(lease for lease in workload.leases if lease.request.submitted < until)
    run = Run(replace(workload, leases=leases), RunSettings())
    results: list[RunResult] = []
    found = calls_of(lambda: results.append(run.execute()))
    for lease in results[0].leases:
        name = f"leases {lease.state.value}"
        found[name] = found.get(name, 0) + 1
    return found | {f"counter {name}": value for name, value in results[0].counters.items()}
