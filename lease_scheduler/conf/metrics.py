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
    cfg.IntOpt(
        "acceptable_wait",
        default=0,
        min=0,
        help="Longest acceptable time, in seconds, from the submission of a lease, or the earliest start of a deadline "
        "lease, to its first run. lease_scheduler_lease_waits_total counts which leases waited longer. With 0 it "
        "follows from the duration of each lease and acceptable_wait_factor.",
    ),
    cfg.FloatOpt(
        "acceptable_wait_factor",
        default=5.0,
        min=0.0,
        help="Longest acceptable wait as a multiple of the requested duration of a lease, unless acceptable_wait is "
        "given. An endless lease is then never too late.",
    ),
]
