"""``lease-sim experiment``: repeat the experiments of a dissertation and compare the figures with it."""

from __future__ import annotations

import argparse
from pathlib import Path

from rich.console import Console

from lease_scheduler.cmd.campaign import add_execution_options, execution
from lease_scheduler.simulation.campaigns.runner import run_campaign
from lease_scheduler.simulation.experiments import registry
from lease_scheduler.simulation.experiments.extent import Extent
from lease_scheduler.simulation.experiments.report import REPORT_WIDTH


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the sub-command to the parser."""
    parser = commands.add_parser(
        "experiment",
        help="repeat the experiments of a dissertation",
        description="Runs all cases in parallel, prints thesis, ours and band side by side, and writes CSV files "
        "and plots. What is done is kept in the output directory: a second call goes on where the first one stopped.",
    )
    parser.add_argument("name", choices=registry.names(), help="; ".join(paper.help for paper in registry.PAPERS))
    parser.add_argument("--output", metavar="DIR", help="where results go; output/NAME by default")
    add_execution_options(parser)
    extent = parser.add_mutually_exclusive_group()
    extent.add_argument(
        "--quick",
        action="store_const",
        const=Extent.QUICK,
        dest="extent",
        help="the main tables only, with the first seed",
    )
    extent.add_argument(
        "--once",
        action="store_const",
        const=Extent.ONCE,
        dest="extent",
        help="everything with the first seed only, as in the dissertation; otherwise results judged by their mean are "
        "repeated with further seeds",
    )
    parser.set_defaults(func=experiment, extent=Extent.REPEATED)


def experiment(given: argparse.Namespace) -> int:
    """Run the experiment named on the command line; figures outside their bands do not make it fail.

    In the complete set, a case that several chapters need runs once, and each chapter reports into its own folder.
    """
    directory = Path(given.output or f"output/{given.name}")
    paper, chapters = registry.find(given.name)
    cases = [case for chapter in chapters.values() for case in chapter.cases(extent=given.extent)]
    outcomes = run_campaign(cases, directory, execution(given), inputs=paper.inputs(), forecast=paper.forecast)
    # Outside a terminal, nothing limits the width of the tables.
    console = Console(width=None if Console().is_terminal else REPORT_WIDTH)
    for name, chapter in chapters.items():
        folder = directory / name if given.name == paper.name else directory
        folder.mkdir(exist_ok=True)
        chapter.report(outcomes, folder, extent=given.extent, console=console)
    return 0
