"""``lease-sim generate-configs`` and ``generate-scripts``: write the runs of a multi-configuration to files.

This is Haizea's way to run a campaign (haizea F42).
"""

from __future__ import annotations

import argparse
import sys
from fnmatch import fnmatchcase
from pathlib import Path

from mako.exceptions import MakoException
from mako.template import Template

from lease_scheduler.haizea.configuration.multi_conf import read_multi_conf
from lease_scheduler.model.errors import InputFileError, InvalidValueError
from lease_scheduler.simulation.formats.files import read_lines, replace_file


def add_parsers(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the sub-commands to the parser."""
    configs = commands.add_parser(
        "generate-configs", help="write the individual configurations of a multi-configuration of Haizea"
    )
    configs.add_argument("file", metavar="FILE", help="multi-configuration of Haizea")
    configs.add_argument("--output", metavar="DIR", required=True, help="directory for the configurations, NAME.conf")
    configs.set_defaults(func=generate_configs)

    scripts = commands.add_parser(
        "generate-scripts",
        help="make a script that runs the configurations of a multi-configuration",
        description="Fills in a template of Mako. It sees configs, a list of pairs of a configuration's name and its "
        "file, and etcdir, the folder of these files.",
    )
    scripts.add_argument("file", metavar="FILE", help="multi-configuration of Haizea")
    scripts.add_argument("--configs", metavar="DIR", required=True, help="folder of the generated configurations")
    scripts.add_argument("--template", metavar="FILE", required=True, help="template of the script")
    scripts.add_argument(
        "--only-missing",
        action="store_true",
        help="leave out configurations that already have a data file ([multi] datadir)",
    )
    scripts.add_argument(
        "--exclude",
        action="append",
        default=[],
        metavar="PATTERN",
        help="leave out configurations whose names match, e.g. 'nosr_*'; may be repeated",
    )
    scripts.add_argument("--output", metavar="FILE", help="where the script goes; printed by default")
    scripts.set_defaults(func=generate_scripts)


def generate_configs(given: argparse.Namespace) -> int:
    """Write every configuration of the multi-configuration named on the command line."""
    directory = Path(given.output)
    configurations = read_multi_conf(given.file)
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputFileError(str(directory), None, f"cannot be made: {error.strerror}") from error
    for configuration in configurations:
        replace_file(directory / f"{configuration.name}.conf", configuration.text.encode())
    count = len(configurations)
    print(f"{directory}: {count} {'configuration' if count == 1 else 'configurations'}")
    return 0


def generate_scripts(given: argparse.Namespace) -> int:
    """Fill in the template named on the command line."""
    directory = Path(given.configs).absolute()
    chosen = []
    for configuration in read_multi_conf(given.file):
        data_file = configuration.conf.data_file
        if given.only_missing and data_file is None:
            raise InvalidValueError("--only-missing", f"needs 'datadir' in [multi] of {given.file}")
        is_missing = data_file is None or not data_file.exists()
        if any(fnmatchcase(configuration.name, pattern) for pattern in given.exclude):
            continue
        if is_missing or not given.only_missing:
            chosen.append((configuration.name, str(directory / f"{configuration.name}.conf")))
    script = _rendered(given.template, configs=chosen, etcdir=str(directory))
    if given.output is None:
        sys.stdout.write(script)
    else:
        replace_file(given.output, script.encode())
    return 0


def _rendered(path: str, **values: object) -> str:
    text = "".join(f"{line}\n" for _, line in read_lines(path))
    try:
        return str(Template(text, strict_undefined=True).render(**values))
    except MakoException as error:
        raise InputFileError(path, getattr(error, "lineno", None), f"is no template of Mako: {error}") from error
    except Exception as error:
        # A template is the user's own program, and may raise anything.
        raise InputFileError(path, None, f"the template fails: {type(error).__name__}: {error}") from error
