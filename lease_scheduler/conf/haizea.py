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
        help="Address on which the front listens. The front does not authenticate its callers, so it refuses "
        "addresses other than loopback unless allow_remote is set.",
    ),
    cfg.PortOpt("port", default=DEFAULT_PORT, help="Port on which the front listens."),
    cfg.BoolOpt(
        "allow_remote",
        default=False,
        help="Whether the front may listen on an address that other machines can reach. Every client that reaches it "
        "can then do whatever the user of the front may do, without a password.",
    ),
    cfg.IntOpt("threads", default=4, min=1, help="Number of calls that the front answers at the same time."),
    cfg.IntOpt(
        "cpu_units",
        default=100,
        min=1,
        help="Units of Haizea's CPU that make one VCPU. A remainder counts as a whole VCPU.",
    ),
    cfg.StrOpt(
        "preemption_mode",
        default="shelve",
        choices=["shelve", "suspend", "stop", "delete", "migrate", "none"],
        help="Preemption mode of preemptible leases that do not give one.",
    ),
    cfg.BoolOpt(
        "boot_images",
        default=False,
        help="Whether the disk images of leases are ids of images in Glance from which the service boots the servers. "
        "Otherwise a lease is capacity only, and its project boots servers in it.",
    ),
    cfg.BoolOpt(
        "all_projects",
        default=False,
        help="Whether clients see the leases of all projects. The user of the front must be an administrator for "
        "that. Otherwise clients see the leases of the project of that user.",
    ),
    cfg.StrOpt(
        "endpoint_override",
        help="URL of the REST service, ending in /v1. Required with auth_type = none. By default it is taken from the "
        "catalogue.",
    ),
    cfg.StrOpt("region_name", help="Region of the REST service. Required if the catalogue has several."),
    cfg.StrOpt(
        "interface",
        default="internal",
        choices=["public", "internal", "admin"],
        help="Interface of the catalogue's endpoint to use.",
    ),
    *loading.get_session_conf_options(),
    *loading.get_auth_common_conf_options(),
]

#: Options of the usual authentication plug-in, for the sample configuration. In programs, keystoneauth registers those
#: of the plug-in that ``auth_type`` names.
PLUGIN_OPTIONS: list[cfg.Opt] = loading.get_auth_plugin_conf_options("v3password")
