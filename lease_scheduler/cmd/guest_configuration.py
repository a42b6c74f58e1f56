"""The configuration of ``lease-scheduler-guest`` and of the programs that Slurm calls."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from oslo_config import cfg

from lease_scheduler.conf import guest
from lease_scheduler.guest.errors import WrongSettingError

PROJECT = "lease-scheduler"
PROGRAM = "lease-scheduler-guest"

#: Option of the command line: list what the guest has, and end.
SHOW = cfg.BoolOpt("show", default=False, help="List the leases and nodes that the guest has, and end.")


def read(arguments: Sequence[str], conf: cfg.ConfigOpts, usage: str | None = None) -> None:
    """Read options from files and arguments.

    :raises oslo_config.cfg.Error: an option is wrong
    """
    guest.register(conf)
    conf(args=list(arguments), project=PROJECT, prog=PROGRAM, usage=usage)


def check(conf: cfg.ConfigOpts) -> None:
    """Refuse options that contradict each other, and those that do not exist.

    :raises WrongSettingError: there is such an option
    :raises oslo_config.cfg.Error: an option has a bad value
    """
    group = conf.guest
    for option in guest.OPTIONS:
        group[option.dest]
    if group.requeue_margin > group.drain_margin:
        raise WrongSettingError(
            "guest.requeue_margin", f"must be at most drain_margin = {group.drain_margin}, not {group.requeue_margin}"
        )
    if group.lookahead <= group.drain_margin:
        raise WrongSettingError(
            "guest.lookahead", f"must be more than drain_margin = {group.drain_margin}, not {group.lookahead}"
        )
    if bool(group.handler_script) == bool(group.handler_url):
        raise WrongSettingError("guest.handler_script", "give either handler_script or handler_url")
    known = {option.dest for option in guest.OPTIONS}
    for file in _files(conf):
        for name in _options_in(file):
            if name not in known:
                raise WrongSettingError(
                    f"{file}: [guest] {name}", f"there is no such option; known are {sorted(known)}"
                )


def _files(conf: cfg.ConfigOpts) -> list[Path]:
    named = [Path(name).expanduser() for name in conf.config_file or ()]
    folders = [Path(name).expanduser() for name in conf.config_dir or ()]
    return [*named, *(file for folder in folders for file in sorted(folder.glob("*.conf")))]


def _options_in(file: Path) -> list[str]:
    """Return the names of the options of the group in a file; reading it has succeeded before."""
    sections: dict[str, dict[str, list[str]]] = {}
    cfg.ConfigParser(str(file), sections).parse()
    return [name for section, options in sections.items() if section.lower() == "guest" for name in options]
