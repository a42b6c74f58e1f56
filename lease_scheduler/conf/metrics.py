"""Group ``metrics``: what Prometheus scrapes."""

from __future__ import annotations

from oslo_config import cfg

GROUP = cfg.OptGroup("metrics", title="Metrics for Prometheus")

OPTIONS: list[cfg.Opt] = [
    cfg.BoolOpt(
        "enabled",
        default=False,
        help="Whether lease-scheduler-engine and lease-scheduler-api show their metrics. The embedded service does at "
        "/metrics in any case.",
    ),
    cfg.HostAddressOpt(
        "host", default="127.0.0.1", help="Address on which metrics can be asked for, by whoever reaches it."
    ),
    cfg.PortOpt("engine_port", default=9732, help="Port on which lease-scheduler-engine shows its metrics."),
    cfg.PortOpt("api_port", default=9733, help="Port on which lease-scheduler-api shows its metrics."),
    cfg.BoolOpt(
        "per_project",
        default=False,
        help="Whether there are also gauges for each project. Prometheus keeps a series for every one of them.",
    ),
]
