"""Group ``power``: hosts that sleep."""

from __future__ import annotations

from oslo_config import cfg

GROUP = cfg.OptGroup("power", title="Hosts that sleep when no lease needs them")

OPTIONS: list[cfg.Opt] = [
    cfg.StrOpt(
        "driver",
        default="noop",
        help="What switches hosts off and on: an entry point in the namespace lease_scheduler.power, such as script, "
        "redfish or ironic; noop switches nothing. Which hosts sleep is decided by [scheduling] policy_power, or by an "
        "operator.",
    ),
    cfg.FloatOpt(
        "driver_timeout", default=30.0, min=0.1, help="Seconds to wait for an answer of the hardware or its manager."
    ),
    cfg.StrOpt(
        "script",
        default="",
        help="Driver script: absolute path of a program that is run as <script> status|on|off <host>. With status it "
        "prints on, off or unknown. An exit status other than 0 is an error.",
    ),
    cfg.StrOpt(
        "redfish_hosts",
        default="",
        help="Driver redfish: file in YAML with the address, user and password of the controller of each host: "
        "host1: {address: https://bmc1.example.org, user: admin, password: secret}. With system, the path of the "
        "system is given where a controller has several. Only the user of the service may read it.",
    ),
    cfg.StrOpt(
        "redfish_cafile",
        default="",
        help="Driver redfish: file of CA certificates to trust. If it is empty, those of the system are trusted.",
    ),
    cfg.DictOpt(
        "ironic_nodes",
        default={},
        help="Driver ironic: host:node, separated by commas, for hosts that have another name in Ironic. A node is "
        "given by its name or its UUID.",
    ),
    cfg.StrOpt("ironic_region_name", help="Driver ironic: region of Ironic. Required if the catalogue has several."),
    cfg.StrOpt(
        "ironic_interface",
        default="internal",
        choices=["public", "internal", "admin"],
        help="Driver ironic: interface of the catalogue's endpoint to use.",
    ),
    cfg.StrOpt(
        "ironic_cafile",
        default="",
        help="Driver ironic: file of CA certificates to trust. If it is empty, those of the system are trusted.",
    ),
    cfg.IntOpt(
        "wake_time",
        default=120,
        min=1,
        help="Seconds from the command to switch a host on until servers can start on it. Leases are planned on a "
        "sleeping host from that time on, and hosts wake as much ahead of the leases on them.",
    ),
    cfg.IntOpt(
        "shutdown_time",
        default=60,
        min=0,
        help="Seconds that a host needs to switch off. It cannot wake before.",
    ),
    cfg.IntOpt(
        "wake_margin",
        default=60,
        min=0,
        help="Seconds by which a host may wake late without consequences. A host that is later still counts as "
        "failed: leases get other hosts, or start without it.",
    ),
    cfg.IntOpt(
        "sleep_horizon",
        default=3600,
        min=0,
        help="A host goes to sleep by itself only if no lease is planned on it in as many seconds.",
    ),
    cfg.IntOpt(
        "minimum_on_time",
        default=600,
        min=0,
        help="Seconds for which a host that woke stays awake at least, before it goes to sleep by itself.",
    ),
    cfg.IntOpt(
        "spare_hosts",
        default=0,
        min=0,
        help="Number of hosts without leases that do not go to sleep by themselves, for leases that start at once.",
    ),
    cfg.IntOpt(
        "decision_interval",
        default=600,
        min=1,
        help="Seconds from one decision of the power policy about waiting best-effort leases to the next.",
    ),
    cfg.FloatOpt(
        "poll_interval",
        default=5.0,
        min=0.01,
        help="Seconds between two looks at hosts that fall asleep or wake.",
    ),
    cfg.FloatOpt(
        "sleep_timeout",
        default=600.0,
        min=1.0,
        help="Seconds after which a host that does not fall asleep, for example because servers are on it, is woken.",
    ),
    cfg.FloatOpt(
        "watts_awake",
        default=117.0,
        min=0.0,
        help="Power of a host that is awake, in watts. A property watts_awake of a host takes precedence. From this "
        "the energy is computed that sleeping hosts save.",
    ),
    cfg.FloatOpt(
        "watts_asleep",
        default=0.0,
        min=0.0,
        help="Power of a host that sleeps, in watts. A property watts_asleep of a host takes precedence.",
    ),
]
