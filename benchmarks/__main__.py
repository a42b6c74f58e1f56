"""Run benchmarks: ``python -m benchmarks [--output DIR] [--quick] [WHICH]``."""

from __future__ import annotations

import argparse
from pathlib import Path

from benchmarks import assurance, fractional, planner, prediction, routing, shares, simulation, start
from benchmarks.machine import console


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks",
        description="Times the planner, the simulator, predictors, promises, shares, packings, routing and imports.",
    )
    parser.add_argument(
        "which",
        nargs="?",
        choices=["planner", "simulation", "prediction", "assurance", "shares", "fractional", "routing", "start"],
        help="all if not given",
    )
    parser.add_argument("--output", type=Path, default=Path("output/benchmarks"), help="where CSV files and plots go")
    parser.add_argument("--quick", action="store_true", help="smaller sizes and fewer repetitions")
    given = parser.parse_args()
    given.output.mkdir(parents=True, exist_ok=True)
    out = console()
    if given.which in (None, "planner"):
        planner.run(given.output, out, quick=given.quick)
    if given.which in (None, "simulation"):
        simulation.run(given.output, out, repetitions=1 if given.quick else 3)
    if given.which in (None, "prediction"):
        prediction.run(given.output, out, quick=given.quick)
    if given.which in (None, "assurance"):
        assurance.run(out, quick=given.quick)
    if given.which in (None, "shares"):
        shares.run(out, quick=given.quick)
    if given.which in (None, "fractional"):
        fractional.run(given.output, out, quick=given.quick)
    if given.which in (None, "routing"):
        routing.run(out, quick=given.quick)
    if given.which in (None, "start"):
        start.run(out, repetitions=1 if given.quick else 5)


main()
