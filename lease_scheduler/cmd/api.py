"""``lease-scheduler-api``: the REST service, with its own server."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import cast

from oslo_log import log

from lease_scheduler.api.settings import ApiSettings
from lease_scheduler.cmd import configuration, rest, wiring
from lease_scheduler.cmd.messages import one_line_errors
from lease_scheduler.cmd.metrics_server import MetricsServer, process_registry
from lease_scheduler.cmd.replaceable import Replaceable
from lease_scheduler.cmd.signals import EndingSignals
from lease_scheduler.model.errors import InvalidValueError


@one_line_errors
def main(arguments: Sequence[str] | None = None) -> None:
    """Serve until a signal ends the program; SIGHUP reloads the options that may change."""
    given = tuple(sys.argv[1:] if arguments is None else arguments)
    conf = configuration.load(given, program="lease-scheduler-api")
    log.setup(conf, configuration.PROJECT)
    if conf.api.auth_strategy == "noauth":
        raise InvalidValueError("api.auth_strategy", "noauth is for lease-scheduler-embedded only; use keystone")
    registry = process_registry()
    settings = Replaceable(rest.api_settings(conf))
    app = rest.application(conf, *wiring.for_api(conf), registry, settings=cast(ApiSettings, settings))
    server = rest.server(conf, app)
    metrics = None
    if conf.metrics.enabled:
        metrics = MetricsServer(registry, conf.metrics.host, conf.metrics.api_port, "api_port")
    reload = configuration.Reloading(conf, given, lambda fresh: None, lambda: settings.put(rest.api_settings(conf)))
    signals = EndingSignals(reload)
    server.start()
    print(f"listening on {server.url}", flush=True)
    signals.wait()
    server.stop()
    if metrics is not None:
        metrics.stop()
