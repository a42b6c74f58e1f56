"""``lease-scheduler-engine``: plan leases, and have the cloud carry out what is due.

Any number of engines may run. One of them leads.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Sequence

from cotyledon import Service, ServiceManager, oslo_config_glue
from cotyledon.types import WorkerId
from oslo_config import cfg
from oslo_log import log

from lease_scheduler.cmd import configuration
from lease_scheduler.cmd.clouds.loader import warn_of_simulation
from lease_scheduler.cmd.messages import one_line_errors
from lease_scheduler.cmd.metrics_server import MetricsServer, process_registry
from lease_scheduler.cmd.wiring import check_engine, engine_service
from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.service.leading import EngineService

LOG = logging.getLogger(__name__)


class _Process(Service):
    """The engine in its own process, which a supervisor restarts if it dies.

    :param arguments: the command line
    """

    name = "engine"

    def __init__(self, worker_id: WorkerId, conf: cfg.ConfigOpts, arguments: Sequence[str]) -> None:
        super().__init__(worker_id)
        self._conf = conf
        self._arguments = arguments
        self._engine: EngineService | None = None
        self._metrics: MetricsServer | None = None

    def run(self) -> None:
        """Start the engine, which leads as soon as it can; its threads do the rest."""
        registry = process_registry()
        self._engine = engine_service(self._conf, configuration.engine_name(), registry)
        self._engine.start()
        group = self._conf.metrics
        if group.enabled:
            try:
                self._metrics = MetricsServer(registry, group.host, group.engine_port, "engine_port")
            except InvalidValueError:
                # The engine runs without metrics rather than not at all: another engine here may have the port.
                LOG.exception("this engine serves no metrics")

    def terminate(self) -> None:
        """Finish the current work and stop."""
        if self._metrics is not None:
            self._metrics.stop()
        if self._engine is not None:
            self._engine.stop()

    def reload(self) -> None:
        """Reload the files, and apply changed options that may change while the engine runs."""
        configuration.Reloading(self._conf, self._arguments, check_engine, self._take_over)()

    def _take_over(self) -> None:
        if self._engine is not None:
            self._engine.take_over_options()


@one_line_errors
def main(arguments: Sequence[str] | None = None) -> None:
    """Run until a signal ends the program; SIGHUP reloads the options that may change."""
    given = tuple(sys.argv[1:] if arguments is None else arguments)
    conf = configuration.load(given, program="lease-scheduler-engine")
    oslo_config_glue.register_opts(conf)
    log.setup(conf, configuration.PROJECT)
    # Checked here, because the supervisor would restart an engine process again and again if it failed.
    check_engine(conf)
    warn_of_simulation(conf)
    manager = ServiceManager(graceful_shutdown_timeout=conf.graceful_shutdown_timeout)
    # This process restarts the engine if it dies, and must then pass on the present options.
    manager.register_hooks(on_reload=configuration.Reloading(conf, given, check_engine, lambda: None, tells=False))
    manager.add(_Process, workers=1, args=(conf, given))
    manager.run()
