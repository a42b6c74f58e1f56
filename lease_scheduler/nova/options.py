"""Options of the filter and the weigher, in the configuration of nova-scheduler."""

from __future__ import annotations

from typing import Any

from oslo_config import cfg

from lease_scheduler.nova.rules import Rules

GROUP = "lease_scheduler"

OPTIONS = [
    cfg.StrOpt(
        "freepool",
        default="freepool",
        help="Name of the aggregate whose hosts are for leases. An aggregate with the metadata lease:pool=true counts "
        "as well.",
    ),
    cfg.BoolOpt(
        "allow_preemptibles",
        default=True,
        help="Whether servers of a preemptible flavor (extra spec lease:preemptible=true, or blazar:preemptible=true) "
        "may use hosts of the pool that no lease has for itself. They are shelved when a lease needs their host.",
    ),
    cfg.IntOpt(
        "on_demand_horizon",
        min=0,
        help="Ordinary servers, which cannot be preempted, may use a host of the pool if no lease begins there within "
        "this number of seconds. Leave it out to keep them off the pool altogether, as Blazar does.",
    ),
    cfg.FloatOpt(
        "weight_multiplier",
        default=1.0,
        help="How much the time until the next lease counts for servers that belong to none. A negative value first "
        "fills the hosts that leases need soonest. The metadata lease_weight_multiplier of an aggregate overrides it "
        "for its hosts.",
    ),
    cfg.IntOpt(
        "weight_longest",
        default=30 * 86_400,
        min=1,
        help="Seconds until the next lease after which one host is as good as another.",
    ),
]


def list_opts() -> list[tuple[str, list[Any]]]:
    """Return the options by group, for oslo.config's sample generator."""
    return [(GROUP, OPTIONS)]


def register(conf: cfg.ConfigOpts) -> Any:
    """Register the options in a configuration and return their group."""
    conf.register_opts(OPTIONS, GROUP)
    return conf[GROUP]


def rules(group: Any) -> Rules:
    """Return the rules that the options describe."""
    return Rules(group.allow_preemptibles, group.on_demand_horizon)
