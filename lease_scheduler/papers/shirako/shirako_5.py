"""Chapter 5: fair shares over a calendar (Grit 2007, sections 5.4 to 5.7; shirako E5-E13)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from rich.console import Console

from lease_scheduler.papers.checks import Check
from lease_scheduler.papers.extent import Extent
from lease_scheduler.papers.replications import FIRST_SEED, DefaultSeeds, Replication
from lease_scheduler.papers.report import write_report
from lease_scheduler.papers.shirako.bands import check, falls, mean
from lease_scheduler.papers.shirako.fairness import HOSTS as SITES
from lease_scheduler.papers.shirako.fairness import WORKLOADS, FairnessCase
from lease_scheduler.papers.shirako.flows import (
    FIGURES,
    FIRST,
    HOSTS,
    INTERVAL,
    LAST,
    SHARES,
    SHORT_QUEUE,
    TICKS_PER_DAY,
    WIDE,
    FlowsCase,
)
from lease_scheduler.papers.shirako.worked_example import FIGURES as EXAMPLES
from lease_scheduler.papers.shirako.worked_example import WorkedExampleCase
from lease_scheduler.simulation.campaigns.case import Case, Outcome
from lease_scheduler.simulation.reports.over_time import plot_over_time

_Runs = Mapping[str, Sequence[Outcome]]

#: Figure -> clocks of both flows, virtual time, start tag of the next request of f (captions of the figures).
_CAPTIONS = {"5.2": (67, 400, 300, 300), "5.3": (133, 400, 300, 300), "5.4": (233, 300, None, None)}
_READ = ("clock_f", "clock_g", "virtual_time", "next_f")

#: Figure -> efficiency in the dissertation, and how far ours may be from it.
_EFFICIENCIES = {"5.10 (b)": (0.89, 0.03), "5.10 (c)": (0.85, 0.06)}
_BY_WIDTH = {"5.11 (a)": 0.98, "5.11 (b)": 0.94, "5.11 (c)": 0.91}


SEEDS = DefaultSeeds(18)


def cases(*, extent: Extent, seed: int = FIRST_SEED) -> list[Case]:
    """Return all runs; see ``paper.Chapter``."""
    flows = [FlowsCase(figure, seed) for figure in FIGURES]
    return [*(WorkedExampleCase(figure) for figure in EXAMPLES), *flows, *_fairness(seed)]


def _fairness(seed: int) -> list[FairnessCase]:
    return [FairnessCase(hosts, disturbed, seed=seed) for hosts in SITES for disturbed in (False, True)]


def report(
    outcomes: Mapping[str, Outcome], directory: Path, *, replications: Sequence[Replication], console: Console
) -> int:
    """Print every check, and write CSV files and plots; see ``paper.Chapter``."""
    found = _found(outcomes, replications[0].seed)
    outside = write_report(_checks, cases, replications, outcomes, directory, console)
    for name, figures in (
        ("fig-5.5-5.6", ("5.5", "5.6")),
        ("fig-5.7-5.9", ("5.7", "5.8", "5.9")),
        ("fig-5.10", ("5.10 (a)", "5.10 (b)", "5.10 (c)")),
        ("fig-5.11", ("5.11 (a)", "5.11 (b)", "5.11 (c)")),
    ):
        panels = {
            f"Figure {figure}": {
                flow: [100 * share for share in found[figure][0][f"over time {flow}"]] for flow in SHARES
            }
            for figure in figures
        }
        plot_over_time(
            panels,
            directory / f"{name}.png",
            interval=INTERVAL / TICKS_PER_DAY,
            time="days",
            measure="share of the site (%)",
        )
    console.print(f"Tables, figures and single runs are in {directory}")
    return outside


def _found(outcomes: Mapping[str, Outcome], seed: int) -> _Runs:
    return {figure: [outcomes[FlowsCase(figure, seed).name]] for figure in FIGURES}


def _checks(outcomes: Mapping[str, Outcome], *, extent: Extent, seed: int) -> dict[str, list[Check]]:
    found = _found(outcomes, seed)
    return {
        "Figures 5.2 to 5.4 (E5): the worked example": _example_checks(outcomes),
        "Figures 5.5 and 5.6 (E6, E7): requests of one host": _unit_checks(found),
        "Figures 5.7 to 5.9 (E8 to E10): requests of several hosts": _wide_checks(found),
        "Figures 5.10 and 5.11 (E11, E12): efficiency": _efficiency_checks(found),
        f"Theorems 5.3.1 and 5.6.1 (E13): {WORKLOADS} random workloads a row": _bound_checks(outcomes, seed),
    }


def _example_checks(outcomes: Mapping[str, Outcome]) -> list[Check]:
    checks = []
    for figure, caption in _CAPTIONS.items():
        run = outcomes[WorkedExampleCase(figure).name]
        for key, thesis in zip(_READ, caption, strict=True):
            if thesis is not None:
                name = f"figure {figure}: {key.replace('_', ' of ').replace('virtual of time', 'virtual time')}"
                checks.append(check(name, thesis, [run], key, thesis - 0.5, thesis + 0.5))
    run = outcomes[WorkedExampleCase("5.4").name]
    gap = abs(run["next_f"] - run["clock_f"])
    checks.append(Check("figure 5.4: gap before the next request of f", 0, (gap,), None, 0.5))
    return checks


def _share_checks(figure: str, runs: Sequence[Outcome], tolerance: float, part: str = "share") -> list[Check]:
    return [
        check(f"figure {figure}: share of {flow}", share, runs, f"{part} {flow}", share - tolerance, share + tolerance)
        for flow, share in SHARES.items()
    ]


def _unit_checks(found: _Runs) -> list[Check]:
    checks = [check("figure 5.5: efficiency", 0.99, found["5.5"], "efficiency", 0.985, None)]
    checks += _share_checks("5.5", found["5.5"], 0.02)
    checks += _share_checks("5.5, first quarter", found["5.5"], 0.04, "start")
    for flow, share in SHARES.items():
        wait = SHORT_QUEUE / (share * HOSTS)
        note = "Little's law, from the bound of the queue"
        checks.append(
            check(
                f"figure 5.5: wait of {flow} (ticks)",
                None,
                found["5.5"],
                f"wait {flow}",
                0.95 * wait,
                1.05 * wait,
                note,
            )
        )
    idle = found["5.6"]
    checks.append(check("figure 5.6: efficiency", None, idle, "efficiency", 0.985, None))
    for flow, share in {FIRST: 0.0, WIDE: 0.6, LAST: 0.4}.items():
        checks.append(
            check(f"figure 5.6: off, share of {flow}", share, idle, f"off {flow}", share - 0.02, share + 0.02)
        )
    return checks + _share_checks("5.6, on", idle, 0.02, "on") + _share_checks("5.6, on again", idle, 0.02, "on again")


def _wide_checks(found: _Runs) -> list[Check]:
    stalled, greedy, limited = found["5.7"], found["5.8"], found["5.9"]
    checks = [
        check("figure 5.7 (E8): share of the wide flow", None, stalled, f"share {WIDE}", None, 0.08, "it stalls"),
        check(
            "figure 5.7 (E8): its work left at the end", None, stalled, f"left {WIDE}", 0, 0, "served when others stop"
        ),
        check(
            "figure 5.8 (E9): share of the wide flow", None, greedy, f"share {WIDE}", 0.6, None, "it takes the window"
        ),
        check("figure 5.8 (E9): share of 50 %", None, greedy, f"share {FIRST}", None, 0.25),
        check("figure 5.8 (E9): share of 20 %", None, greedy, f"share {LAST}", None, 0.1),
        *_share_checks("5.9 (E10)", limited, 0.05),
        check("figure 5.9 (E10): efficiency", None, limited, "efficiency", 0.95, None),
    ]
    by_window = {window: found[f"5.9, w = {window}"] for window in (50, 100, 400)}
    seldom = "requests that cost more than the share of a window never start"
    for window, low, high, note in ((50, 0.04, 0.07, seldom), (100, 0.27, 0.28, ""), (400, 0.28, 0.32, "")):
        name = f"E10 with w = {window}: share of the wide flow"
        checks.append(check(name, None, by_window[window], f"share {WIDE}", low, high, note))
    means = [-mean(runs, f"share {WIDE}") for runs in by_window.values()]
    return [*checks, falls("E10: the share of the wide flow grows with the window", means)]


def _efficiency_checks(found: _Runs) -> list[Check]:
    checks = [check("figure 5.10 (a): efficiency", 0.99, found["5.10 (a)"], "efficiency", 0.97, None)]
    for figure, (thesis, tolerance) in _EFFICIENCIES.items():
        checks.append(
            check(
                f"figure {figure}: efficiency",
                thesis,
                found[figure],
                "efficiency",
                thesis - tolerance,
                thesis + tolerance,
            )
        )
    means = {figure: mean(found[figure], "efficiency") for figure in FIGURES}
    checks += [
        falls("figure 5.10: (a) above (b)", [means["5.10 (a)"], means["5.10 (b)"]], 0.1),
        falls("figure 5.10: (a) above (c)", [means["5.10 (a)"], means["5.10 (c)"]], 0.14),
        Check(
            "figure 5.10: (b) above (c) by",
            0.04,
            (means["5.10 (b)"] - means["5.10 (c)"],),
            0,
            None,
            "soft",
        ),
    ]
    for figure, thesis in _BY_WIDTH.items():
        checks.append(
            check(f"figure {figure}: efficiency", thesis, found[figure], "efficiency", thesis - 0.03, thesis + 0.03)
        )
    return [*checks, falls("figure 5.11: falls with width", [means[figure] for figure in _BY_WIDTH], 0.03)]


def _bound_checks(outcomes: Mapping[str, Outcome], seed: int) -> list[Check]:
    checks = []
    for case in _fairness(seed):
        run = [outcomes[case.name]]
        what = f"{case.hosts} hosts{', preempted and ended early' if case.disturbed else ''}"
        checks += [
            check(f"{what}: workloads beyond the bound", 0, run, "beyond_bound", 0, 0),
            check(f"{what}: largest lag, as a part of the bound", None, run, "largest_ratio", None, 1),
        ]
    return checks
