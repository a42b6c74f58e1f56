"""Group ``service``: what API and engine have in common."""

from __future__ import annotations

from oslo_config import cfg

GROUP = cfg.OptGroup("service", title="The service")

OPTIONS: list[cfg.Opt] = [
    cfg.StrOpt("site", default="default", regex="^[a-z0-9-]{1,64}$", help="Name of the pool that is served."),
    cfg.StrOpt(
        "state_path",
        default="/var/lib/lease-scheduler",
        help="Folder for what is not in the database: locks of a single machine and the simulated cloud.",
    ),
    cfg.StrOpt(
        "cloud",
        default="simulated",
        help="Where leases are carried out: a driver's name (entry points lease_scheduler.cloud).",
    ),
    cfg.StrOpt(
        "coordination_url",
        default="file://$state_path/coordination",
        help="Where engines elect the one that leads (tooz): mysql, postgresql, etcd3+http, zookeeper and others; a "
        "file serves engines on one machine.",
    ),
    cfg.ListOpt(
        "notification_topics",
        default=None,
        help="Topics to which notifications are sent, instead of those of [oslo_messaging_notifications]; an empty "
        "list to send none. If neither is set that is lease_notifications. The drivers are those of "
        "[oslo_messaging_notifications], or messagingv2 if none is set.",
    ),
    cfg.IntOpt(
        "quote_lifetime",
        default=300,
        mutable=True,
        min=1,
        help="Seconds for which a quote that is asked to be held keeps its place until it is accepted. It ends earlier "
        "if the lease would have to begin.",
    ),
    cfg.IntOpt(
        "counter_offers",
        default=3,
        mutable=True,
        min=0,
        max=16,
        help="How many offers of other terms who asks for them gets at most in place of a quote that cannot be had; 0 "
        "for none. Each of them is held, and counts in limits, as a quote of its own.",
    ),
    cfg.BoolOpt(
        "replacement_offers",
        default=False,
        help="Whether another lease is held for the consumer of a reservation or deadline lease that cannot begin as "
        "promised, because its hosts failed or are not free in time. What becomes of the lease itself does not depend "
        "on it, unless the other one is accepted.",
    ),
    cfg.FloatOpt("engine_timeout", default=30.0, min=1.0, help="Seconds that a request may wait for the engine."),
]
