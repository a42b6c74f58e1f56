"""``lease-scheduler-embedded``: API, engine and calendar page in one process, for trying things out.

The database is a file, and messages stay within the process. Unless options say otherwise, the cloud is simulated and
callers are not authenticated. The service listens on loopback only.
"""

from __future__ import annotations

import argparse
import fcntl
import logging
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import IO, Any, Protocol

from oslo_config import cfg
from oslo_log import log

from lease_scheduler.cmd import configuration, rest, wiring
from lease_scheduler.cmd.messages import one_line_errors
from lease_scheduler.cmd.metrics_server import process_registry
from lease_scheduler.cmd.operator import OPERATOR
from lease_scheduler.cmd.optional import needs_extra
from lease_scheduler.cmd.signals import EndingSignals
from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.service.core import journal
from lease_scheduler.service.leading import EngineService
from lease_scheduler.store.sql import migrate, purge
from lease_scheduler.store.sql.reader import SqlReader

#: Speed of the demonstration's clock relative to real time: a day takes less than three minutes.
_SPEED = 600.0

#: Maximum real seconds until the engine leads, with the plan of a large pool, and seconds between two checks.
_PATIENCE = 60.0
_PAUSE = 0.05

#: Warning to the person who starts the service with [api] auth_strategy = noauth.
_WITHOUT_KEYSTONE = "callers are not authenticated"


@one_line_errors
def main(arguments: Sequence[str] | None = None) -> None:
    """Run until Ctrl-C or a signal ends the program."""
    options, rest_of_arguments = _parser().parse_known_args(sys.argv[1:] if arguments is None else arguments)
    conf = _configuration(options, rest_of_arguments)
    if not rest.is_loopback(conf.api.host):
        unauthenticated = conf.api.auth_strategy == "noauth"
        reason = f"and {_WITHOUT_KEYSTONE}" if unauthenticated else "which lease-scheduler-api is for"
        raise InvalidValueError(
            "api.host", f"{conf.api.host} can be reached from other machines, {reason}; use 127.0.0.1 or ::1"
        )
    log.setup(conf, configuration.PROJECT)
    companion = _demonstration if options.demonstration else None
    Embedded(conf, companion, fills_pool=options.fill_pool).run(EndingSignals())


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="lease-scheduler-embedded", description="Also accepts the options of oslo.config, such as --config-file."
    )
    parser.add_argument("--state-path", type=Path, default=Path("var"), help="folder of the database (default: var)")
    parser.add_argument(
        "--host", default="127.0.0.1", help="loopback address to listen on, such as ::1 (default: 127.0.0.1)"
    )
    parser.add_argument("--port", type=int, default=1234, help="port to listen on (default: 1234)")
    pool = parser.add_mutually_exclusive_group()
    pool.add_argument(
        "--fill-pool",
        action="store_true",
        help="add every host of the simulated cloud to the pool, if the pool has no hosts",
    )
    pool.add_argument(
        "--demonstration",
        action="store_true",
        help="submit a recorded workload, week after week, on a clock that runs faster",
    )
    return parser


def _configuration(options: argparse.Namespace, arguments: Sequence[str]) -> cfg.ConfigOpts:
    state_path = options.state_path.resolve() / ("demonstration" if options.demonstration else "plain")
    _make_folder(state_path, "--state-path")
    if not 0 <= options.port < 65_536:
        raise InvalidValueError("--port", f"must be from 0 to 65535, not {options.port}")
    defaults: dict[tuple[str, str], Any] = {
        ("api", "auth_strategy"): "noauth",
        ("api", "host"): options.host,
        ("api", "port"): options.port,
        ("service", "cloud"): "simulated",
        ("service", "state_path"): str(state_path),
        ("database", "connection"): f"sqlite:///{state_path}/lease-scheduler.sqlite",
        ("simulated_cloud", "clock_speed"): _SPEED if options.demonstration else 1.0,
    }
    conf = configuration.load(arguments, defaults, program="lease-scheduler-embedded")
    wiring.default_transport(conf, "fake://")
    return conf


def _make_folder(path: Path, option: str) -> None:
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InvalidValueError(option, f"{path} cannot be made: {error.strerror}") from error


def _reserve(folder: Path, option: str) -> IO[str]:
    """Lock a folder against other processes as long as the returned file is open.

    :raises InvalidValueError: another process uses the folder, or it cannot be written to
    """
    _make_folder(folder, option)
    try:
        file = (folder / "in-use").open("w")
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise InvalidValueError(option, f"another process uses {folder}; end it or name another folder") from None
    except OSError as error:
        raise InvalidValueError(option, f"{folder} cannot be written to: {error.strerror}") from error
    return file


class Companion(Protocol):
    """A task that runs beside the service, in the same process, while the service answers requests."""

    def start(self) -> None:
        """Start. The service already answers requests."""

    def stop(self) -> None:
        """Stop sending requests to the service. Called even if the start failed."""


#: Makes a companion, given the configuration, the URL of the REST service, and the engine, which does not run yet.
MakeCompanion = Callable[[cfg.ConfigOpts, str, EngineService], Companion]


def _demonstration(conf: cfg.ConfigOpts, url: str, engine: EngineService) -> Companion:
    """Return a companion that submits a recorded workload."""
    # The readers of workloads take long to load, and are optional.
    with needs_extra("simulator"):
        from lease_scheduler.simulation.demonstration import Demonstration

    # At this speed, the full log would be too long to read.
    logging.getLogger(journal.__name__).setLevel(logging.WARNING)
    state = Path(conf.service.state_path) / "demonstration.json"
    return Demonstration(url, state, engine.clock, partial(purge.purge, wiring.database(conf)))


def _fill_pool(engine: EngineService) -> None:
    """Add every host of the cloud to a pool without hosts."""
    plan = engine.plan
    if plan is not None and not plan.records.hosts:
        names = [hypervisor.name for hypervisor in engine.driver.hypervisors()]
        engine.methods["create_hosts"](OPERATOR, names)


class Embedded:
    """The whole service in one process.

    :param make_companion: makes the task that runs beside the service; None for no such task
    :param state_option: name that the user knows for the option with the service's folder, for error messages
    :param fills_pool: whether a pool without hosts gets all hosts of the cloud before the service answers requests
    """

    def __init__(
        self,
        conf: cfg.ConfigOpts,
        make_companion: MakeCompanion | None = None,
        state_option: str = "--state-path",
        *,
        fills_pool: bool = False,
    ) -> None:
        self._conf = conf
        self._state_option = state_option
        self._fills_pool = fills_pool
        self._reserved = _reserve(Path(conf.service.state_path), state_option)
        self._database = wiring.database(conf)
        migrate.upgrade(self._database)
        registry = process_registry()
        self._engine = wiring.engine_service(conf, configuration.engine_name(), registry)
        engine_client, reader = wiring.engine_client(conf), SqlReader(self._database, conf.service.site)
        app = rest.application(conf, engine_client, reader, self._engine.clock, registry, shows_metrics=True)
        self._server = rest.server(conf, app)
        self._companion = None if make_companion is None else make_companion(conf, self._server.url, self._engine)

    def run(self, signals: EndingSignals) -> None:
        """Serve until a signal comes.

        :param signals: signals that end the service
        :raises InvalidValueError: the engine cannot be started; the log says why
        """
        self._engine.start()
        try:
            if self._is_leading(signals):
                self._serve(signals)
        finally:
            self._engine.stop()
            self._reserved.close()
        print("stopped", flush=True)

    def _is_leading(self, signals: EndingSignals) -> bool:
        """Wait until the engine leads; return False if a signal comes first."""
        end = time.monotonic() + _PATIENCE
        while not self._engine.leadership.is_leading.is_set():
            if signals.wait(_PAUSE):
                return False
            if time.monotonic() > end:
                raise InvalidValueError(self._state_option, "the engine cannot be started on it; the log says why")
        return True

    def _serve(self, signals: EndingSignals) -> None:
        if self._fills_pool:
            _fill_pool(self._engine)
        self._server.start()
        if self._conf.api.auth_strategy == "noauth":
            print(f"{_WITHOUT_KEYSTONE}: every user of this machine is an administrator of this service", flush=True)
        else:
            print("callers are authenticated by Keystone", flush=True)
        print(f"calendar page: {self._server.url}/   API: {self._server.url}/v1   end it with Ctrl-C", flush=True)
        try:
            if self._companion is not None:
                self._companion.start()
            signals.wait()
        finally:
            if self._companion is not None:
                self._companion.stop()
            self._server.stop()
