"""The programs of a world: the same parts as those of the real ones, put together by ``cmd.wiring``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from oslo_config import cfg

from lease_scheduler.cmd import configuration, rest, wiring
from lease_scheduler.cmd.messaging import set_request_threads
from lease_scheduler.rehearsal.runtime.rest import URL, Application
from lease_scheduler.store.sql import migrate

#: What connects the programs with the servers of the world, whatever an operator configures.
_WORLD: Mapping[tuple[str, str], Any] = {
    ("api", "auth_strategy"): "noauth",
    ("api", "allowed_hosts"): [urlsplit(URL).hostname],
    ("service", "cloud"): "simulated",
    ("service", "coordination_url"): "rehearsal://elections",
    ("database", "connection"): "rehearsal+memory:///lease_scheduler",
}

#: Number of threads of an engine that answer requests. oslo.messaging has 64, each of which looks for work once a
#: second; nearly all of the time of a world would be theirs.
_REQUEST_THREADS = 4


class ServicePrograms:
    """Programs of the service with the simulated cloud (see ``rehearsal.world.Programs``).

    :param arguments: further options, as on the command line
    :param defaults: (group, option) -> default, for options that differ in this rehearsal
    """

    def __init__(self, arguments: Sequence[str] = (), defaults: Mapping[tuple[str, str], Any] | None = None) -> None:
        self._arguments = tuple(arguments)
        self._defaults = dict(defaults or {})

    def _configuration(self, folder: Path) -> cfg.ConfigOpts:
        defaults = {**_WORLD, ("service", "state_path"): str(folder), **self._defaults}
        conf = configuration.load(self._arguments, defaults, "lease-scheduler-manage", find_files=False)
        wiring.default_transport(conf, "rehearsal://")
        set_request_threads(conf, _REQUEST_THREADS)
        return conf

    def prepare(self, folder: Path) -> None:
        """See ``Programs``."""
        database = wiring.database(self._configuration(folder))
        migrate.upgrade(database)
        database.dispose()

    def engine(self, folder: Path) -> None:
        """See ``Programs``."""
        wiring.engine_service(self._configuration(folder), configuration.engine_name()).start()

    def api(self, folder: Path) -> Application:
        """See ``Programs``."""
        conf = self._configuration(folder)
        return rest.application(conf, *wiring.for_api(conf))
