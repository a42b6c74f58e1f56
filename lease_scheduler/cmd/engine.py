"""``lease-scheduler-engine``: plans, and has the cloud carry out what is due. Any number may run; one leads."""

from __future__ import annotations

import logging
import sys
from collections.abc import Sequence

from oslo_config import cfg
from oslo_log import log
from oslo_service.backend import BackendType, init_backend

from lease_scheduler.cmd import configuration
from lease_scheduler.cmd.messages import one_line_errors
from lease_scheduler.cmd.metrics_server import MetricsServer, process_registry
from lease_scheduler.model.errors import InvalidValueError

# Before anything else of oslo.service is imported; its default is another one.
init_backend(BackendType.THREADING)

from oslo_service import service  # noqa: E402

from lease_scheduler.cmd.wiring import EngineService, check_engine  # noqa: E402

LOG = logging.getLogger(__name__)


class _Process(service.Service):  # type: ignore[misc]
    """The engine as oslo.service runs it, in a process of its own below the launcher."""

    def __init__(self, conf: cfg.ConfigOpts) -> None:
        super().__init__()
        self._conf = conf
        self._engine: EngineService | None = None
        self._metrics: MetricsServer | None = None

    def start(self) -> None:
        registry = process_registry()
        self._engine = EngineService(self._conf, configuration.engine_name(), registry)
        self._engine.start()
        group = self._conf.metrics
        if group.enabled:
            try:
                self._metrics = MetricsServer(registry, group.host, group.engine_port, "engine_port")
            except InvalidValueError:
                # Leases are more important, and another engine on this machine may have the same configuration.
                LOG.exception("nobody can ask this engine for metrics")

    def stop(self, graceful: bool = False) -> None:
        if self._metrics is not None:
            self._metrics.stop()
            self._metrics = None
        if self._engine is not None:
            self._engine.stop()
            self._engine = None
        super().stop(graceful)


@one_line_errors
def main(arguments: Sequence[str] | None = None) -> None:
    """Run until a signal ends it."""
    conf = configuration.load(sys.argv[1:] if arguments is None else arguments, program="lease-scheduler-engine")
    log.setup(conf, configuration.PROJECT)
    # The launcher would start a process that fails on a wrong option over and over again.
    check_engine(conf)
    service.launch(conf, _Process(conf), workers=1, restart_method="mutate").wait()
