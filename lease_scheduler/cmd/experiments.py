"""``lease-sim experiment``: repeat the experiments of a dissertation, and compare with its published figures."""

from __future__ import annotations

import argparse
from pathlib import Path

from rich.console import Console

from lease_scheduler.cmd.campaign import add_execution_options, execution
from lease_scheduler.papers import registry
from lease_scheduler.papers.extent import Extent
from lease_scheduler.papers.paper import Chapter
from lease_scheduler.papers.replications import FIRST_SEED, Replication, distinct_cases, is_random, replications
from lease_scheduler.papers.report import REPORT_WIDTH
from lease_scheduler.simulation.campaigns.runner import run_campaign


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the sub-command to the parser."""
    parser = commands.add_parser(
        "experiment",
        help="repeat the experiments of a dissertation",
        description="Runs all cases in parallel, prints thesis, ours and band side by side, and writes CSV files "
        "and plots. What is done is kept in the output directory: a second call goes on where the first one stopped.",
    )
    parser.add_argument("name", choices=registry.names(), help="; ".join(paper.help for paper in registry.papers()))
    parser.add_argument("--output", metavar="DIR", help="where results go; output/NAME by default")
    add_execution_options(parser)
    extent = parser.add_mutually_exclusive_group()
    extent.add_argument(
        "--quick",
        action="store_const",
        const=Extent.QUICK,
        dest="extent",
        help="the main tables only; with one seed unless --seeds is given",
    )
    extent.add_argument(
        "--once",
        action="store_const",
        const=Extent.ONCE,
        dest="extent",
        help="everything that the dissertation has, with one seed unless --seeds is given; by default, each experiment "
        "has its own number of seeds",
    )
    parser.add_argument(
        "--seed",
        type=_seed,
        default=FIRST_SEED,
        metavar="S",
        help="the first seed, at least 1; %(default)s by default. All that is random depends on it",
    )
    parser.add_argument(
        "--seeds",
        type=_seed,
        metavar="N",
        help="run everything with each of the seeds S to S + N - 1, and report the spread. What has nothing random in "
        "it is run once",
    )
    parser.set_defaults(func=experiment, extent=Extent.REPEATED)


def experiment(given: argparse.Namespace) -> int:
    """Run the experiment named on the command line.

    It does not fail if figures are outside their bands. If it has several chapters, a case that more than one of them
    needs runs once, and each chapter reports into a folder of its own.
    """
    directory = Path(given.output or f"output/{given.name}")
    paper, chapters = registry.find(given.name)
    planned = {name: _planned(chapter, given) for name, chapter in chapters.items()}
    cases = {
        case.name: case for name, chapter in chapters.items() for case in distinct_cases(chapter.cases, planned[name])
    }
    outcomes = run_campaign([*cases.values()], directory, execution(given), inputs=paper.inputs())
    # Outside a terminal, nothing limits the width of the tables.
    console = Console(width=None if Console().is_terminal else REPORT_WIDTH)
    for name, chapter in chapters.items():
        folder = directory / name if given.name == paper.name else directory
        folder.mkdir(exist_ok=True)
        chapter.report(outcomes, folder, replications=planned[name], console=console)
    return 0


def _planned(chapter: Chapter, given: argparse.Namespace) -> tuple[Replication, ...]:
    """Return the requested replications, but only one if other seeds would give the same runs."""
    planned = replications(chapter.SEEDS, given.extent, given.seed, given.seeds)
    return planned if is_random(chapter.cases, planned[0]) else planned[:1]


def _seed(text: str) -> int:
    try:
        number = int(text)
    except ValueError:
        number = 0
    if number < 1:
        raise argparse.ArgumentTypeError(f"must be a whole number of at least 1, not {text}")
    return number
