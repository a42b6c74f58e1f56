"""Group ``metrics``: metrics for Prometheus."""

from __future__ import annotations

from oslo_config import cfg

GROUP = cfg.OptGroup("metrics", title="Metrics for Prometheus")

OPTIONS: list[cfg.Opt] = [
    cfg.BoolOpt(
        "enabled",
        default=False,
        help="Whether lease-scheduler-engine and lease-scheduler-api serve metrics. The embedded service always does, "
        "at /metrics.",
    ),
    cfg.HostAddressOpt(
        "host",
        default="127.0.0.1",
        help="Address on which metrics are served. Every client that can reach it can read them.",
    ),
    cfg.PortOpt("engine_port", default=9732, help="Port on which lease-scheduler-engine serves its metrics."),
    cfg.PortOpt("api_port", default=9733, help="Port on which lease-scheduler-api serves its metrics."),
    cfg.BoolOpt(
        "per_project",
        default=False,
        help="Whether there are gauges for each project. Prometheus keeps a time series for each of them.",
    ),
]
