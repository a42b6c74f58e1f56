"""Configurations without a command line of oslo.config: from files, and from single options by name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from oslo_config import cfg

from lease_scheduler.conf import opts
from lease_scheduler.conf.unknown import all_names, files_of, refuse_unknown_options
from lease_scheduler.model.errors import InvalidValueError


def load_configuration(config_files: Iterable[Path], overrides: Mapping[str, str]) -> cfg.ConfigOpts:
    """Return the configuration of a run.

    :param config_files: files in oslo.config's format; later ones take precedence
    :param overrides: ``group.option`` -> value as text; these take precedence over files
    :raises InvalidValueError: an option is unknown or has a bad value; the error names it
    """
    conf = cfg.ConfigOpts()
    opts.register(conf)
    try:
        conf(args=[], project="lease-scheduler", default_config_files=[str(path) for path in config_files])
    except cfg.Error as error:
        raise InvalidValueError("--config-file", str(error)) from error
    refuse_unknown_options(files_of(conf))
    opts.register_named(conf)
    for name, text in overrides.items():
        override(conf, name, text)
    _check_values(conf)
    return conf


def override(conf: cfg.ConfigOpts, name: str, text: str) -> None:
    """Set one option.

    :param name: ``group.option``; the option may have its deprecated name
    :param text: value as in a configuration file
    :raises InvalidValueError: the option does not exist, or the text is not a valid value for it
    """
    group, _, option = name.partition(".")
    known = {group.name: options for group, options in opts.list_opts()}
    declared = next((o for o in known.get(group, ()) if option in all_names(o)), None)
    if declared is None:
        close = sorted(f"{g}.{o.dest}" for g, os in known.items() for o in os if o.dest == option or g == group)
        raise InvalidValueError(name, f"there is no such option; known are {', '.join(close or sorted(known))}")
    try:
        value = declared.type(text)
        if isinstance(declared, cfg.MultiOpt):
            value = [*conf[group][declared.dest], value]
        conf.set_override(declared.dest, value, group=group)
    except ValueError as error:
        raise InvalidValueError(name, str(error)) from error


def _check_values(conf: cfg.ConfigOpts) -> None:
    """Read every option once, so that a bad value in a file is refused at the start."""
    for group, options in opts.list_opts():
        for option in options:
            try:
                conf[group.name][option.dest]
            except (cfg.Error, ValueError) as error:
                raise InvalidValueError(f"{group.name}.{option.name}", str(error)) from error
