"""Group ``nova``: the OpenStack on which leases are carried out, for ``[service] cloud = nova``."""

from __future__ import annotations

from keystoneauth1 import loading
from oslo_config import cfg

GROUP = cfg.OptGroup("nova", title="The OpenStack on which leases are carried out")

OPTIONS: list[cfg.Opt] = [
    cfg.StrOpt("region_name", help="Region of the services. Required if the catalogue has several."),
    cfg.StrOpt(
        "interface",
        default="internal",
        choices=["public", "internal", "admin"],
        help="Interface of the catalogue's endpoints to use.",
    ),
    cfg.StrOpt(
        "aggregate_freepool_name",
        default="freepool",
        help="Host aggregate that contains all hosts that leases may use. The service creates and maintains it. The "
        "option freepool of nova-scheduler must have the same value.",
    ),
    cfg.IntOpt(
        "preparation_time",
        default=60,
        min=0,
        help="Seconds before the start of a reservation or deadline lease at which its hosts are prepared and its "
        "servers are booted, if no other lease has the hosts at that time. Victims of a reservation leave its hosts "
        "this much earlier, regardless of [scheduling] suspend_buffer.",
    ),
    cfg.IntOpt(
        "boot_timeout",
        default=600,
        min=1,
        help="Seconds after which a server that Nova has not booted counts as failed. It is then tried on other hosts.",
    ),
    cfg.IntOpt(
        "image_timeout",
        default=1800,
        min=0,
        help="Seconds after the end of a lease for which its servers are kept until images of them (before_end and "
        "on_end) are complete. They are stopped, and other leases can have their hosts. Servers without an image are "
        "deleted after that, and the project of the lease is notified.",
    ),
    cfg.IntOpt(
        "operations",
        default=20,
        min=1,
        help="Maximum number of servers that are shelved, unshelved or moved at the same time. The rates in "
        "[scheduling] must be those of one server while this number of operations is in progress.",
    ),
    cfg.IntOpt("operations_per_host", default=4, min=1, help="Maximum number of such servers on one compute host."),
    cfg.StrOpt(
        "escalation",
        default="stop",
        choices=[
            ("none", "nothing; the reservation waits and starts late"),
            ("stop", "the servers are switched off and stay on their hosts"),
            ("delete", "the servers are switched off, and deleted if that also takes too long; their work is lost"),
        ],
        help="What happens to preempted servers that are not shelved in time.",
    ),
    cfg.IntOpt(
        "escalate_after",
        default=60,
        min=0,
        help="Seconds after the planned end of a preemption at which its servers are switched off. After the same "
        "time again they are deleted. The option escalation says which of these steps are taken.",
    ),
    cfg.StrOpt(
        "intruders",
        default="refuse",
        choices=[
            ("refuse", "they stay: the lease gets other hosts, or does without the host until they have gone"),
            ("shelve", "they are shelved, and unshelved where there is room"),
            ("migrate", "they are migrated to other hosts, live if they are running"),
        ],
        help="What happens to ordinary servers on a host that a lease is about to get: servers that belong to no "
        "lease and are not preemptible. Either an administrator has forced them there, or on_demand_horizon of "
        "nova-scheduler has let them in. Operators are notified of each of them in any case (lease.event.occupied).",
    ),
    cfg.IntOpt(
        "intruder_patience",
        default=60,
        min=0,
        help="Seconds after the planned start of a lease for which a server that was told to leave its host, or is "
        "being deleted or shelved by its owner, may stay. After that the lease gets another host, or does without this "
        "one.",
    ),
    cfg.BoolOpt(
        "ordinary_servers",
        default=False,
        help="Whether ordinary servers may be on hosts of the pool, as with on_demand_horizon of nova-scheduler. "
        "Otherwise each of them is reported to operators when leases and cloud are compared, before a lease needs its "
        "host.",
    ),
    cfg.MultiStrOpt(
        "pci_alias",
        default=[],
        help="PCI alias of Nova, as in the option alias of the group [pci] of nova.conf; may be given several times. "
        "Flavors of leases ask for PCI devices by these aliases. Resource classes and traits must be written as "
        "Placement names them. Nova must have [filter_scheduler] pci_in_placement.",
    ),
    cfg.IntOpt(
        "cpu_shares_per_vcpu",
        default=0,
        min=0,
        max=10_000,
        help="CPU weight of servers of leases for each of their virtual CPUs: the private flavors of leases get "
        "quota:cpu_shares of this many times their CPUs, at least 2 and at most 10000. Otherwise libvirt gives every "
        "server of a host the same weight, whatever its size. Use 100 on hosts with cgroups version 2, where a server "
        "without quota:cpu_shares has a weight of 100, and 1024 with version 1. 0 leaves flavors as they are.",
    ),
    cfg.FloatOpt(
        "lost_after",
        default=60.0,
        min=0.0,
        help="Seconds after which a command to a server counts as lost if the server is busy but no service of Nova "
        "has begun to work on it. This happens when Nova's API, its database or the message broker is killed. The "
        "state of the server is then reset, and the command is repeated. If it is the boot of a server of a managed "
        "lease, and no other boot has been completed for this time either, the server is deleted and booted anew.",
    ),
    cfg.FloatOpt(
        "stalled_after",
        default=300.0,
        min=0.0,
        help="The same for a server on which a service of Nova has begun to work, while nothing is copied: the "
        "service may have died. Must be longer than the shutdown of a server takes.",
    ),
    cfg.FloatOpt(
        "hung_after",
        default=7200.0,
        min=0.0,
        help="The same while a disk or memory is copied, because copying shows no progress. Must be longer than the "
        "upload of the largest disk to the image store takes.",
    ),
    cfg.FloatOpt(
        "watch_interval",
        default=10.0,
        min=0.1,
        help="Seconds between two checks for changes that the cloud makes by itself: hosts that go down, and servers "
        "that their projects delete. Notifications do not change this interval, because a host that dies sends none.",
    ),
    cfg.FloatOpt(
        "down_grace",
        default=60.0,
        min=0.0,
        help="Seconds for which Nova must have reported a compute service as down before its host counts as dead. If "
        "the report of a service is lost because the message bus goes away, the service reports again only after "
        "Nova's rpc_response_timeout (60). Therefore this must be more than rpc_response_timeout plus report_interval "
        "(10) minus service_down_time (60), plus the time that the bus takes to restart. If it is less, leases on "
        "healthy hosts may fail when the bus does.",
    ),
    cfg.FloatOpt(
        "reconnection_grace",
        default=45.0,
        min=0.0,
        help="Additional seconds if most compute services were down together, as after an outage of the message bus: "
        "the services reconnect one after the other. Must be more than [oslo_messaging_rabbit] rabbit_interval_max "
        "(30) plus Nova's report_interval (10).",
    ),
    cfg.FloatOpt(
        "inspect_interval",
        default=60.0,
        min=0.1,
        help="Seconds between two checks that need many requests: inventories and traits of the hosts in Placement, "
        "host aggregates that were edited by hand, and servers of other projects on hosts that a lease has for "
        "itself.",
    ),
    cfg.ListOpt(
        "notification_topics",
        default=["versioned_notifications"],
        help="Topics of Nova's versioned notifications (Nova's option [notifications] "
        "versioned_notifications_topics). The service checks the cloud as soon as a notification arrives. If the list "
        "is empty, it checks at intervals only.",
    ),
    cfg.StrOpt(
        "notification_transport_url",
        secret=True,
        help="Message bus of Nova's notifications. Defaults to the bus for the notifications of this service "
        "([oslo_messaging_notifications] transport_url, or else transport_url).",
    ),
    cfg.StrOpt(
        "notification_exchange",
        default="nova",
        help="Exchange of Nova's notifications (Nova's option control_exchange).",
    ),
    *loading.get_session_conf_options(),
    *loading.get_auth_common_conf_options(),
]

#: Options of the usual authentication plug-in, for the sample configuration. In programs, keystoneauth registers those
#: of the plug-in that ``auth_type`` names.
PLUGIN_OPTIONS: list[cfg.Opt] = loading.get_auth_plugin_conf_options("v3password")
