"""``lease-sim campaign``: run every configuration of a Haizea multi-configuration (haizea F42, S14)."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from lease_scheduler.cmd.options.loading import load_configuration
from lease_scheduler.cmd.options.simulation import overhead_options, run_settings
from lease_scheduler.haizea.configuration.multi_conf import Configuration, read_multi_conf
from lease_scheduler.model.errors import InputFileError
from lease_scheduler.simulation.campaigns.case import Case, Outcome
from lease_scheduler.simulation.campaigns.configured import TABLES, ConfiguredCase
from lease_scheduler.simulation.campaigns.runner import Execution, run_campaign
from lease_scheduler.simulation.campaigns.tables import concatenate
from lease_scheduler.simulation.formats.files import replace_file

_RUNS = "runs"


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the sub-command to the parser."""
    parser = commands.add_parser(
        "campaign",
        help="run every configuration of a multi-configuration of Haizea",
        description="Runs the product of profiles, traces, annotations and injections. Results are kept in the "
        "output directory: a second call goes on where the first one stopped, and tries again what failed.",
    )
    parser.add_argument("file", metavar="FILE", help="multi-configuration of Haizea")
    parser.add_argument("--output", metavar="DIR", required=True, help="where results go")
    add_execution_options(parser)
    parser.set_defaults(func=campaign)


def add_execution_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that decide where and how the runs of a campaign are executed."""
    parser.add_argument("--jobs", type=int, metavar="N", help="processes at a time; one per core by default")
    parser.add_argument(
        "--scheduler",
        metavar="ADDRESS",
        help="run on the workers of this scheduler of dask.distributed, or of the one that wrote this file",
    )
    parser.add_argument("--quiet", action="store_true", help="no progress")


def execution(given: argparse.Namespace) -> Execution:
    """Return the values of the options that ``add_execution_options`` added."""
    return Execution(given.jobs, given.scheduler, given.quiet)


def campaign(given: argparse.Namespace) -> int:
    """Run the multi-configuration named on the command line, and concatenate the tables of all its runs."""
    directory = Path(given.output)
    cases = [_case(configuration) for configuration in read_multi_conf(given.file)]
    inputs = dict.fromkeys([Path(given.file), *(file for case in cases for file in case.inputs)])

    def keep(case: Case, outcome: Outcome) -> Outcome:
        return _keep(directory / _RUNS / case.name, outcome)

    done = run_campaign(cases, directory, execution(given), inputs=list(inputs), keep=keep)
    written = concatenate((directory / _RUNS / name for name in done), directory)
    if not given.quiet:
        print("Results: " + ", ".join(str(path) for path in written), file=sys.stderr)
    return 0


def _case(configuration: Configuration) -> ConfiguredCase:
    haizea = configuration.conf
    conf = load_configuration([], haizea.overrides)
    return ConfiguredCase(
        name=configuration.name,
        trace=haizea.tracefile,
        annotation=haizea.annotationfile,
        injection=haizea.injectionfile,
        settings=run_settings(conf),
        overheads=overhead_options(conf),
        site=haizea.site,
        attributes=configuration.attributes,
        options=haizea.overrides,
    )


def _keep(folder: Path, outcome: Outcome) -> Outcome:
    """Write the tables of a run into its folder, and return the outcome without them."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputFileError(str(folder), None, f"cannot be made: {error.strerror}") from error
    for name, text in outcome[TABLES].items():
        replace_file(folder / name, text.encode())
    return {name: value for name, value in outcome.items() if name != TABLES}
