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
    cfg.FloatOpt(
        "watch_interval",
        default=10.0,
        min=0.1,
        help="Seconds between two looks at what happens in the cloud by itself: hosts that go down, servers that their "
        "owners delete.",
    ),
    *loading.get_session_conf_options(),
    *loading.get_auth_common_conf_options(),
]

#: Those of the usual way to log in; keystoneauth registers the ones of the way that ``auth_type`` names itself.
PLUGIN_OPTIONS: list[cfg.Opt] = loading.get_auth_plugin_conf_options("v3password")
