"""Group ``haizea``: the XML-RPC front for Haizea's clients."""

from __future__ import annotations

from keystoneauth1 import loading
from oslo_config import cfg

GROUP = cfg.OptGroup("haizea", title="The XML-RPC front for Haizea's clients")

#: Port of Haizea's XML-RPC server.
DEFAULT_PORT = 42_493

OPTIONS: list[cfg.Opt] = [
    cfg.HostAddressOpt(
        "host",
        default="127.0.0.1",
        help="Address on which the front listens. It checks nobody's identity, so it refuses addresses that others can "
        "reach unless allow_remote is set.",
    ),
    cfg.PortOpt("port", default=DEFAULT_PORT, help="Port on which the front listens."),
    cfg.BoolOpt(
        "allow_remote",
        default=False,
        help="Whether the front may listen on an address that is not this machine's own. Whoever reaches it can then "
        "do what the front's user may, without a password.",
    ),
    cfg.IntOpt("threads", default=4, min=1, help="Calls that the front answers at the same time."),
    cfg.IntOpt(
        "cpu_units",
        default=100,
        min=1,
        help="Units of Haizea's CPU that make one VCPU; what is left of one counts whole.",
    ),
    cfg.StrOpt(
        "preemption_mode",
        default="shelve",
        choices=["shelve", "suspend", "stop", "delete", "migrate", "none"],
        help="How preemptible leases are interrupted that do not say it.",
    ),
    cfg.BoolOpt(
        "boot_images",
        default=False,
        help="Whether the disk images of leases are ids of images in Glance from which the service boots the servers. "
        "Without, the lease is capacity and its consumer boots into it.",
    ),
    cfg.BoolOpt(
        "all_projects",
        default=False,
        help="Whether the leases of all projects are seen, for which the front's user must be an administrator; "
        "without, those of his own project.",
    ),
    cfg.StrOpt(
        "endpoint_override",
        help="Where the REST service is, ending in /v1; needed with auth_type = none. Without, the catalogue says it.",
    ),
    cfg.StrOpt("region_name", help="Region of the REST service; needed if the catalogue has several."),
    cfg.StrOpt(
        "interface",
        default="internal",
        choices=["public", "internal", "admin"],
        help="Which endpoint of the catalogue is used.",
    ),
    *loading.get_session_conf_options(),
    *loading.get_auth_common_conf_options(),
]

#: Those of the usual way to log in; keystoneauth registers the ones of the way that ``auth_type`` names itself.
PLUGIN_OPTIONS: list[cfg.Opt] = loading.get_auth_plugin_conf_options("v3password")
