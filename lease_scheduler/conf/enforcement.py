"""Group ``enforcement``: how much tenants may use."""

from __future__ import annotations

from oslo_config import cfg

GROUP = cfg.OptGroup("enforcement", title="Limits and usage enforcement")


def _url(name: str, what: str) -> cfg.Opt:
    return cfg.StrOpt(name, default="", help=f"ExternalServiceFilter: {what}")


def _limit(name: str, what: str) -> cfg.Opt:
    return cfg.IntOpt(
        f"limit_{name}", default=-1, min=-1, max=2**31 - 1, mutable=True, help=f"QuotaFilter: {what}; -1 for no limit."
    )


def _bound(name: str, default: int, what: str) -> cfg.Opt:
    return cfg.IntOpt(name, default=default, min=-1, max=2**31 - 1, mutable=True, help=f"{what}; -1 for no bound.")


OPTIONS: list[cfg.Opt] = [
    _bound(
        "max_duration",
        366 * 86_400,
        "Seconds that a lease may last, whatever its kind. A lease without a duration lasts so long",
    ),
    _bound(
        "max_lead_time",
        366 * 86_400,
        "Seconds from now within which a lease must start. A deadline may lie max_duration later",
    ),
    _bound("max_held_offers", 10, "Offers (quotes that are held) that a project may have at the same time"),
    _bound(
        "max_unaccepted_time",
        7_200,
        "Seconds, all offers together, for which a project may hold offers in 24 hours that it does not accept. Then "
        "it is quoted prices and places as before, but nothing is held",
    ),
    cfg.ListOpt(
        "exempt_project_ids",
        default=[],
        mutable=True,
        help="Projects for which max_duration, max_lead_time, max_held_offers and max_unaccepted_time do not hold.",
    ),
    cfg.ListOpt(
        "enabled_filters",
        default=[],
        help="Filters that are asked, in this order, before a lease is made or changed: names of entry points of the "
        "namespace lease_scheduler.usage_filter, such as MaxLeaseDurationFilter, QuotaFilter and "
        "ExternalServiceFilter.",
    ),
    cfg.IntOpt(
        "max_lease_duration",
        default=-1,
        mutable=True,
        min=-1,
        help="MaxLeaseDurationFilter: seconds that a lease may last; -1 for no limit.",
    ),
    cfg.ListOpt(
        "max_lease_duration_exempt_project_ids",
        default=[],
        mutable=True,
        help="MaxLeaseDurationFilter: projects whose leases may last as long as they like.",
    ),
    cfg.StrOpt(
        "limits_source",
        default="configuration",
        choices=[
            ("configuration", "the options limit_... and project_limits of this group"),
            ("keystone", "unified limits by oslo.limit; needs the group oslo_limit"),
        ],
        help="QuotaFilter: where the limits of projects are kept.",
    ),
    cfg.IntOpt(
        "limits_lifetime",
        default=60,
        mutable=True,
        min=0,
        help="QuotaFilter: seconds for which limits that were read from Keystone are used.",
    ),
    _limit("leases", "live leases that a project may have at the same time"),
    _limit("node_hours", "nodes times hours of all live leases of a project together"),
    _limit("duration_hours", "hours that a lease may last"),
    _limit("horizon_hours", "hours from now to the latest end that a lease may have"),
    _limit("lead_time_minutes", "minutes that a reservation must be asked for before its start"),
    cfg.MultiStrOpt(
        "project_limits",
        default=[],
        mutable=True,
        help="QuotaFilter: limits of a single project, which hold instead of those of the same name, for example "
        '"PROJECT_ID leases=5 node_hours=100". May be given several times, once for each project.',
    ),
    _url("external_service_endpoint", "URL to which check-create, check-update and on-end are added."),
    _url("external_service_check_create", "whole URL for leases that are about to be made, if it is another one."),
    _url("external_service_check_update", "whole URL for leases that are about to be changed, if it is another one."),
    _url("external_service_on_end", "whole URL for leases that are over, if it is another one."),
    cfg.StrOpt(
        "external_service_token",
        default="",
        secret=True,
        help="ExternalServiceFilter: fixed token to send as X-Auth-Token. Without it one is fetched from Keystone if "
        "this group has credentials (auth_type and what goes with it), else none is sent.",
    ),
    cfg.FloatOpt(
        "external_service_timeout",
        default=10.0,
        min=0.1,
        help="ExternalServiceFilter: seconds that the service may take to connect, and again to answer.",
    ),
    cfg.StrOpt(
        "external_service_unreachable",
        default="refuse",
        choices=[("refuse", "the request fails with 503"), ("allow", "what was asked is let through")],
        help="ExternalServiceFilter: what happens while the service does not answer.",
    ),
    cfg.StrOpt(
        "external_service_cafile",
        default="",
        help="ExternalServiceFilter: file of the authorities whose certificates are believed; those of the system if "
        "empty.",
    ),
    cfg.StrOpt("external_service_auth_url", default="", help="ExternalServiceFilter: what it is told as auth_url."),
    cfg.StrOpt(
        "external_service_region_name", default="", help="ExternalServiceFilter: what it is told as region_name."
    ),
]
