"""What backfilling gains if it knows how long leases run; not in the dissertation, which has no queue."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from rich.console import Console

from lease_scheduler.papers.checks import Check
from lease_scheduler.papers.data_folder import data_folder, left_out
from lease_scheduler.papers.extent import Extent
from lease_scheduler.papers.prediction.durations import LOGS, POLICIES, DurationCase
from lease_scheduler.papers.replications import FIRST_SEED, DefaultSeeds, Replication
from lease_scheduler.papers.report import write_report
from lease_scheduler.simulation.campaigns.case import Case, Outcome

#: Nothing is random.
SEEDS = DefaultSeeds(1)
_RECORDED = ", ".join(LOGS)


def cases(*, extent: Extent, seed: int = FIRST_SEED) -> list[Case]:
    """Return all runs; see ``paper.Chapter``."""
    return [DurationCase(log, policy) for log in _logs() for policy in POLICIES]


def report(
    outcomes: Mapping[str, Outcome], directory: Path, *, replications: Sequence[Replication], console: Console
) -> int:
    """Print every figure, and write CSV files; see ``paper.Chapter``. There are no bands."""
    outside = write_report(_checks, cases, replications, outcomes, directory, console, left_out(_RECORDED))
    console.print(f"Tables and single runs are in {directory}")
    return outside


def _checks(outcomes: Mapping[str, Outcome], *, extent: Extent, seed: int) -> dict[str, list[Check]]:
    groups = {}
    for log in _logs():
        found = {policy: outcomes[DurationCase(log, policy).name] for policy in POLICIES}
        believed = found["requested"]["slowdown"]
        groups[f"{log}: mean bounded slowdown"] = [
            Check(policy, None, (each["slowdown"],), None, None, f"{each['slowdown'] / believed - 1:+.1%}")
            for policy, each in found.items()
        ]
    return groups


def _logs() -> list[str]:
    return ["BLUE1", *(LOGS if data_folder() is not None else [])]
