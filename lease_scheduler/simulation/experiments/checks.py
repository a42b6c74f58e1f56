"""Checks: our figures beside the published ones, and the bands in which ours must lie."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rich import box
from rich.console import Console
from rich.table import Table


@dataclass(frozen=True)
class Check:
    """The check of one figure.

    :ivar name: name of the figure
    :ivar thesis: value in the dissertation; None if it reports nothing comparable
    :ivar ours: our values, one per seed or one in all
    :ivar low: lower bound of the band; None if there is none
    :ivar high: upper bound of the band; None if there is none
    :ivar note: remark for the reader, or empty
    """

    name: str
    thesis: float | None
    ours: tuple[float, ...]
    low: float | None
    high: float | None
    note: str = ""

    @property
    def mean(self) -> float:
        """Mean over the seeds, which must lie in the band."""
        return sum(self.ours) / len(self.ours)

    @property
    def passed(self) -> bool | None:
        """Whether the mean lies in the band; None if there is no band."""
        if self.low is None and self.high is None:
            return None
        return (self.low is None or self.mean >= self.low) and (self.high is None or self.mean <= self.high)

    def row(self) -> dict[str, str]:
        """Return the check as text, for tables and CSV."""
        spread = f"{_number(min(self.ours))}..{_number(max(self.ours))}" if len(set(self.ours)) > 1 else ""
        return {
            "check": self.name,
            "thesis": "" if self.thesis is None else _number(self.thesis),
            "ours": _number(self.mean),
            "range": spread,
            "band": _band(self.low, self.high),
            "result": {True: "pass", False: "MISS", None: ""}[self.passed],
            "note": self.note,
        }


def print_checks(title: str, checks: Sequence[Check], console: Console) -> None:
    """Print a table of the published values, ours and the bands."""
    table = Table(title=title, box=box.ASCII if not console.is_terminal else box.SIMPLE_HEAVY, title_justify="left")
    for heading in ("check", "thesis", "ours", "range", "band", "result", "note"):
        table.add_column(heading, justify="left" if heading in ("check", "note") else "right", overflow="fold")
    for check in checks:
        colour = {True: "green", False: "bold red", None: ""}[check.passed]
        table.add_row(*check.row().values(), style=colour)
    console.print(table)


def missed(checks: Iterable[Check]) -> list[Check]:
    """Return the checks outside their bands."""
    return [check for check in checks if check.passed is False]


def _number(value: float) -> str:
    if value == int(value) and abs(value) >= 1000:
        return f"{int(value)}"
    return f"{value:.4g}" if abs(value) < 1000 else f"{value:.0f}"


def _band(low: float | None, high: float | None) -> str:
    if low is None and high is None:
        return ""
    if low is None:
        return f"<= {_number(high or 0)}"
    if high is None:
        return f">= {_number(low)}"
    return f"{_number(low)}..{_number(high)}"
