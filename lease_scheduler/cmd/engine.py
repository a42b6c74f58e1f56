"""``lease-scheduler-engine``: plans, and has the cloud carry out what is due. Any number may run; one leads."""

from __future__ import annotations

import logging
import sys
from collections.abc import Sequence

from cotyledon import Service, ServiceManager, oslo_config_glue
from cotyledon.types import WorkerId
from oslo_config import cfg
from oslo_log import log

from lease_scheduler.cmd import configuration
from lease_scheduler.cmd.messages import one_line_errors
from lease_scheduler.cmd.metrics_server import MetricsServer, process_registry
from lease_scheduler.cmd.wiring import EngineService, check_engine
from lease_scheduler.model.errors import InvalidValueError

LOG = logging.getLogger(__name__)


class _Process(Service):
    """The engine in a process of its own, which another one starts again if it dies.

    :param arguments: of the command line
    """

    name = "engine"

    def __init__(self, worker_id: WorkerId, conf: cfg.ConfigOpts, arguments: Sequence[str]) -> None:
        super().__init__(worker_id)
        self._conf = conf
        self._arguments = arguments
        self._engine: EngineService | None = None
        self._metrics: MetricsServer | None = None

    def run(self) -> None:
        """Start to lead as soon as that can be; the threads of the engine do the rest."""
        registry = process_registry()
        self._engine = EngineService(self._conf, configuration.engine_name(), registry)
        self._engine.start()
        group = self._conf.metrics
        if group.enabled:
            try:
                self._metrics = MetricsServer(registry, group.host, group.engine_port, "engine_port")
            except InvalidValueError:
                # Leases are more important, and another engine on this machine may have the same configuration.
                LOG.exception("this engine serves no metrics")

    def terminate(self) -> None:
        """Finish what is being done."""
        if self._metrics is not None:
            self._metrics.stop()
        if self._engine is not None:
            self._engine.stop()

    def reload(self) -> None:
        """Go on with the options that have changed and may."""
        configuration.Reloading(self._conf, self._arguments, check_engine, self._take_over)()

    def _take_over(self) -> None:
        if self._engine is not None:
            self._engine.take_over_options()


@one_line_errors
def main(arguments: Sequence[str] | None = None) -> None:
    """Run until a signal ends it; SIGHUP has the options read again that may change."""
    given = tuple(sys.argv[1:] if arguments is None else arguments)
    conf = configuration.load(given, program="lease-scheduler-engine")
    oslo_config_glue.register_opts(conf)
    log.setup(conf, configuration.PROJECT)
    # Here and not in the process that plans, which would be started over and over again.
    check_engine(conf)
    manager = ServiceManager(graceful_shutdown_timeout=conf.graceful_shutdown_timeout)
    # This process starts the other one again if it dies, and that must have the options of then.
    manager.register_hooks(on_reload=configuration.Reloading(conf, given, check_engine, lambda: None, tells=False))
    manager.add(_Process, workers=1, args=(conf, given))
    manager.run()
