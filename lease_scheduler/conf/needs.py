"""Group ``needs``: how much CPU the servers of fluid leases need."""

from __future__ import annotations

from oslo_config import cfg

from lease_scheduler.conf.prometheus import prometheus_options

GROUP = cfg.OptGroup("needs", title="How much CPU the servers of fluid leases need")

OPTIONS: list[cfg.Opt] = [
    cfg.StrOpt(
        "source",
        default="declared",
        help="How it is known what the servers of fluid leases need: declared (the VCPU of their leases), or an entry "
        "point in the namespace lease_scheduler.needs, which measures what they use: agent (the agents on compute "
        "hosts, see group agent), prometheus or gnocchi. A lease of which nothing is known needs what it declared.",
    ),
    cfg.IntOpt(
        "interval",
        default=60,
        min=1,
        help="Seconds from one measurement to the next. With the source agent, every third interval may be a trial, in "
        "which a lease that uses all that it is given gets all that others do not hold. With the others, it should be "
        "no shorter than the time from figure to figure there.",
    ),
    *prometheus_options("Source prometheus"),
    cfg.StrOpt(
        "prometheus_query",
        default="",
        help="Source prometheus: query that gives the CPUs that each server uses, and a label with the id of the "
        "server.",
    ),
    cfg.IntOpt(
        "gnocchi_granularity",
        default=300,
        min=1,
        help="Source gnocchi: seconds between two measures of the metric cpu of a server, as Ceilometer polls it. The "
        "archive policy must have this granularity with the aggregation rate:mean.",
    ),
    cfg.FloatOpt("gnocchi_timeout", default=10.0, min=0.1, help="Source gnocchi: seconds to wait for the answer."),
]
