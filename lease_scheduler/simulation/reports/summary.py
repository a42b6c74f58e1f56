"""The summary of a run for terminals: a table by kind of lease, and the main figures."""

from __future__ import annotations

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from lease_scheduler.simulation import metrics
from lease_scheduler.simulation.result import RunResult

_MINUTE = 60
_HOUR = 3_600
_DAY = 86_400
_NONE = "-"

#: Columns of the table by kind: heading, attribute of ``LeaseCounts``, and whether to show it even if it is 0.
_COLUMNS = (
    ("requested", "requested", True),
    ("accepted", "accepted", True),
    ("rejected", "rejected", True),
    ("by user", "rejected_by_user", False),
    ("done", "done", True),
    ("cancelled", "cancelled", False),
    ("failed", "failed", False),
    ("unfinished", "unfinished", False),
)


def print_summary(result: RunResult, console: Console | None = None) -> None:
    """Print the summary of a run: in colour on a terminal, else as plain ASCII.

    :param console: console to print on, by default the standard output
    """
    console = console or Console()
    console.print(Text(_heading(result), style="bold"))
    console.print()
    console.print(_kinds_table(result, plain=not console.is_terminal))
    console.print()
    console.print(_figures_table(result))


def readable_duration(seconds: float) -> str:
    """Return a duration in a suitable unit: ``45 s``, ``12.5 min``, ``3.2 h`` or ``30.9 days``."""
    for unit, name in ((_DAY, "days"), (_HOUR, "h"), (_MINUTE, "min")):
        if seconds >= 2 * unit:
            return f"{seconds / unit:,.1f} {name}"
    return f"{seconds:,.3g} s"


def _heading(result: RunResult) -> str:
    hosts = "1 host" if len(result.site) == 1 else f"{len(result.site):,} hosts"
    return f"{result.workload_name} on {hosts}: {readable_duration(result.end - result.start)} simulated"


def _kinds_table(result: RunResult, plain: bool) -> Table:
    total = metrics.count_leases(result.leases)
    columns = [(heading, name) for heading, name, always in _COLUMNS if always or getattr(total, name)]
    table = Table(box=box.ASCII if plain else box.ROUNDED, header_style="bold")
    table.add_column("leases")
    for heading, _ in columns:
        table.add_column(heading, justify="right")
    for kind, counts in metrics.count_by_kind(result.leases).items():
        table.add_row(kind.value, *(f"{getattr(counts, name):,}" for _, name in columns))
    table.add_section()
    table.add_row("all", *(f"{getattr(total, name):,}" for _, name in columns), style="bold")
    return table


def _figures_table(result: RunResult) -> Table:
    table = Table.grid(padding=(0, 2))
    table.add_column()
    table.add_column(justify="right", style="bold")
    table.add_column(style="dim")
    for row in (*_achievements(result), *_penalties(result), *_counters(result), *_costs(result)):
        table.add_row(*row)
    return table


def _achievements(result: RunResult) -> list[tuple[str, str, str]]:
    measured = metrics.measurements(result.leases)
    wait, slowdown = metrics.mean(measured.waiting), metrics.mean(measured.slowdown)
    completion = metrics.all_best_effort(result)
    ramp_up = f"without the first {metrics.RAMP_UP:.0%}"
    return [
        (
            "all best-effort leases done after",
            _NONE if completion is None else readable_duration(completion),
            "" if completion is None else f"{completion:,} s",
        ),
        (
            "mean wait of best-effort leases",
            _NONE if wait is None else readable_duration(wait),
            "" if wait is None else f"{wait:,.0f} s, {ramp_up}",
        ),
        (
            "mean bounded slowdown",
            _NONE if slowdown is None else f"{slowdown:,.1f}",
            "" if slowdown is None else ramp_up,
        ),
        (
            "mean utilisation",
            f"{metrics.average_utilisation(result):.1%}",
            f"from {metrics.RAMP_UP:.0%} to the last submission",
        ),
    ]


def _counters(result: RunResult) -> list[tuple[str, str, str]]:
    return [(name.replace("_", " "), f"{number:,}", "") for name, number in result.counters.items() if number]


def _penalties(result: RunResult) -> list[tuple[str, str, str]]:
    money = metrics.revenue(result.leases)
    if money is None or not money.penalties:
        return []
    earned = f"{money.earned:,.2f} less penalties of {money.penalties:,.2f}"
    return [("net revenue", f"{money.net:,.2f}", earned)]


def _costs(result: RunResult) -> list[tuple[str, str, str]]:
    return [
        ("wall time", readable_duration(result.wall_s), ""),
        ("largest resident memory", f"{result.peak_rss_bytes / 2**20:,.0f} MiB", ""),
    ]
