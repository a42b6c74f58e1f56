"""Group ``engine``: how the engine meets what was not planned."""

from __future__ import annotations

from oslo_config import cfg

GROUP = cfg.OptGroup("engine", title="The engine")

OPTIONS: list[cfg.Opt] = [
    cfg.IntOpt(
        "boot_attempts",
        default=3,
        min=1,
        help="How often the VMs of a lease are started before it fails. Where they were saved, the lease waits after "
        "that many failures to bring them back: nothing of it is deleted, and it is tried again after 30 seconds, then "
        "ever less often.",
    ),
    cfg.IntOpt(
        "breach_tolerance",
        default=60,
        min=0,
        help="Seconds by which a lease may begin late, or go on with fewer nodes than it was promised, before that "
        "counts as a breach of its terms.",
    ),
    cfg.IntOpt(
        "host_repair_time",
        default=3600,
        min=1,
        help="Seconds for which a host that went down is thought to stay away; leases of that time are moved.",
    ),
    cfg.IntOpt(
        "planning_lead",
        default=0,
        min=0,
        help="Seconds from now in which nothing that waits is begun, so that there is time to carry a plan out.",
    ),
    cfg.IntOpt("workers", default=32, min=1, help="Steps that the cloud is asked to carry out at the same time."),
    cfg.FloatOpt(
        "reconcile_interval",
        default=300.0,
        mutable=True,
        min=1.0,
        help="Seconds between two comparisons of leases with what really exists in the cloud.",
    ),
    cfg.IntOpt(
        "minutes_before_end",
        default=60,
        min=0,
        help="How long before the end of a lease its consumer is told, unless the lease says when; 0 for never.",
    ),
    cfg.IntOpt(
        "preemption_warning",
        default=120,
        min=0,
        help="How many seconds before its servers are put away or lost the consumer of a preempted lease is told, at "
        "short notice at once; 0 for never. How much time he has at least is [scheduling] preemption_grace.",
    ),
    cfg.IntOpt(
        "announce_horizon",
        default=3600,
        min=0,
        help="Seconds ahead for which the cloud is told on which hosts leases begin, so that servers without a lease "
        "are put where they may stay; on Nova, LeaseFilter (on_demand_horizon) and LeaseWeigher read it. 0 to tell "
        "nothing.",
    ),
    cfg.BoolOpt(
        "discover_hosts",
        default=False,
        help="Whether hosts that somebody puts into the pool in the cloud, on Nova the aggregate of [nova] "
        "aggregate_freepool_name, are taken in as if they had been asked for. Without, they are put out again.",
    ),
    cfg.BoolOpt("explain_refusals", default=True, help="Whether a refused lease is told what would fit instead."),
]
