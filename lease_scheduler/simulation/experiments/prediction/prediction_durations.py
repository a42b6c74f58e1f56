"""What backfilling gains if it knows how long leases run; not in the dissertation, which has no queue."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from rich.console import Console

from lease_scheduler.simulation.campaigns.case import Case, Outcome
from lease_scheduler.simulation.experiments.checks import Check
from lease_scheduler.simulation.experiments.data_folder import data_folder
from lease_scheduler.simulation.experiments.extent import Extent
from lease_scheduler.simulation.experiments.prediction.durations import LOGS, POLICIES, DurationCase
from lease_scheduler.simulation.experiments.report import write_report

_LEFT_OUT = f"Left out, as LEASE_SCHEDULER_DATA names no folder: {', '.join(LOGS)}."


def cases(*, extent: Extent) -> list[Case]:
    """Return all runs; see ``paper.Chapter``."""
    return [DurationCase(log, policy) for log in _logs() for policy in POLICIES]


def report(outcomes: Mapping[str, Outcome], directory: Path, *, extent: Extent, console: Console) -> int:
    """Print every figure, and write CSV files; see ``paper.Chapter``. There are no bands."""
    groups = {}
    for log in _logs():
        found = {policy: outcomes[DurationCase(log, policy).name] for policy in POLICIES}
        believed = found["requested"]["slowdown"]
        groups[f"{log}: mean bounded slowdown"] = [
            Check(policy, None, (each["slowdown"],), None, None, f"{each['slowdown'] / believed - 1:+.1%}")
            for policy, each in found.items()
        ]
    left_out = "" if data_folder() is not None else _LEFT_OUT
    outside = write_report(groups, cases(extent=extent), outcomes, directory, console, left_out)
    console.print(f"Tables and single runs are in {directory}")
    return outside


def _logs() -> list[str]:
    return ["BLUE1", *(LOGS if data_folder() is not None else [])]
