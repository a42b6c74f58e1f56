"""Group ``engine``: how the engine carries out the plan and deals with deviations from it."""

from __future__ import annotations

from oslo_config import cfg, types

GROUP = cfg.OptGroup("engine", title="The engine")

OPTIONS: list[cfg.Opt] = [
    cfg.IntOpt(
        "boot_attempts",
        default=3,
        min=1,
        help="How many times the VMs of a lease are started before the lease fails. A reservation or immediate lease "
        "is moved to other hosts this number of times at most, and then started again on its own until its end, at "
        "first every two seconds and later every minute. If the VMs are to be resumed from a saved state, the lease "
        "waits after this number of failures instead. Nothing of it is deleted, and it is tried again after 30 "
        "seconds, then at growing intervals.",
    ),
    cfg.IntOpt(
        "breach_tolerance",
        default=60,
        min=0,
        help="Seconds for which a lease may start late, or run with fewer nodes than promised, before this counts as "
        "a breach of its terms.",
    ),
    cfg.IntOpt(
        "host_repair_time",
        default=3600,
        min=1,
        help="Seconds for which a host that goes down is expected to stay down. Leases that are planned there within "
        "this time are moved.",
    ),
    cfg.IntOpt(
        "planning_lead",
        default=0,
        min=0,
        help="Nothing that waits is planned to start within this number of seconds from now. This leaves time to "
        "carry out the plan.",
    ),
    cfg.IntOpt(
        "workers", default=32, min=1, help="Number of steps that are carried out in the cloud at the same time."
    ),
    cfg.FloatOpt(
        "reconcile_interval",
        default=300.0,
        mutable=True,
        min=1.0,
        help="Seconds between two comparisons of leases with what exists in the cloud.",
    ),
    cfg.IntOpt(
        "minutes_before_end",
        default=60,
        min=0,
        help="How many minutes before the end of a lease its project is notified, unless the lease says when; 0 for "
        "never.",
    ),
    cfg.IntOpt(
        "minutes_before_start",
        default=0,
        min=0,
        help="How many minutes before the start of a lease its project is notified; at short notice, it is notified at "
        "once. If the start changes after that, it is notified again. 0 for never.",
    ),
    cfg.IntOpt(
        "preemption_warning",
        default=120,
        min=0,
        help="When the project of a preempted lease is notified: this number of seconds before the servers of the "
        "lease are put away or lost, or at once if there is less time. 0 for never. [scheduling] preemption_grace "
        "guarantees a minimum time.",
    ),
    cfg.IntOpt(
        "announce_horizon",
        default=3600,
        min=0,
        help="The cloud is told which hosts leases will use within this number of seconds, so that servers without a "
        "lease are placed where they can stay. On Nova, LeaseFilter (on_demand_horizon) and LeaseWeigher read this. 0 "
        "disables it.",
    ),
    cfg.ListOpt(
        "guest_assurances",
        item_type=types.Float(),
        default=[],
        help="Probabilities for which lifetimes are promised to preemptible servers without a lease, such as 0.95,0.8. "
        "The first one counts for flavors that name none. For each host the cloud is told how long a server that "
        "starts now runs before a lease takes its room. It needs [scheduling] policy_assurance = statistical or both. "
        "On Nova, LeaseFilter reads it for flavors with the extra spec lease:min_lifetime. Empty for no promises.",
    ),
    cfg.BoolOpt(
        "discover_hosts",
        default=False,
        help="Whether hosts that are added to the pool in the cloud are accepted, as if they had been added by a "
        "request. On Nova, the pool is the aggregate of [nova] aggregate_freepool_name. Otherwise they are removed "
        "from the pool again.",
    ),
    cfg.BoolOpt("explain_refusals", default=True, help="Whether a refusal says what would fit instead."),
]
