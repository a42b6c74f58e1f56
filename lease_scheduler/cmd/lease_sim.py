"""``lease-sim``: run recorded workloads, repeat the experiments, and prepare workloads."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from lease_scheduler.cmd import experiments, simulate, workload_tools
from lease_scheduler.cmd.messages import OneLineParser
from lease_scheduler.model.errors import LeaseSchedulerError

_USAGE_ERROR = 2


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; the exit code is 0 if it did what was asked, 2 if something given to it is wrong.

    :param arguments: the words after the program's name, those of the process if none
    """
    parser: argparse.ArgumentParser = OneLineParser(
        prog="lease-sim", description="Simulates leases on the engine of the lease scheduler."
    )
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    simulate.add_parser(commands)
    experiments.add_parser(commands)
    workload_tools.add_parsers(commands)
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
