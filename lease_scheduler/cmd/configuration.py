"""The configuration of the service's programs."""

from __future__ import annotations

import socket
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from oslo_config import cfg
from oslo_db import options as database_options
from oslo_log import log

from lease_scheduler.conf import opts
from lease_scheduler.conf.values import ahead_options, planning_options, policy_options
from lease_scheduler.model.errors import InvalidValueError

PROJECT = "lease-scheduler"


def load(
    arguments: Sequence[str],
    defaults: dict[tuple[str, str], Any] | None = None,
    program: str | None = None,
    *,
    find_files: bool = True,
) -> cfg.ConfigOpts:
    """The configuration that files and arguments give; a bad one ends the program with one line and status 2.

    :param arguments: as on the command line: ``--config-file`` and so on
    :param defaults: (group, option) -> value where the program's own defaults differ
    :param find_files: whether files in the usual places count where the arguments name none
    """
    conf = cfg.ConfigOpts()
    opts.register(conf)
    conf.register_opts(database_options.database_opts, group="database")
    log.register_options(conf)
    # It tells of every connection that it makes.
    conf.set_default("default_log_levels", [*log.get_default_log_levels(), "alembic=WARN"])
    for (group, name), value in (defaults or {}).items():
        conf.set_default(name, value, group=group)
    try:
        places: dict[str, Any] = {} if find_files else {"default_config_files": [], "default_config_dirs": []}
        conf(args=list(arguments), project=PROJECT, prog=program, **places)
        check(conf)
    except (cfg.Error, InvalidValueError, ValueError) as error:
        print(f"{program or Path(sys.argv[0]).name}: {error}", file=sys.stderr)
        raise SystemExit(2) from error
    return conf


def check(conf: cfg.ConfigOpts) -> None:
    """Read every option once, so that a bad value is refused at start.

    :raises InvalidValueError: options that do not go together
    :raises oslo_config.cfg.Error: a bad value
    """
    for group, options in opts.list_opts():
        for option in options:
            _ = conf[group.name][option.dest]
    planning_options(conf)
    policy_options(conf)
    ahead_options(conf)


def engine_name() -> str:
    """A name for this process that no other engine has."""
    import os

    return f"{socket.gethostname()}.{os.getpid()}"
