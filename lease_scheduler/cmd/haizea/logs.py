"""Logs of Haizea's programs, at Haizea's levels (haizea F44)."""

from __future__ import annotations

import logging
from pathlib import Path

from oslo_config import cfg
from oslo_log import log

from lease_scheduler.haizea.log_levels import LEVELS, name_levels


def configure_service_log(conf: cfg.ConfigOpts, project: str, level: str, file: Path | None) -> None:
    """Set up the log of the service.

    :param level: one of Haizea's levels; with VDEBUG, libraries log everything, too
    :param file: file that the log goes to; None for standard error
    """
    name_levels()
    if file is not None:
        conf.set_override("log_file", str(file.resolve()))
    if level == "VDEBUG":
        conf.set_override("default_log_levels", [])
    log.setup(conf, project)
    logging.getLogger().setLevel(LEVELS[level])


def configure_simulation_log(level: str, file: Path | None) -> None:
    """Set up the log of a simulation; the parameters are as for the service."""
    name_levels()
    logging.basicConfig(level=LEVELS[level], filename=file, format="%(levelname)s %(name)s %(message)s")
