"""Figures of counted work, and the ranges that they must stay in."""

from __future__ import annotations

import json
from collections.abc import Mapping
from math import ceil, floor
from pathlib import Path

#: Counts by name.
Figures = Mapping[str, int]

#: Scenario -> figure -> (least, most).
Ranges = Mapping[str, Mapping[str, tuple[int, int]]]

#: Share by which a figure may differ from the one that its range was made from. Threads of the service may merge two
#: transactions into one, and Python versions differ slightly in what they count as a call.
_TOLERANCE = 0.05


def range_around(figure: int) -> tuple[int, int]:
    """Return the lowest and the highest value that a figure may have when it is counted again.

    The range of 0 is 0 alone, so work of a new kind is always noticed.
    """
    return floor(figure * (1 - _TOLERANCE)), ceil(figure * (1 + _TOLERANCE))


def deviations(figures: Figures, ranges: Mapping[str, tuple[int, int]]) -> list[str]:
    """Describe every figure outside its range, largest increase first.

    A figure without a range must be 0. A range without a figure counts as a figure of 0.
    """
    found = []
    for name in figures.keys() | ranges.keys():
        figure, (least, most) = figures.get(name, 0), ranges.get(name, (0, 0))
        if figure > most:
            growth = f"{figure / most - 1:+.0%}" if most else "new"
            found.append((-figure / max(most, 1), f"{name} grew: {figure:,}, at most {most:,} ({growth})"))
        elif figure < least:
            found.append(
                (1 - figure / least, f"{name} fell: {figure:,}, at least {least:,} ({figure / least - 1:.0%})")
            )
    return [text for _, text in sorted(found)]


def read_ranges(path: Path) -> Ranges:
    """Return the committed ranges, or an empty mapping if the file does not exist yet."""
    if not path.exists():
        return {}
    document = json.loads(path.read_text())
    return {
        scenario: {name: (least, most) for name, (least, most) in ranges.items()}
        for scenario, ranges in document.items()
    }


def write_ranges(path: Path, counted: Mapping[str, Figures]) -> None:
    """Write a range around every figure, one per line, so that a diff shows which of them moved."""
    scenarios = []
    for scenario, figures in sorted(counted.items()):
        lines = [
            f"    {json.dumps(name)}: {json.dumps(range_around(figure))}" for name, figure in sorted(figures.items())
        ]
        scenarios.append(f"  {json.dumps(scenario)}: {{\n" + ",\n".join(lines) + "\n  }")
    path.write_text("{\n" + ",\n".join(scenarios) + "\n}\n")
