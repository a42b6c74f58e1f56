"""Group ``service``: options of both the API and the engine."""

from __future__ import annotations

from oslo_config import cfg

GROUP = cfg.OptGroup("service", title="The service")

OPTIONS: list[cfg.Opt] = [
    cfg.StrOpt("site", default="default", regex="^[a-z0-9-]{1,64}$", help="Name of the pool that is served."),
    cfg.StrOpt(
        "state_path",
        default="/var/lib/lease-scheduler",
        help="Directory for state that is not in the database: locks of engines on a single machine, and the "
        "simulated cloud.",
    ),
    cfg.StrOpt(
        "cloud",
        default=None,
        help="Driver of the cloud in which leases are carried out: nova, simulated, or another entry point in the "
        "namespace lease_scheduler.cloud. The service does not start without it, except for lease-scheduler-embedded "
        "and haizea, which simulate the cloud by default. With simulated, hosts and servers are invented, and no lease "
        "gets a server.",
    ),
    cfg.StrOpt(
        "coordination_url",
        default="file://$state_path/coordination",
        help="Where engines elect their leader (tooz): mysql, postgresql, etcd3+http, zookeeper and others. A file "
        "URL serves engines on one machine.",
    ),
    cfg.ListOpt(
        "notification_topics",
        default=None,
        help="Topics to which notifications are sent, instead of those of [oslo_messaging_notifications]. With an "
        "empty list, none are sent. If neither option is set, the topic is lease_notifications. The drivers are those "
        "of [oslo_messaging_notifications], or messagingv2 if none is set.",
    ),
    cfg.IntOpt(
        "quote_lifetime",
        default=300,
        mutable=True,
        min=1,
        help="Seconds for which a quote is held until it is accepted. It ends earlier if the lease is due to start "
        "earlier.",
    ),
    cfg.IntOpt(
        "counter_offers",
        default=3,
        mutable=True,
        min=0,
        max=16,
        help="Maximum number of counter-offers for a request that cannot be met; 0 for none. Each counter-offer is a "
        "held quote, and counts towards limits as such.",
    ),
    cfg.BoolOpt(
        "replacement_offers",
        default=False,
        help="Whether another lease is offered to the project of a reservation or deadline lease that cannot start as "
        "promised, because its hosts failed or are not free in time. The offer changes nothing for the original lease "
        "unless it is accepted.",
    ),
    cfg.IntOpt(
        "max_feeds",
        default=10,
        mutable=True,
        min=0,
        help="Maximum number of feeds of a project. Whoever knows the secret address of a feed can read the leases of "
        "the project without a token. With 0, projects can make no feeds, and those that exist are not served.",
    ),
    cfg.FloatOpt(
        "engine_timeout", default=30.0, min=1.0, help="Maximum time that a request waits for the engine, in seconds."
    ),
]
