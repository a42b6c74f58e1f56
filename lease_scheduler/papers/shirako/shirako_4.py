"""Chapter 4: lengths of leases and elasticity of requests (Grit 2007, section 4.7; shirako E1-E3)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from rich.console import Console

from lease_scheduler.papers.checks import Check
from lease_scheduler.papers.data_folder import left_out
from lease_scheduler.papers.extent import Extent
from lease_scheduler.papers.replications import FIRST_SEED, DefaultSeeds, Replication
from lease_scheduler.papers.report import write_report
from lease_scheduler.papers.shirako import length_checks
from lease_scheduler.papers.shirako.bands import check, falls, mean
from lease_scheduler.papers.shirako.elastic_requests import REQUESTS, ElasticCase
from lease_scheduler.papers.shirako.lease_length import INTERVAL_HOURS
from lease_scheduler.simulation.campaigns.case import Case, Outcome
from lease_scheduler.simulation.reports.over_time import plot_over_time
from lease_scheduler.simulation.reports.plots import plot_bars

#: Elasticity in per cent -> allocated requests in table 4.3.
_TABLE = {100: 951, 75: 815, 50: 575, 25: 457, 0: 340}


SEEDS = DefaultSeeds(30)
_RECORDED = "recorded loads of the World Cup of 1998 and of BLUE1"


def cases(*, extent: Extent, seed: int = FIRST_SEED) -> list[Case]:
    """Return all runs; see ``paper.Chapter``. Recorded loads are left out without the folder of workload logs."""
    elastic = [ElasticCase(elasticity, seed) for elasticity in _TABLE]
    return [*elastic, *length_checks.cases(seed)]


def report(
    outcomes: Mapping[str, Outcome], directory: Path, *, replications: Sequence[Replication], console: Console
) -> int:
    """Print every check, and write CSV files and a plot; see ``paper.Chapter``."""
    found = _found(outcomes, [each.seed for each in replications])
    outside = write_report(_checks, cases, replications, outcomes, directory, console, left_out(_RECORDED))
    plot_over_time(
        length_checks.lines(outcomes, replications[0].seed),
        directory / "fig-4.9.png",
        interval=INTERVAL_HOURS / 24,
        time="days",
        measure="hosts",
    )
    bars = {
        "thesis": {f"{each} %": float(value) for each, value in _TABLE.items()},
        "ours": {f"{each} %": mean(runs, "allocated") for each, runs in found.items()},
    }
    plot_bars(bars, directory / "table-4.3.png", measure="allocated requests")
    console.print(f"Tables, figures and single runs are in {directory}")
    return outside


def _found(outcomes: Mapping[str, Outcome], seeds: Sequence[int]) -> dict[int, list[Outcome]]:
    """Return elasticity -> outcomes, one for each seed."""
    return {each: [outcomes[ElasticCase(each, seed).name] for seed in seeds] for each in _TABLE}


def _checks(outcomes: Mapping[str, Outcome], *, extent: Extent, seed: int) -> dict[str, list[Check]]:
    found = _found(outcomes, (seed,))
    return {
        "Figure 4.8 (E1): the load of e-commerce, filtered; substitute workload": length_checks.filter_checks(
            outcomes, seed
        ),
        "Figure 4.9 (E2): leases of 12 and 72 hours; substitute workload": length_checks.length_checks(outcomes, seed),
        **length_checks.recorded_checks(outcomes),
        "Table 4.3 (E3): requests that are allocated; substitute workload": _table_checks(found),
    }


def _table_checks(found: Mapping[int, Sequence[Outcome]]) -> list[Check]:
    note = "no band: the workload of the dissertation is private"
    checks = [
        check(f"allocated, elasticity {each} %", thesis, found[each], "allocated", None, None, note)
        for each, thesis in _TABLE.items()
    ]
    totals = [run["allocated"] + run["rejected"] for runs in found.values() for run in runs]
    checks += [
        Check("requests in each run", REQUESTS, tuple(map(float, totals)), REQUESTS, REQUESTS),
        falls("allocated falls with elasticity", [mean(found[each], "allocated") for each in _TABLE], 112),
        Check(
            "allocated, 100 % : 0 %",
            _TABLE[100] / _TABLE[0],
            tuple(run["allocated"] / rigid["allocated"] for run, rigid in zip(found[100], found[0], strict=True)),
            2.0,
            None,
        ),
        check(
            "accepted share, elasticity 0 %",
            _TABLE[0] / REQUESTS,
            found[0],
            lambda run: run["allocated"] / REQUESTS,
            0.1,
            0.25,
        ),
    ]
    return checks
