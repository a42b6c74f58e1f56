"""``lease-sim``: run recorded workloads, repeat the experiments, and prepare workloads."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from typing import NoReturn

from lease_scheduler.cmd import convert_data, experiments, simulate, workload_tools
from lease_scheduler.model.errors import LeaseSchedulerError

_USAGE_ERROR = 2


class _Parser(argparse.ArgumentParser):
    """Says in one line what is wrong with the command line, as every other error is said."""

    def error(self, message: str) -> NoReturn:
        self.exit(_USAGE_ERROR, f"{self.prog}: {message}; see {self.prog} --help\n")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; the exit code is 0 if it did what was asked, 2 if something given to it is wrong.

    :param arguments: the words after the program's name, those of the process if none
    """
    parser: argparse.ArgumentParser = _Parser(
        prog="lease-sim", description="Simulates leases on the engine of the lease scheduler."
    )
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    simulate.add_parser(commands)
    experiments.add_parser(commands)
    workload_tools.add_parsers(commands)
    convert_data.add_parser(commands)
    given = parser.parse_args(arguments)
    try:
        return int(given.func(given))
    except LeaseSchedulerError as error:
        print(f"lease-sim: {error}", file=sys.stderr)
        return _USAGE_ERROR
    except BrokenPipeError:
        # Whoever read our output has seen enough.
        sys.stderr.close()
        return 0
    except KeyboardInterrupt:
        print("lease-sim: interrupted", file=sys.stderr)
        return 130


if __name__ == "__main__":
    sys.exit(main())
