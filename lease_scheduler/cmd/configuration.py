"""The configuration of the service's programs."""

from __future__ import annotations

import logging
import socket
import sys
from collections.abc import Callable, Sequence
from math import isfinite
from pathlib import Path
from typing import Any

from oslo_config import cfg
from oslo_db import options as database_options
from oslo_log import log

from lease_scheduler.cmd.options.pools import check_pools
from lease_scheduler.conf import opts
from lease_scheduler.conf.unknown import files_of, refuse_unknown_options
from lease_scheduler.conf.values import ahead_options, live_planning_options, policy_options, watts
from lease_scheduler.model.errors import InvalidValueError

LOG = logging.getLogger(__name__)

PROJECT = "lease-scheduler"


def load(
    arguments: Sequence[str],
    defaults: dict[tuple[str, str], Any] | None = None,
    program: str | None = None,
    *,
    find_files: bool = True,
) -> cfg.ConfigOpts:
    """Return the configuration from files and arguments. If it is invalid, end the program with one line and status 2.

    :param arguments: arguments as on the command line: ``--config-file`` and so on
    :param defaults: (group, option) -> default, for options whose defaults differ in this program
    :param find_files: whether to read the files in the usual places if the arguments name none
    """
    try:
        conf = _read(arguments, defaults, program, find_files=find_files)
    except (cfg.Error, InvalidValueError, ValueError) as error:
        print(f"{program or Path(sys.argv[0]).name}: {error}", file=sys.stderr)
        raise SystemExit(2) from error
    return conf


def _read(
    arguments: Sequence[str],
    defaults: dict[tuple[str, str], Any] | None = None,
    program: str | None = None,
    *,
    find_files: bool = True,
) -> cfg.ConfigOpts:
    """Return the checked configuration; see ``load``."""
    conf = cfg.ConfigOpts()
    opts.register(conf)
    conf.register_opts(database_options.database_opts, group="database")
    log.register_options(conf)
    # At INFO, alembic logs every connection that it opens.
    conf.set_default("default_log_levels", [*log.get_default_log_levels(), "alembic=WARN"])
    for (group, name), value in (defaults or {}).items():
        conf.set_default(name, value, group=group)
    places: dict[str, Any] = {} if find_files else {"default_config_files": [], "default_config_dirs": []}
    conf(args=list(arguments), project=PROJECT, prog=program, **places)
    opts.register_named(conf)
    check(conf)
    return conf


class Reloading:
    """Reloads the files while a program runs, and applies the options that may change (``mutable``).

    :param conf: configuration of the program
    :param arguments: command line with which it was loaded
    :param check: raises ``InvalidValueError`` if the program cannot use a configuration
    :param take_over: called after ``conf`` got the new values, to apply them
    :param tells: whether to log the result; false in one of two processes that read the same files
    """

    def __init__(
        self,
        conf: cfg.ConfigOpts,
        arguments: Sequence[str],
        check: Callable[[cfg.ConfigOpts], None],
        take_over: Callable[[], None],
        *,
        tells: bool = True,
    ) -> None:
        self._log = LOG.log if tells else (lambda *_: None)
        self._conf = conf
        self._arguments = tuple(arguments)
        self._check = check
        self._take_over = take_over

    def __call__(self) -> None:
        """Reload the files. If they are invalid, log this and keep the present options."""
        try:
            fresh = _read(self._arguments)
            self._check(fresh)
        except (cfg.Error, InvalidValueError, ValueError, SystemExit) as error:
            self._log(logging.ERROR, "the configuration stays as it was, because the new one cannot be used: %s", error)
            return
        needs_restart = _changed(self._conf, fresh, mutable=False)
        self._conf.mutate_config_files()
        self._take_over()
        if needs_restart:
            self._log(logging.WARNING, "these options have changed and need a restart: %s", ", ".join(needs_restart))
        self._log(logging.INFO, "the configuration was read again")


def _changed(before: cfg.ConfigOpts, after: cfg.ConfigOpts, *, mutable: bool) -> list[str]:
    """Return the names, as ``group.option``, of our options whose values differ.

    :param mutable: whether to compare options that may change at runtime, or all others
    """
    return [
        f"{group.name}.{option.name}"
        for group, options in opts.all_opts(before)
        for option in options
        if option.mutable is mutable
        and group.name in after
        and before[group.name][option.dest] != after[group.name][option.dest]
    ]


def check(conf: cfg.ConfigOpts) -> None:
    """Read every option once, so that a bad value is refused at the start.

    :raises InvalidValueError: options contradict each other, or do not exist
    :raises oslo_config.cfg.Error: an option has a bad value
    """
    refuse_unknown_options(files_of(conf))
    for group, options in opts.all_opts(conf):
        for option in options:
            value = conf[group.name][option.dest]
            if isinstance(value, float) and not isfinite(value):
                raise InvalidValueError(f"{group.name}.{option.name}", f"must be a finite number, not {value}")
    live_planning_options(conf)
    policy_options(conf)
    ahead_options(conf)
    watts(conf)
    check_pools(conf)


def engine_name() -> str:
    """Return a name for this process that no other engine has."""
    import os

    return f"{socket.gethostname()}.{os.getpid()}"
