"""The programs of a world: the same parts as those of the real ones, put together by ``cmd.wiring``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from random import Random
from typing import Any
from urllib.parse import urlsplit

from oslo_config import cfg

from lease_scheduler.cmd import configuration, rest, wiring
from lease_scheduler.cmd.messaging import set_request_threads
from lease_scheduler.rehearsal.cloud.cloud import Cloud
from lease_scheduler.rehearsal.runtime import current
from lease_scheduler.rehearsal.runtime.processes import Process
from lease_scheduler.rehearsal.runtime.rest import URL, Application
from lease_scheduler.rehearsal.site import PASSWORD, SERVICE_PROJECT, SERVICE_USER
from lease_scheduler.store.sql import migrate

#: What connects the programs with the servers of the world, whatever an operator configures.
_WORLD: Mapping[tuple[str, str], Any] = {
    ("api", "auth_strategy"): "noauth",
    ("api", "allowed_hosts"): [urlsplit(URL).hostname],
    ("service", "cloud"): "simulated",
    ("service", "coordination_url"): "rehearsal://elections",
    ("database", "connection"): "rehearsal+memory:///lease_scheduler",
}

#: What connects them with the model of a cloud, too.
_CLOUD: Mapping[tuple[str, str], Any] = {
    ("api", "auth_strategy"): "keystone",
    ("service", "cloud"): "nova",
    # By default, engines ask three times as often, which takes most of the time of a world in which little happens.
    ("nova", "watch_interval"): 30,
    ("nova", "inspect_interval"): 120,
}

#: How the service logs in. These are options of plug-ins, of which only a file can say something.
_LOGIN = f"""auth_type = password
auth_url = {Cloud.auth_url}
region_name = {Cloud.region}
username = {SERVICE_USER}
password = {PASSWORD}
project_name = {SERVICE_PROJECT}
user_domain_id = default
project_domain_id = default
"""

#: Number of threads of an engine that answer requests. oslo.messaging has 64, each of which looks for work once a
#: second; nearly all of the time of a world would be theirs.
_REQUEST_THREADS = 4

_FILE = "lease-scheduler.conf"

#: Options that an operator changes while engines run: (group, option) -> values.
_CHANGED: Mapping[tuple[str, str], Sequence[int | str]] = {
    ("scheduling", "policy_preemption"): ("by-kind", "deadline", "mov", "ar-preempts-be", "no-preemption"),
    ("scheduling", "policy_host_selection"): ("greedy", "packing", "worst-fit", "vector-fit"),
    ("scheduling", "policy_mapper"): ("greedy", "spread"),
    ("scheduling", "policy_queueing"): ("fifo", "priority", "edf"),
    ("engine", "preemption_warning"): (0, 60, 120),
    ("engine", "minutes_before_end"): (0, 10, 60),
    ("engine", "host_repair_time"): (600, 3_600),
}


class ServicePrograms:
    """Programs of the service (see ``rehearsal.world.Programs``).

    :param arguments: further options, as on the command line
    :param options: (group, option) -> value, for options that differ in this rehearsal
    :param with_nova: whether they use the model of a cloud with Keystone and Nova; otherwise, the cloud is one that the
        engine simulates itself, which is faster
    """

    def __init__(
        self,
        arguments: Sequence[str] = (),
        options: Mapping[tuple[str, str], Any] | None = None,
        *,
        with_nova: bool = False,
    ) -> None:
        self._arguments = tuple(arguments)
        self._options = {**_WORLD, **(_CLOUD if with_nova else {}), **(options or {})}
        self._with_nova = with_nova
        self._engines: list[tuple[Process, configuration.Reloading]] = []
        self._folder: Path | None = None

    def _configuration(self, folder: Path) -> tuple[cfg.ConfigOpts, tuple[str, ...]]:
        """Return the configuration of a program, and the command line that it is loaded with."""
        file = folder / _FILE
        if not file.exists():
            self._options["service", "state_path"] = str(folder)
            self._write(file)
        self._folder = folder
        arguments = ("--config-file", str(file), *self._arguments)
        conf = configuration.load(arguments, {}, "lease-scheduler-manage", find_files=False)
        wiring.default_transport(conf, "rehearsal://")
        set_request_threads(conf, _REQUEST_THREADS)
        return conf, arguments

    def _write(self, file: Path) -> None:
        groups: dict[str, list[str]] = {}
        for (group, name), value in sorted(self._options.items()):
            text = ",".join(value) if isinstance(value, list) else value
            groups.setdefault(group, []).append(f"{name} = {text}")
        if self._with_nova:
            for group in ("nova", "keystone_authtoken"):
                groups.setdefault(group, []).append(_LOGIN)
        file.write_text("".join(f"[{group}]\n" + "\n".join(lines) + "\n" for group, lines in groups.items()))

    def reload(self, random: Random) -> None:
        """Change some options, and have all engines load their file again, as an operator does.

        :param random: decides which values they get
        """
        assert self._folder is not None
        for option, values in _CHANGED.items():
            self._options[option] = random.choice(values)
        self._write(self._folder / _FILE)
        self._engines = [each for each in self._engines if each[0].is_alive]
        for process, reloading in self._engines:
            process.start(reloading)

    def prepare(self, folder: Path) -> None:
        """See ``Programs``."""
        conf, _ = self._configuration(folder)
        database = wiring.database(conf)
        migrate.upgrade(database)
        database.dispose()

    def engine(self, folder: Path) -> None:
        """See ``Programs``."""
        conf, arguments = self._configuration(folder)
        service = wiring.engine_service(conf, configuration.engine_name())
        thread = current.thread()
        assert thread is not None
        reloading = configuration.Reloading(conf, arguments, wiring.check_engine, service.take_over_options)
        self._engines.append((thread.process, reloading))
        service.start()

    def api(self, folder: Path) -> Application:
        """See ``Programs``."""
        conf, _ = self._configuration(folder)
        return rest.application(conf, *wiring.for_api(conf))
