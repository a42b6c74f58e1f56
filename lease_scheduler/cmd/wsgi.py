"""The REST service for WSGI servers: ``lease_scheduler.cmd.wsgi:application``.

The variable ``LEASE_SCHEDULER_CONFIG`` names the configuration files, separated by colons. Without it, they are looked
for in the usual places of oslo.config.
"""

from __future__ import annotations

import importlib
import os

from oslo_log import log

from lease_scheduler.cmd import configuration, wiring
from lease_scheduler.cmd.memory import keep_what_is_loaded
from lease_scheduler.cmd.rest import Application
from lease_scheduler.cmd.rest import application as rest_application
from lease_scheduler.model.errors import InvalidValueError


def build() -> Application:
    """Return the application.

    :raises InvalidValueError: an option is wrong
    """
    named = [name for name in os.environ.get("LEASE_SCHEDULER_CONFIG", "").split(":") if name]
    conf = configuration.load([word for name in named for word in ("--config-file", name)], program="wsgi")
    log.setup(conf, configuration.PROJECT)
    if conf.api.auth_strategy == "noauth":
        raise InvalidValueError("api.auth_strategy", "noauth is for lease-scheduler-embedded only; use keystone")
    threads = server_threads()
    made = rest_application(conf, *wiring.for_api(conf, threads), threads=threads)
    keep_what_is_loaded()
    return made


def server_threads() -> int | None:
    """Return the number of threads that uWSGI gives this process, or None with another server.

    From this follows how many requests may wait for the engine, so that threads stay free for lists and health checks.
    """
    try:
        uwsgi = importlib.import_module("uwsgi")
    except ImportError:
        return None
    return int(uwsgi.opt.get("threads", 1))


application = build()
