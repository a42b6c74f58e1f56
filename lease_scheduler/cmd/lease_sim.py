"""``lease-sim``: run recorded workloads, repeat the experiments, and prepare workloads."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from lease_scheduler.cmd import (
    campaign,
    campaign_files,
    capacity,
    convert_data,
    experiments,
    rate_sweep,
    simulate,
    workload_tools,
    world,
)
from lease_scheduler.cmd.messages import OneLineParser
from lease_scheduler.model.errors import LeaseSchedulerError
from lease_scheduler.simulation.campaigns.runner import CampaignFailedError

_RUNS_FAILED = 1
_USAGE_ERROR = 2


def main(arguments: Sequence[str] | None = None, program: str = "lease-sim") -> int:
    """Run the command line.

    The exit status is 0 on success, 1 if runs of a campaign failed, and 2 if an argument or an input file is wrong.

    :param arguments: arguments after the program's name; None for the command line of the process
    :param program: name of the program in error messages
    """
    parser: argparse.ArgumentParser = OneLineParser(
        prog=program, description="Simulates leases on the engine of the lease scheduler."
    )
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    simulate.add_parser(commands)
    world.add_parser(commands)
    campaign.add_parser(commands)
    campaign_files.add_parsers(commands)
    experiments.add_parser(commands)
    workload_tools.add_parsers(commands)
    rate_sweep.add_parser(commands)
    capacity.add_parser(commands)
    convert_data.add_parser(commands)
    given = parser.parse_args(arguments)
    try:
        return int(given.func(given))
    except CampaignFailedError as error:
        print(f"{program}: {error}", file=sys.stderr)
        return _RUNS_FAILED
    except LeaseSchedulerError as error:
        print(f"{program}: {error}", file=sys.stderr)
        return _USAGE_ERROR
    except BrokenPipeError:
        # The reader of our output, such as head, has ended.
        sys.stderr.close()
        return 0
    except KeyboardInterrupt:
        print(f"{program}: interrupted", file=sys.stderr)
        return 130


if __name__ == "__main__":
    sys.exit(main())
