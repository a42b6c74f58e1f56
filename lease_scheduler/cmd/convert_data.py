"""``haizea-convert-data`` and ``lease-sim convert-data``: convert data files of runs to CSV (haizea F90)."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from lease_scheduler.cmd.messages import one_line_errors
from lease_scheduler.haizea import converted
from lease_scheduler.haizea.converted import AccountedRun
from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.simulation.formats.data_file import read_data_file

_DESCRIPTION = "Prints what the probes of runs wrote down as CSV; several files are put together."


@one_line_errors
def main(arguments: Sequence[str] | None = None) -> int:
    """Run the stand-alone program, which has Haizea's name and options."""
    parser = argparse.ArgumentParser(prog="haizea-convert-data", description=_DESCRIPTION)
    _add_arguments(parser)
    return convert(parser.parse_args(arguments))


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the sub-command to ``lease-sim``."""
    parser = commands.add_parser("convert-data", help="convert the data of probes to CSV", description=_DESCRIPTION)
    _add_arguments(parser)
    parser.set_defaults(func=convert)


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("files", nargs="+", metavar="FILE", help="data file of a run")
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("-t", "--type", choices=["per-run", "per-lease", "counter"], help="which table to print")
    what.add_argument("-l", "--list-counters", action="store_true", help="list the counters, one per line")
    parser.add_argument("-c", "--counter", metavar="NAME", help="with -t counter: the counter to print")
    parser.add_argument("-f", "--format", choices=["csv"], default="csv", help="output format (default: csv)")


def convert(given: argparse.Namespace) -> int:
    """Print the table or list that the command line asks for."""
    if (given.type == "counter") != (given.counter is not None):
        raise InvalidValueError("--counter", "goes with --type counter, and only with it; --list-counters names them")
    runs = [AccountedRun(*read_data_file(path)) for path in given.files]
    if given.list_counters:
        print("\n".join(converted.counter_names(runs)))
    elif given.type == "per-run":
        sys.stdout.write(converted.per_run(runs))
    elif given.type == "per-lease":
        sys.stdout.write(converted.per_lease(runs))
    else:
        sys.stdout.write(converted.counter(runs, given.counter))
    return 0
