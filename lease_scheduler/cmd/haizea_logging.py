"""Haizea's log levels: STATUS between INFO and WARNING, VDEBUG below DEBUG (haizea F44)."""

from __future__ import annotations

import logging
from pathlib import Path

from oslo_config import cfg
from oslo_log import log

STATUS = logging.INFO + 5
VDEBUG = logging.DEBUG // 2

_LEVELS = {"STATUS": STATUS, "INFO": logging.INFO, "DEBUG": logging.DEBUG, "VDEBUG": VDEBUG}


def configure_service_log(conf: cfg.ConfigOpts, project: str, level: str, file: Path | None) -> None:
    """Set the log of the service up.

    :param level: one of Haizea's words; with VDEBUG libraries tell everything too
    :param file: where it goes, standard error if nowhere
    """
    _name_levels()
    if file is not None:
        conf.set_override("log_file", str(file.resolve()))
    if level == "VDEBUG":
        conf.set_override("default_log_levels", [])
    log.setup(conf, project)
    logging.getLogger().setLevel(_LEVELS[level])


def configure_simulation_log(level: str, file: Path | None) -> None:
    """Set the log of a simulation up; the arguments are as for the service."""
    _name_levels()
    logging.basicConfig(level=_LEVELS[level], filename=file, format="%(levelname)s %(name)s %(message)s")


def _name_levels() -> None:
    logging.addLevelName(STATUS, "STATUS")
    logging.addLevelName(VDEBUG, "VDEBUG")
