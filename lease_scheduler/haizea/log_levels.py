"""Haizea's log levels: STATUS between INFO and WARNING, VDEBUG below DEBUG (haizea F44)."""

from __future__ import annotations

import logging

STATUS = logging.INFO + 5
VDEBUG = logging.DEBUG // 2

LEVELS = {"STATUS": STATUS, "INFO": logging.INFO, "DEBUG": logging.DEBUG, "VDEBUG": VDEBUG}


def name_levels() -> None:
    """Register the names of Haizea's own levels with ``logging``."""
    logging.addLevelName(STATUS, "STATUS")
    logging.addLevelName(VDEBUG, "VDEBUG")
