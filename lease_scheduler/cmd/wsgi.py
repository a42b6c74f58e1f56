"""The REST service for WSGI servers: ``lease_scheduler.cmd.wsgi:application``.

Configuration files are looked for as by every program of oslo.config, or named by ``LEASE_SCHEDULER_CONFIG``, several
of them parted by colons.
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
    """The application.

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
    """Return how many threads uWSGI gives this process, or None below another server.

    Fewer wait for the engine than there are, so that health and lists find one.
    """
    try:
        uwsgi = importlib.import_module("uwsgi")
    except ImportError:
        return None
    return int(uwsgi.opt.get("threads", 1))


application = build()
