"""Host-hours that consolidation saves on recorded private clouds; not in the dissertation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from rich.console import Console

from lease_scheduler.papers.checks import Check
from lease_scheduler.papers.data_folder import data_folder, left_out
from lease_scheduler.papers.dfrs.consolidation import CLOUDS, POLICIES, ConsolidationCase
from lease_scheduler.papers.extent import Extent
from lease_scheduler.papers.replications import FIRST_SEED, DefaultSeeds, Replication
from lease_scheduler.papers.report import write_report
from lease_scheduler.simulation.campaigns.case import Case, Outcome

#: Nothing is random.
SEEDS = DefaultSeeds(1)
#: Share of the hours awake that moves have to save.
_LEAST_SAVED = 0.15


def cases(*, extent: Extent, seed: int = FIRST_SEED) -> list[Case]:
    """Return all runs; see ``paper.Chapter``."""
    return [ConsolidationCase(cloud, *policies) for cloud in _clouds() for policies in POLICIES]


def report(
    outcomes: Mapping[str, Outcome], directory: Path, *, replications: Sequence[Replication], console: Console
) -> int:
    """Print every check, and write CSV files; see ``paper.Chapter``.

    Moves save at least 15 % of the hours that hosts are awake with the same host selection and without moves, no fewer
    requests are accepted, and no reservation is late.
    """
    outside = write_report(_checks, cases, replications, outcomes, directory, console, left_out("all runs"))
    console.print(f"Tables and single runs are in {directory}")
    return outside


def _checks(outcomes: Mapping[str, Outcome], *, extent: Extent, seed: int) -> dict[str, list[Check]]:
    groups = {}
    for cloud in _clouds():
        found = {policies: outcomes[ConsolidationCase(cloud, *policies).name] for policies in POLICIES}
        base, base_name = found[POLICIES[0]], POLICIES[0][0]
        checks: list[Check] = []
        for (selection, relocation), each in found.items():
            is_moving = relocation != "none"
            who = f"{selection}, {relocation}" if is_moving else selection
            still = found[selection, "none"]["awake_h"]
            saved, by_moves = (1 - each["awake_h"] / hours for hours in (base["awake_h"], still))
            note = f"{each['awake_h']:,.0f} h awake, {each['moved']} moves"
            checks.append(Check(f"{who}: hours saved, against {base_name}", None, (saved,), None, None, note))
            if is_moving:
                checks.append(
                    Check(f"{who}: hours saved by moves, against {selection}", None, (by_moves,), _LEAST_SAVED, None)
                )
            checks += [
                Check(f"{who}: accepted", None, (each["accepted"],), base["accepted"], None),
                Check(f"{who}: late", None, (each["late"],), None, 0),
            ]
        groups[f"{cloud}: hosts that sleep"] = checks
    return groups


def _clouds() -> tuple[str, ...]:
    return CLOUDS if data_folder() is not None else ()
