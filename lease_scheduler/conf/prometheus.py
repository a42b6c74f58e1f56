"""Options of queries to Prometheus, for the groups that need them."""

from __future__ import annotations

from oslo_config import cfg


def prometheus_options(who: str) -> list[cfg.Opt]:
    """Return the options of a client of Prometheus.

    :param who: name of the client in help texts
    """
    return [
        cfg.StrOpt("prometheus_url", default="", help=f"{who}: URL of Prometheus, such as http://prometheus:9090."),
        cfg.StrOpt("prometheus_label", default="resource", help=f"{who}: name of the label with the id of the server."),
        cfg.FloatOpt("prometheus_timeout", default=10.0, min=0.1, help=f"{who}: seconds to wait for the answer."),
        cfg.StrOpt(
            "prometheus_cafile",
            default="",
            help=f"{who}: file of CA certificates to trust. If it is empty, those of the system are trusted.",
        ),
        cfg.StrOpt("prometheus_user", default="", help=f"{who}: user for basic authentication; empty for none."),
        cfg.StrOpt("prometheus_password", default="", secret=True, help=f"{who}: password of this user."),
    ]
