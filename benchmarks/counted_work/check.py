"""The command behind ``make benchmark-check`` and ``make benchmark-ranges``."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from benchmarks.counted_work.figures import Figures, deviations, read_ranges, write_ranges

_RANGES = Path(__file__).with_name("ranges.json")


def main(arguments: Sequence[str], scenarios: Mapping[str, Callable[[], Figures]]) -> int:
    """Count the work of every scenario and return 0 if all of it is in its range.

    :param arguments: as on the command line
    :param scenarios: what is counted, by name
    """
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.counted_work",
        description="Compares counted work of fixed scenarios with committed ranges. Fails if work grew; it fails also "
        "if work fell, so that the next growth is measured from what was reached.",
    )
    parser.add_argument("--update", action="store_true", help="write ranges around what is counted now")
    parser.add_argument("--ranges", type=Path, default=_RANGES, help="the file of ranges (default: the committed one)")
    given = parser.parse_args(arguments)
    counted = {name: count() for name, count in scenarios.items()}
    if given.update:
        write_ranges(given.ranges, counted)
        print(f"Written: {given.ranges}")
        return 0
    ranges = read_ranges(given.ranges)
    found = [
        f"{scenario}: {text}"
        for scenario in sorted(counted.keys() | ranges.keys())
        for text in deviations(counted.get(scenario, {}), ranges.get(scenario, {}))
    ]
    for line in found:
        print(line)
    if found:
        print("If this is intended, run make benchmark-ranges and say in the commit message why.")
        return 1
    print(f"Counted work is as before: {sum(map(len, counted.values()))} figures of {len(counted)} scenarios.")
    return 0
