"""The summary that is printed at the end of a run."""

from __future__ import annotations

import io
from dataclasses import replace
from typing import Literal

import pytest
from rich.console import Console

from lease_scheduler.simulation.reports.summary import print_summary, readable_duration
from lease_scheduler.simulation.result import RunResult


def printed(result: RunResult, terminal: bool = False) -> str:
    colours: Literal["standard"] | None = "standard" if terminal else None
    console = Console(file=io.StringIO(), width=80, force_terminal=terminal, color_system=colours)
    print_summary(result, console)
    output = console.file
    assert isinstance(output, io.StringIO)
    return output.getvalue()


def cells(text: str, label: str) -> list[str]:
    """Return the columns after a label, in the only line that starts with it."""
    [line] = [line for line in text.splitlines() if line.strip(" |").startswith(label)]
    return line.strip(" |").removeprefix(label).replace("|", " ").split()


def test_summary_counts_by_kind(four_hosts: RunResult) -> None:
    text = printed(four_hosts)
    assert text.splitlines()[0] == "four hosts on 4 hosts: 2.2 h simulated"
    assert cells(text, "leases") == ["requested", "accepted", "rejected", "done", "cancelled"]
    assert cells(text, "reservation") == ["2", "1", "1", "1", "0"]
    assert cells(text, "immediate") == ["1", "1", "0", "0", "1"]
    assert cells(text, "all   ") == ["5", "4", "1", "3", "1"]


def test_summary_shows_figures_with_their_units(four_hosts: RunResult) -> None:
    text = printed(four_hosts)
    assert cells(text, "all best-effort leases done after")[:4] == ["2.2", "h", "8,000", "s"]
    assert cells(text, "mean wait of best-effort leases")[:2] == ["0", "s"]
    assert cells(text, "mean bounded slowdown")[0] == "2.0"
    assert cells(text, "mean utilisation")[0] == "68.8%"
    assert cells(text, "suspensions") == ["1"]
    assert cells(text, "wall time") == ["0.25", "s"]
    assert cells(text, "largest resident memory") == ["64", "MiB"]


def test_counters_that_are_zero_are_not_shown(four_hosts: RunResult) -> None:
    assert "early ends" not in printed(four_hosts)
    assert cells(printed(replace(four_hosts, counters={"early_ends": 4_300})), "early ends") == ["4,300"]


def test_without_a_terminal_the_summary_is_ascii_of_80_columns(four_hosts: RunResult) -> None:
    text = printed(four_hosts)
    assert text.isascii()
    assert "\x1b" not in text
    assert max(len(line) for line in text.splitlines()) <= 80


def test_on_a_terminal_the_summary_has_lines_and_styles(four_hosts: RunResult) -> None:
    text = printed(four_hosts, terminal=True)
    assert "\x1b[1m" in text
    assert "╭" in text


def test_names_are_not_read_as_markup(four_hosts: RunResult) -> None:
    assert printed(replace(four_hosts, workload_name="[red]T20[/red]")).startswith("[red]T20[/red] on 4 hosts")


def test_the_summary_of_an_empty_run_has_dashes(four_hosts: RunResult) -> None:
    text = printed(replace(four_hosts, leases=(), occupations=(), end=four_hosts.start))
    assert cells(text, "all best-effort leases done after") == ["-"]
    assert cells(text, "mean wait of best-effort leases") == ["-"]
    assert cells(text, "mean bounded slowdown") == ["-"]


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0 s"),
        (0.0124, "0.0124 s"),
        (119, "119 s"),
        (120, "2.0 min"),
        (5_400, "90.0 min"),
        (7_200, "2.0 h"),
        (172_799, "48.0 h"),
        (2_668_432, "30.9 days"),
        (86_400 * 36_500, "36,500.0 days"),
    ],
)
def test_durations_are_shown_in_a_suitable_unit(seconds: float, text: str) -> None:
    assert readable_duration(seconds) == text
