"""``lease-scheduler-gateway``: the REST service in front of several sites, which asks them for leases."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace

from oslo_log import log

from lease_scheduler.api.routes.gateway import gateway_routes
from lease_scheduler.cmd import configuration, rest
from lease_scheduler.cmd.gateway_parts import gateway
from lease_scheduler.cmd.messages import one_line_errors
from lease_scheduler.cmd.metrics_server import MetricsServer, process_registry
from lease_scheduler.cmd.signals import EndingSignals
from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.service.runners import ThreadRunner

#: Name of the program, also in messages.
_PROGRAM = "lease-scheduler-gateway"


@one_line_errors
def main(arguments: Sequence[str] | None = None) -> None:
    """Serve until a signal ends the program."""
    given = tuple(sys.argv[1:] if arguments is None else arguments)
    conf = configuration.load(given, program=_PROGRAM)
    log.setup(conf, configuration.PROJECT)
    if conf.api.auth_strategy == "noauth" and not rest.is_loopback(conf.api.host):
        raise InvalidValueError(
            "api.host", f"{conf.api.host} can be reached from other machines, and callers are not authenticated"
        )
    registry = process_registry()
    parts = gateway(conf, configuration.engine_name())
    app = rest.application(
        conf,
        parts.requests,
        parts.reader,
        parts.clock,
        registry,
        settings=replace(rest.api_settings(conf), site=conf.gateway.name),
        routes=gateway_routes(),
        acts_for_projects=False,
        sites=parts.sites,
    )
    server = rest.server(conf, app)
    metrics = None
    if conf.metrics.enabled:
        metrics = MetricsServer(registry, conf.metrics.host, conf.metrics.api_port, "api_port")
    signals, runner = EndingSignals(), ThreadRunner()
    runner.start(parts.workers)
    server.start()
    print(f"listening on {server.url}, for {', '.join(parts.members.names)}", flush=True)
    signals.wait()
    server.stop()
    runner.stop(parts.workers)
    parts.members.end()
    if metrics is not None:
        metrics.stop()
