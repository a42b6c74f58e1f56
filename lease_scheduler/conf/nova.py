"""Group ``nova``: the OpenStack on which leases are carried out, for ``[service] cloud = nova``."""

from __future__ import annotations

from keystoneauth1 import loading
from oslo_config import cfg

GROUP = cfg.OptGroup("nova", title="The OpenStack on which leases are carried out")

OPTIONS: list[cfg.Opt] = [
    cfg.StrOpt("region_name", help="Region whose services are used; needed if the catalogue has several."),
    cfg.StrOpt(
        "interface",
        default="internal",
        choices=["public", "internal", "admin"],
        help="Which endpoints of the catalogue are used.",
    ),
    cfg.StrOpt(
        "aggregate_freepool_name",
        default="freepool",
        help="Host aggregate of all hosts that leases may use, which is made and kept; the option freepool of "
        "nova-scheduler must name the same.",
    ),
    cfg.IntOpt(
        "preparation_time",
        default=60,
        min=0,
        help="Seconds before the start of a reservation or deadline lease at which its hosts are made ready and its "
        "servers are booted, if nobody else has the hosts then. Whoever has to make room for a reservation is out of "
        "the way so much earlier, whatever [scheduling] suspend_buffer says.",
    ),
    cfg.IntOpt(
        "boot_timeout",
        default=600,
        min=1,
        help="Seconds after which a server that Nova has not booted counts as failed; it is tried on other hosts.",
    ),
    cfg.IntOpt(
        "image_timeout",
        default=1800,
        min=0,
        help="Seconds for which the end of a lease waits for images of its servers (before_end and on_end), and keeps "
        "their hosts. Servers without an image are deleted after that, and the lease's project is told.",
    ),
    cfg.IntOpt(
        "operations",
        default=20,
        min=1,
        help="Servers that are shelved, unshelved or moved at the same time at most. The rates in "
        "[scheduling] have to fit what then remains for each.",
    ),
    cfg.IntOpt("operations_per_host", default=4, min=1, help="The same on one compute host."),
    cfg.StrOpt(
        "escalation",
        default="stop",
        choices=[
            ("none", "it is waited for, and the reservation begins late"),
            ("stop", "servers of leases are switched off and stay where they are"),
            ("delete", "servers are switched off, and deleted if that takes too long as well; their work is lost"),
        ],
        help="What is done with preempted servers that are not shelved in time.",
    ),
    cfg.IntOpt(
        "escalate_after",
        default=60,
        min=0,
        help="Seconds after the planned end of a preemption when servers are switched off, and after which again they "
        "are deleted, as far as escalation allows.",
    ),
    cfg.StrOpt(
        "intruders",
        default="refuse",
        choices=[
            ("refuse", "they are left alone: the lease gets other hosts, or does without until they have gone"),
            ("shelve", "they are shelved, and unshelved where there is room for them"),
            ("migrate", "they are migrated to other hosts, running on if they run"),
        ],
        help="What is done with ordinary servers on a host that a lease is to have: servers that no lease explains and "
        "that do not give way. An administrator has forced them there, or on_demand_horizon of nova-scheduler has let "
        "them in. Operators are told of each in any case (lease.event.occupied).",
    ),
    cfg.IntOpt(
        "intruder_patience",
        default=60,
        min=0,
        help="Seconds after the planned start of a lease when a server that was told to leave its host, and has not, "
        "counts as one that stays; the lease then gets another host or does without this one.",
    ),
    cfg.BoolOpt(
        "ordinary_servers",
        default=False,
        help="Whether ordinary servers may be on hosts of the pool, as with on_demand_horizon of nova-scheduler. If "
        "not, each of them is told to operators when leases and cloud are compared, before a lease needs its host.",
    ),
    cfg.FloatOpt(
        "lost_after",
        default=60.0,
        min=0.0,
        help="Seconds for which a server must be busy without any service of Nova having begun to work on it before "
        "Nova counts as having lost the command, as when its API or the message broker is killed. The state of the "
        "server is reset then, and it is told again.",
    ),
    cfg.FloatOpt(
        "stalled_after",
        default=300.0,
        min=0.0,
        help="The same for a server on which a service of Nova has begun to work, and may have died, while nothing is "
        "copied: longer than a server takes to shut down.",
    ),
    cfg.FloatOpt(
        "hung_after",
        default=7200.0,
        min=0.0,
        help="The same while a disk or memory is copied, which shows no progress: longer than the upload of the "
        "largest disk to the image store takes.",
    ),
    cfg.FloatOpt(
        "watch_interval",
        default=10.0,
        min=0.1,
        help="Seconds between two looks at what happens in the cloud by itself: hosts that go down, servers that their "
        "owners delete. Notifications make no difference to it: a host that dies sends none.",
    ),
    cfg.FloatOpt(
        "down_grace",
        default=60.0,
        min=0.0,
        help="Seconds for which Nova must have called a compute service down before its host counts as dead. A "
        "service whose report was lost when the message bus went away reports again after Nova's rpc_response_timeout "
        "(60) only. So this is more than that and report_interval (10) together, less service_down_time (60), plus "
        "the time that the bus takes to restart. Less, and leases on hosts that are well may fail with the bus.",
    ),
    cfg.FloatOpt(
        "reconnection_grace",
        default=45.0,
        min=0.0,
        help="Seconds more where most compute services were down together, as after an outage of the message bus: it "
        "is back, and they connect to it one after the other. More than [oslo_messaging_rabbit] rabbit_interval_max "
        "(30) and Nova's report_interval (10) together.",
    ),
    cfg.FloatOpt(
        "inspect_interval",
        default=60.0,
        min=0.1,
        help="Seconds between two looks at what is dear to ask for: inventories and traits of the hosts in Placement, "
        "host aggregates that were edited by hand, other people's servers on hosts that a lease has for itself.",
    ),
    cfg.ListOpt(
        "notification_topics",
        default=["versioned_notifications"],
        help="Topics of Nova's versioned notifications (its option [notifications] versioned_notifications_topics), "
        "after which it is looked at once; none to look at intervals only.",
    ),
    cfg.StrOpt(
        "notification_transport_url",
        secret=True,
        help="Where Nova's notifications are sent; none for where those of this service are sent ([oslo_messaging_"
        "notifications] transport_url, or else transport_url).",
    ),
    cfg.StrOpt(
        "notification_exchange",
        default="nova",
        help="Exchange of Nova's notifications (its option control_exchange).",
    ),
    *loading.get_session_conf_options(),
    *loading.get_auth_common_conf_options(),
]

#: Those of the usual way to log in; keystoneauth registers the ones of the way that ``auth_type`` names itself.
PLUGIN_OPTIONS: list[cfg.Opt] = loading.get_auth_plugin_conf_options("v3password")
