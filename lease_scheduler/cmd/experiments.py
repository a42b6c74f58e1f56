"""``lease-sim experiment``: repeat a dissertation's experiments and hold the figures against it."""

from __future__ import annotations

import argparse
from pathlib import Path

from rich.console import Console

from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.simulation.experiments import haizea_5, haizea_6, haizea_7, haizea_8
from lease_scheduler.simulation.experiments.report import REPORT_WIDTH

_EXPERIMENTS = {
    "haizea-5": haizea_5.run,
    "haizea-6": haizea_6.run,
    "haizea-7": haizea_7.run,
    "haizea-8": haizea_8.run,
}


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Make the sub-command known."""
    parser = commands.add_parser(
        "experiment",
        help="repeat the experiments of a dissertation",
        description="Runs all cases in parallel, prints thesis, ours and band side by side, and writes CSV files "
        "and plots. What is done is kept in the output directory: a second call goes on where the first one stopped.",
    )
    parser.add_argument("name", choices=sorted(_EXPERIMENTS), help="haizea-5 to -8: these chapters of Sotomayor 2010")
    parser.add_argument("--output", metavar="DIR", help="where results go; output/NAME by default")
    parser.add_argument("--jobs", type=int, metavar="N", help="processes at a time; one per core by default")
    parser.add_argument("--quick", action="store_true", help="one seed, and the main table only")
    parser.add_argument("--quiet", action="store_true", help="no progress")
    parser.set_defaults(func=experiment)


def experiment(given: argparse.Namespace) -> int:
    """Run the experiment that the command line asks for; figures outside their bands are no error of the program."""
    if given.jobs is not None and given.jobs < 1:
        raise InvalidValueError("--jobs", f"must be at least 1, not {given.jobs}")
    directory = Path(given.output or f"output/{given.name}")
    # Tables are as wide as they have to be where nobody looks at them on a terminal.
    console = Console(width=None if Console().is_terminal else REPORT_WIDTH)
    _EXPERIMENTS[given.name](directory, jobs=given.jobs, quick=given.quick, quiet=given.quiet, console=console)
    return 0
