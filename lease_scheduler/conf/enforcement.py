"""Group ``enforcement``: limits of what projects may use."""

from __future__ import annotations

from oslo_config import cfg, types

GROUP = cfg.OptGroup("enforcement", title="Limits and usage enforcement")


def _url(name: str, what: str) -> cfg.Opt:
    return cfg.StrOpt(name, default="", help=f"ExternalServiceFilter: {what}")


def _number(name: str, text: str, default: int = -1) -> cfg.Opt:
    """Return an option for which -1 means no limit."""
    return cfg.IntOpt(name, default=default, min=-1, max=2**31 - 1, mutable=True, help=text)


def _limit(name: str, what: str) -> cfg.Opt:
    return _number(f"limit_{name}", f"QuotaFilter: {what}; -1 for no limit.")


def _budget(name: str, what: str) -> cfg.Opt:
    text = f"BudgetFilter: {what} that a project may use and reserve in each period; -1 for no limit."
    return _number(f"budget_{name}", text)


def _extension(name: str, least: int, what: str) -> cfg.Opt:
    """Return a limit of extensions.

    :param least: smallest value that has a meaning as a limit
    """
    return _number(f"extension_{name}", f"ExtensionFilter: {what}, at least {least}; -1 for no limit.")


def _bound(name: str, default: int, what: str) -> cfg.Opt:
    return _number(name, f"{what}; -1 for no bound.", default)


OPTIONS: list[cfg.Opt] = [
    _bound(
        "max_duration",
        366 * 86_400,
        "Maximum duration of a lease of any kind, in seconds. A lease without a duration gets this duration",
    ),
    _bound(
        "max_lead_time",
        366 * 86_400,
        "Maximum number of seconds from now until the start of a lease. A deadline may be max_duration later",
    ),
    _bound(
        "max_held_offers",
        10,
        "Maximum number of offers (quotes that are held) that a project may have at the same time",
    ),
    _bound(
        "max_unaccepted_time",
        7_200,
        "Maximum number of seconds for which a project may hold offers that it does not accept, summed over all its "
        "offers within 24 hours. Beyond that, quotes are still answered, but not held",
    ),
    cfg.ListOpt(
        "exempt_project_ids",
        default=[],
        mutable=True,
        help="Ids of projects to which max_duration, max_lead_time, max_held_offers and max_unaccepted_time do not "
        "apply.",
    ),
    cfg.ListOpt(
        "enabled_filters",
        default=[],
        help="Filters that are called, in this order, before a lease is made or changed: names of entry points in the "
        "namespace lease_scheduler.usage_filter, such as MaxLeaseDurationFilter, ExtensionFilter, QuotaFilter, "
        "BudgetFilter and ExternalServiceFilter.",
    ),
    cfg.IntOpt(
        "max_lease_duration",
        default=-1,
        mutable=True,
        min=-1,
        help="MaxLeaseDurationFilter: maximum duration of a lease in seconds; -1 for no limit.",
    ),
    cfg.ListOpt(
        "max_lease_duration_exempt_project_ids",
        default=[],
        mutable=True,
        help="MaxLeaseDurationFilter: ids of projects to which max_lease_duration does not apply.",
    ),
    _extension("max_count", 0, "maximum number of extensions of a lease"),
    _extension("max_time", 1, "maximum number of seconds that one extension may add"),
    _extension("max_total_time", 0, "maximum number of seconds that all extensions of a lease may add together"),
    _extension(
        "window",
        1,
        "number of seconds before the end of a lease from which on it may be extended. If the lease was shortened, its "
        "latest earlier end counts",
    ),
    cfg.StrOpt(
        "extension_refused_for",
        default="nobody",
        mutable=True,
        choices=[
            ("nobody", "extensions are planned like any other request"),
            ("delayed", "an extension is refused if leases of other projects would lose planned time by it"),
            ("waiting", "an extension is also refused while leases of other projects wait for hosts"),
        ],
        help="ExtensionFilter: for which other leases an extension is refused.",
    ),
    cfg.ListOpt(
        "extension_exempt_project_ids",
        default=[],
        mutable=True,
        help="ExtensionFilter: ids of projects whose leases may be extended without limit.",
    ),
    cfg.ListOpt(
        "extension_exempt_roles",
        default=["admin"],
        mutable=True,
        help="ExtensionFilter: users with one of these roles may extend leases without limit. Their extensions count "
        "like any other.",
    ),
    cfg.StrOpt(
        "limits_source",
        default="configuration",
        choices=[
            ("configuration", "the options limit_..., project_limits, budget_... and project_budgets of this group"),
            ("keystone", "unified limits, read by oslo.limit; needs the group oslo_limit"),
        ],
        help="QuotaFilter and BudgetFilter: where the limits of projects come from.",
    ),
    cfg.IntOpt(
        "limits_lifetime",
        default=60,
        mutable=True,
        min=0,
        help="QuotaFilter and BudgetFilter: seconds for which limits that were read from Keystone are cached.",
    ),
    _limit("leases", "maximum number of live leases of a project"),
    _limit("node_hours", "maximum of nodes times hours, summed over all live leases of a project"),
    _limit("duration_hours", "maximum duration of a lease in hours"),
    _limit("horizon_hours", "maximum number of hours from now until the end of a lease"),
    _limit("lead_time_minutes", "minimum number of minutes between the request of a reservation and its start"),
    cfg.MultiStrOpt(
        "project_limits",
        default=[],
        mutable=True,
        help="QuotaFilter: limits of a single project, which replace the general limits of the same name, for example "
        '"PROJECT_ID leases=5 node_hours=100". May be given several times, once for each project.',
    ),
    cfg.StrOpt(
        "budget_period",
        default="month",
        mutable=True,
        choices=[
            ("day", "from midnight to midnight, UTC"),
            ("week", "from Monday to Monday"),
            ("month", "a calendar month"),
            ("quarter", "three calendar months, from January, April, July or October on"),
            ("year", "a calendar year"),
        ],
        help="BudgetFilter: the period for which budgets are. After it, each project has its whole budget again.",
    ),
    _budget("node_hours", "nodes times hours"),
    _budget("vcpu_hours", "VCPU times hours"),
    _budget("memory_gb_hours", "memory in GiB times hours"),
    cfg.Opt(
        "budget_resource_hours",
        type=types.Dict(types.Integer(min=-1, max=2**31 - 1)),
        default={},
        mutable=True,
        help="BudgetFilter: the same for further resource classes, amount times hours, such as "
        "VGPU:500,CUSTOM_FPGA:100.",
    ),
    cfg.MultiStrOpt(
        "project_budgets",
        default=[],
        mutable=True,
        help="BudgetFilter: budgets of a single project, which replace the general ones of the same name, for example "
        '"PROJECT_ID node_hours=1000 VGPU_hours=50". May be given several times, once for each project.',
    ),
    cfg.ListOpt(
        "budget_exempt_project_ids",
        default=[],
        mutable=True,
        help="BudgetFilter: ids of projects without budgets.",
    ),
    _url("external_service_endpoint", "base URL; check-create, check-update and on-end are appended to it."),
    _url("external_service_check_create", "full URL of the check of new leases, if it differs from that."),
    _url("external_service_check_update", "full URL of the check of changes, if it differs from that."),
    _url("external_service_on_end", "full URL that is called when a lease ends, if it differs from that."),
    cfg.StrOpt(
        "external_service_token",
        default="",
        secret=True,
        help="ExternalServiceFilter: fixed token to send as X-Auth-Token. Without it, a token is fetched from "
        "Keystone if this group has credentials (auth_type and the options that belong to it); otherwise no token is "
        "sent.",
    ),
    cfg.FloatOpt(
        "external_service_timeout",
        default=10.0,
        min=0.1,
        help="ExternalServiceFilter: seconds to wait for the connection, and again for the answer.",
    ),
    cfg.StrOpt(
        "external_service_unreachable",
        default="refuse",
        choices=[("refuse", "the request fails with 503"), ("allow", "the request is allowed")],
        help="ExternalServiceFilter: what happens while the service does not answer.",
    ),
    cfg.StrOpt(
        "external_service_cafile",
        default="",
        help="ExternalServiceFilter: file of CA certificates to trust. If it is empty, those of the system are "
        "trusted.",
    ),
    cfg.StrOpt(
        "external_service_auth_url",
        default="",
        help="ExternalServiceFilter: value that is sent to the service as auth_url.",
    ),
    cfg.StrOpt(
        "external_service_region_name",
        default="",
        help="ExternalServiceFilter: value that is sent to the service as region_name.",
    ),
]
