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
        "so many seconds. Leave it out to keep them off the pool altogether, as Blazar does.",
    ),
    cfg.FloatOpt(
        "weight_multiplier",
        default=1.0,
        help="How much the time until the next lease counts for servers that belong to none. A negative value fills "
        "the hosts first that leases need soonest. The metadata lease_weight_multiplier of an aggregate overrides it "
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
    """For oslo.config's generator of sample configurations."""
    return [(GROUP, OPTIONS)]


def register(conf: cfg.ConfigOpts) -> Any:
    """The group in a configuration, which need not know it yet."""
    conf.register_opts(OPTIONS, GROUP)
    return conf[GROUP]


def rules(group: Any) -> Rules:
    """The options as the rules that they stand for."""
    return Rules(group.allow_preemptibles, group.on_demand_horizon)
