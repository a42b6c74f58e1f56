"""Checks: our figures beside the published ones, and the bands in which ours must lie."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from rich import box
from rich.console import Console
from rich.table import Table

from lease_scheduler.simulation.significance import mean_interval


@dataclass(frozen=True)
class Check:
    """The check of one figure in one replication.

    :ivar name: name of the figure
    :ivar thesis: value in the dissertation; None if it reports nothing comparable
    :ivar ours: our values: one, or those that the figure is the mean of
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
        """Mean of our values, which must lie in the band."""
        return _mean(self.ours)

    @property
    def passed(self) -> bool | None:
        """Whether the mean lies in the band; None if there is no band."""
        return _is_inside(self.mean, self.low, self.high)


@dataclass(frozen=True)
class Figure:
    """One figure over all replications.

    :ivar checks: seed -> its check there; there is at least one
    """

    checks: Mapping[int, Check]

    @property
    def name(self) -> str:
        """Name of the figure."""
        return self._first.name

    @property
    def values(self) -> tuple[float, ...]:
        """Value of the figure with each seed."""
        return tuple(check.mean for check in self.checks.values())

    @property
    def mean(self) -> float:
        """Mean over the seeds, which must lie in the band."""
        return _mean(self.values)

    @property
    def low(self) -> float | None:
        """Lower bound of the band, or None. A bound that depends on other runs is the mean over the seeds."""
        return _mean_bound(check.low for check in self.checks.values())

    @property
    def high(self) -> float | None:
        """Upper bound of the band, or None; see ``low``."""
        return _mean_bound(check.high for check in self.checks.values())

    @property
    def passed(self) -> bool | None:
        """Whether the mean over the seeds lies in the band; None if there is no band."""
        return _is_inside(self.mean, self.low, self.high)

    @property
    def held(self) -> int:
        """Number of seeds with which the figure lies in its band."""
        return sum(check.passed is True for check in self.checks.values())

    def row(self) -> dict[str, str]:
        """Return the figure as text, for tables and CSV.

        The range is that of the seeds; with a single seed it is that of the values which the figure is the mean of.
        """
        spread = self.values if len(self.checks) > 1 else self._first.ours
        differs = len(set(spread)) > 1
        interval = ""
        if differs and len(self.checks) > 1:
            interval = f"± {_number(mean_interval(self.values).high - self.mean)}"
        return {
            "check": self.name,
            "thesis": "" if self._first.thesis is None else _number(self._first.thesis),
            "ours": _number(self.mean),
            "range": f"{_number(min(spread))}..{_number(max(spread))}" if differs else "",
            "95 %": interval,
            "band": _band(self.low, self.high),
            "result": {True: "pass", False: "MISS", None: ""}[self.passed],
            "holds": "" if self.passed is None or len(self.checks) == 1 else f"{self.held} of {len(self.checks)}",
            "note": self._note(),
        }

    @property
    def _first(self) -> Check:
        return next(iter(self.checks.values()))

    def _note(self) -> str:
        notes = dict.fromkeys(check.note for check in self.checks.values())
        if len(notes) == 1:
            return self._first.note
        return f"seed {next(iter(self.checks))}: {self._first.note}"


def replicated(groups: Mapping[int, Mapping[str, Sequence[Check]]]) -> dict[str, list[Figure]]:
    """Return the figures of all replications: title -> figures, in the order of the first seed.

    :param groups: seed -> title -> checks
    :raises ValueError: two checks of a title have the same name, so they could not be told apart
    """
    found: dict[str, dict[str, dict[int, Check]]] = {}
    for seed, by_title in groups.items():
        for title, checks in by_title.items():
            of_title = found.setdefault(title, {})
            names = [check.name for check in checks]
            if len(set(names)) < len(names):
                twice = next(name for name in names if names.count(name) > 1)
                raise ValueError(f"{title}: two checks are called {twice!r}")
            for check in checks:
                of_title.setdefault(check.name, {})[seed] = check
    return {title: [Figure(checks) for checks in by_name.values()] for title, by_name in found.items()}


def print_figures(title: str, figures: Sequence[Figure], console: Console) -> None:
    """Print a table of the published values, ours, their spread and the bands."""
    table = Table(title=title, box=box.ASCII if not console.is_terminal else box.SIMPLE_HEAVY, title_justify="left")
    rows = [figure.row() for figure in figures]
    is_replicated = any(len(figure.checks) > 1 for figure in figures)
    headings = [heading for heading in rows[0] if is_replicated or heading not in ("95 %", "holds")] if rows else []
    for heading in headings:
        table.add_column(heading, justify="left" if heading in ("check", "note") else "right", overflow="fold")
    for figure, row in zip(figures, rows, strict=True):
        colour = {True: "green", False: "bold red", None: ""}[figure.passed]
        table.add_row(*(row[heading] for heading in headings), style=colour)
    console.print(table)


def missed(figures: Iterable[Figure]) -> list[Figure]:
    """Return the figures outside their bands."""
    return [figure for figure in figures if figure.passed is False]


def _is_inside(value: float, low: float | None, high: float | None) -> bool | None:
    if low is None and high is None:
        return None
    return (low is None or value >= low) and (high is None or value <= high)


def _mean(values: Sequence[float]) -> float:
    # A sum that differs in the last bit would put values outside a band that is the value itself.
    return values[0] if len(set(values)) == 1 else sum(values) / len(values)


def _mean_bound(bounds: Iterable[float | None]) -> float | None:
    given = [bound for bound in bounds if bound is not None]
    return _mean(given) if given else None


def _number(value: float) -> str:
    value += 0.0  # no sign for zero
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
