"""Lifetimes on a trace of Azure; not in the dissertation, whose traces are of private clouds in 2013."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from rich.console import Console

from lease_scheduler.papers.checks import Check
from lease_scheduler.papers.data_folder import data_folder, left_out
from lease_scheduler.papers.extent import Extent
from lease_scheduler.papers.prediction.azure_cases import (
    AZURE_PROMISES,
    CLOUDS,
    QUANTILES,
    AzureLivesCase,
    AzureTierCase,
)
from lease_scheduler.papers.prediction.azure_causes import (
    LIVES_CAUSES,
    PROMISE,
    QUANTILE,
    AzureCauseCase,
    AzureLivesCauseCase,
    Levels,
    tier_causes,
)
from lease_scheduler.papers.replications import FIRST_SEED, DefaultSeeds, Replication
from lease_scheduler.papers.report import write_report
from lease_scheduler.simulation.campaigns.case import Case, Outcome

#: With few seeds, the share that is preempted depends on the few instants at which many VMs are.
SEEDS = DefaultSeeds(6)
#: Promise, and whether levels are pooled.
_KINDS = [(each, False) for each in AZURE_PROMISES] + [(each, True) for each in AZURE_PROMISES if each]
_RECORDED = "all runs"


def cases(*, extent: Extent, seed: int = FIRST_SEED) -> list[Case]:
    """Return all runs; see ``paper.Chapter``."""
    if data_folder() is None:
        return []
    bounds = [AzureLivesCase(quantile, of_batches) for of_batches in (False, True) for quantile in QUANTILES]
    tiers = [AzureTierCase(cloud, promise, seed, pools) for cloud in CLOUDS for promise, pools in _KINDS]
    return [*bounds, *tiers, *LIVES_CAUSES, *tier_causes((seed,))]


def report(
    outcomes: Mapping[str, Outcome], directory: Path, *, replications: Sequence[Replication], console: Console
) -> int:
    """Print every check, and write CSV files; see ``paper.Chapter``.

    A bound must hold for its share of the VMs, and no more may be preempted than was promised.
    """
    outside = write_report(_checks, cases, replications, outcomes, directory, console, left_out(_RECORDED))
    console.print(f"Tables and single runs are in {directory}")
    return outside


def _checks(outcomes: Mapping[str, Outcome], *, extent: Extent, seed: int) -> dict[str, list[Check]]:
    groups: dict[str, list[Check]] = {}
    if data_folder() is not None:
        for of_batches, whose in ((False, "VMs"), (True, "the first VMs of batches")):
            groups[f"Azure: upper bounds of the lives of {whose}, share that held"] = [
                _bound(outcomes[AzureLivesCase(quantile, of_batches).name], quantile) for quantile in QUANTILES
            ]
        for cloud, (nodes, sample) in CLOUDS.items():
            groups[f"Azure: {nodes} nodes of 64 cores, {sample:.0%} of the batches"] = [
                check
                for promise, pools in _KINDS
                for check in _tier(
                    [outcomes[AzureTierCase(cloud, promise, seed, pools).name]],
                    promise,
                    pools=pools,
                )
            ]
        groups[f"Azure, causes: bounds of {QUANTILE:.0%} of the lives, share of all that held"] = [
            _lives_cause(case, outcomes[case.name]) for case in LIVES_CAUSES
        ]
        runs: dict[str, list[Outcome]] = {}
        for case in tier_causes((seed,)):
            runs.setdefault(_kind(case), []).append(outcomes[case.name])
        groups[f"Azure, causes: share preempted on 24 nodes, a promise of {PROMISE:.0%}"] = [
            _tier_cause(kind, found) for kind, found in runs.items()
        ]
    return groups


def _bound(found: Outcome, quantile: float) -> Check:
    note = f"{found['told']:,} bounds, {found['tightness']:.1f} times the life on average"
    return Check(f"{quantile:.0%} of lives", None, (found["covered"],), quantile, None, note)


def _lives_cause(case: AzureLivesCauseCase, found: Outcome) -> Check:
    note = f"{found['all']:,} bounds"
    if found["unknown"]:
        note += f"; of {found['unknown']:.2%} more nobody knows, as the VMs ran at the end"
    return Check(case.what, None, (found["held"],), QUANTILE, None, note)


def _kind(case: AzureCauseCase) -> str:
    return f"{case.order.value}, {case.levels.value}"


def _tier_cause(kind: str, found: list[Outcome]) -> Check:
    count, incidents = (sum(each[what] for each in found) for what in ("admissions", "incidents"))
    admitted = sum(each["admitted"] for each in found) / len(found)
    note = f"{admitted:.0%} admitted, {count:,} VMs; preempted at {incidents} instants"
    samples = sorted(each["samples_per_level"] for each in found)[len(found) // 2]
    if samples:
        note += f"; {samples} samples per level"
    has_promise = not kind.endswith(Levels.NO_PROMISE.value)
    return Check(kind, None, tuple(each["preempted"] for each in found), None, PROMISE if has_promise else None, note)


def _tier(found: list[Outcome], promise: float | None, *, pools: bool) -> list[Check]:
    who = "without a promise" if promise is None else f"promise {promise:.0%}{', pooled' if pools else ''}"
    count = sum(each["admissions"] for each in found)
    return [
        Check(f"{who}: preempted", None, tuple(each["preempted"] for each in found), None, promise, f"of {count:,}"),
        Check(f"{who}: admitted", None, tuple(each["admitted"] for each in found), None, None),
        Check(f"{who}: use of cores", None, tuple(each["utilisation"] for each in found), None, None),
    ]
