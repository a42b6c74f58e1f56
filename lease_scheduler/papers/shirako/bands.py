"""Figures of several runs as checks against bands."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import pairwise

from lease_scheduler.papers.checks import Check
from lease_scheduler.simulation.campaigns.case import Outcome


def check(
    name: str,
    thesis: float | None,
    runs: Iterable[Outcome],
    figure: str | Callable[[Outcome], float],
    low: float | None,
    high: float | None,
    note: str = "",
) -> Check:
    """Return the check of a figure of runs that differ in their seeds.

    :param figure: key of the figure, or how to compute it from an outcome
    """
    read = figure if callable(figure) else lambda outcome: float(outcome[figure])
    return Check(name, thesis, tuple(float(read(run)) for run in runs), low, high, note)


def falls(name: str, means: Iterable[float], thesis: float | None = None, note: str = "") -> Check:
    """Return the check that figures fall strictly: the smallest step down, which must be positive."""
    least = min(before - after for before, after in pairwise(means))
    return Check(name, thesis, (least,), 1e-12, None, note or "smallest step, above 0")


def mean(runs: Iterable[Outcome], figure: str) -> float:
    """Return the mean of a figure over runs."""
    values = [float(run[figure]) for run in runs]
    return sum(values) / len(values)
