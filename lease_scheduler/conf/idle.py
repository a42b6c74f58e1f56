"""Group ``idle``: leases whose servers use nothing."""

from __future__ import annotations

from oslo_config import cfg

from lease_scheduler.conf.prometheus import prometheus_options

GROUP = cfg.OptGroup("idle", title="Leases whose servers use nothing")

OPTIONS: list[cfg.Opt] = [
    cfg.StrOpt(
        "meter",
        default="none",
        help="How it is measured what the servers of leases use: an entry point in the namespace "
        "lease_scheduler.meter, such as cloud (the CPU times that Nova has in the diagnostics of servers) or "
        "prometheus; none measures nothing, so no lease is idle.",
    ),
    cfg.IntOpt("interval", default=600, min=1, mutable=True, help="Seconds from one measurement to the next."),
    cfg.IntOpt(
        "notify_after",
        default=86_400,
        min=1,
        mutable=True,
        help="Idle seconds after which the project of a lease is notified. Time in which it is not known whether a "
        "lease is used does not count.",
    ),
    cfg.IntOpt(
        "end_after",
        default=0,
        min=0,
        mutable=True,
        help="Further idle seconds after which a lease is ended; 0 for never.",
    ),
    cfg.IntOpt(
        "settling_time",
        default=600,
        min=0,
        mutable=True,
        help="Seconds after the start of a lease, or after it resumes, in which it is not known to be idle.",
    ),
    cfg.ListOpt("exempt_project_ids", default=[], mutable=True, help="Ids of projects whose leases are never idle."),
    cfg.FloatOpt(
        "cpu_threshold",
        default=2.0,
        min=0.0,
        max=100.0,
        help="Meter cloud: percentage of its vCPUs that a server uses at least, on average between two measurements, "
        "to be used. Operating systems that do nothing use up to about one percent.",
    ),
    cfg.FloatOpt(
        "request_interval",
        default=0.1,
        min=0.0,
        help="Meter cloud: seconds between two requests for the CPU time of a server. They are made one at a time.",
    ),
    *prometheus_options("Meter prometheus"),
    cfg.StrOpt(
        "prometheus_query",
        default="",
        help="Meter prometheus: query that gives one value for every server, and a label with the id of the server.",
    ),
    cfg.FloatOpt(
        "prometheus_threshold",
        default=0.0,
        help="Meter prometheus: a server whose value is above this one is used.",
    ),
]
