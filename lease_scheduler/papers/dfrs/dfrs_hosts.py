"""Whole hosts that stay free on a cloud of mixed flavors; not in the dissertation, whose packings are off-line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import inf, nextafter
from pathlib import Path

from rich.console import Console

from lease_scheduler.papers.checks import Check
from lease_scheduler.papers.data_folder import data_folder, left_out
from lease_scheduler.papers.dfrs.azure_hosts import SELECTIONS, SHAPES, AzureHostsCase
from lease_scheduler.papers.extent import Extent
from lease_scheduler.papers.replications import FIRST_SEED, DefaultSeeds, Replication
from lease_scheduler.papers.report import write_report
from lease_scheduler.simulation.campaigns.case import Case, Outcome

SEEDS = DefaultSeeds(1)


def cases(*, extent: Extent, seed: int = FIRST_SEED) -> list[Case]:
    """Return all runs; see ``paper.Chapter``."""
    return [AzureHostsCase(shape, selection, seed) for shape in _shapes(extent) for selection in SELECTIONS]


def report(
    outcomes: Mapping[str, Outcome], directory: Path, *, replications: Sequence[Replication], console: Console
) -> int:
    """Print every figure, and write CSV files; see ``paper.Chapter``.

    With ``vector-fit``, more hosts must stay free than with either of the other policies. It must accept at least as
    many requests as the other policy that accepts fewest.
    """
    outside = write_report(_checks, cases, replications, outcomes, directory, console, left_out("all runs"))
    console.print(f"Tables and single runs are in {directory}")
    return outside


def _checks(outcomes: Mapping[str, Outcome], *, extent: Extent, seed: int) -> dict[str, list[Check]]:
    groups = {}
    for shape in _shapes(extent):
        found = {selection: outcomes[AzureHostsCase(shape, selection, seed).name] for selection in SELECTIONS}
        others = [each for selection, each in found.items() if selection != "vector-fit"]
        most = max(each["free_hosts"] for each in others)
        packed = found["packing"]["free_hosts"]
        title = f"Azure on {shape}: mean number of hosts without leases"
        groups[title] = [
            Check(
                selection,
                None,
                (each["free_hosts"],),
                nextafter(most, inf) if selection == "vector-fit" else None,
                None,
                f"{each['free_hosts'] / packed - 1:+.1%}, {each['accepted']:.2%} accepted" if packed else "",
            )
            for selection, each in found.items()
        ]
        accepted, least = found["vector-fit"]["accepted"], min(each["accepted"] for each in others)
        groups[title].append(Check("vector-fit: accepted, %", None, (100 * accepted,), 100 * least, None))
    return groups


def _shapes(extent: Extent) -> list[str]:
    if data_folder() is None:
        return []
    return [name for name, shape in SHAPES.items() if extent.is_whole or shape.sample < 1]
