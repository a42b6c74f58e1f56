"""Group ``api``: the REST service."""

from __future__ import annotations

from oslo_config import cfg

GROUP = cfg.OptGroup("api", title="The REST service")

OPTIONS: list[cfg.Opt] = [
    cfg.HostAddressOpt("host", default="127.0.0.1", help="Address on which lease-scheduler-api listens."),
    cfg.PortOpt("port", default=1234, help="Port on which lease-scheduler-api listens."),
    cfg.IntOpt("threads", default=16, min=1, help="Requests that lease-scheduler-api serves at the same time."),
    cfg.StrOpt(
        "auth_strategy",
        default="keystone",
        choices=[
            ("keystone", "tokens are checked by keystonemiddleware"),
            ("noauth", "everybody is who they say they are; on loopback addresses only"),
        ],
        help="How it is found out who asks.",
    ),
    cfg.ListOpt(
        "allowed_hosts",
        default=[],
        help="Names, without port, by which lease-scheduler-embedded may be reached besides localhost and the loopback "
        "addresses. It checks nobody's identity, so it refuses requests with any other name in the header Host, and "
        "those that pages of other sites send.",
    ),
    cfg.BoolOpt(
        "privacy",
        default=True,
        help="Whether projects learn of leases of others only that they keep the site busy: no ids, no hosts, not "
        "how many there are; nor names of hosts in refusals, nor anything of private properties by asking for them. "
        "Whoever may list hosts (policy reservation:oshosts:get) sees everything.",
    ),
    cfg.IntOpt("maximum_body", default=1_048_576, min=1024, help="Largest body of a request in bytes."),
    cfg.IntOpt(
        "maximum_limit",
        default=1000,
        min=1,
        mutable=True,
        help="Most leases on one page, where paging is asked for.",
    ),
    cfg.IntOpt(
        "maximum_occurrences", default=366, min=1, max=10_000, mutable=True, help="Most leases that a series may have."
    ),
    cfg.IntOpt(
        "series_days",
        default=366,
        min=1,
        max=3_660,
        mutable=True,
        help="Days that the last lease of a series may lie after the first one. What lies further ahead than "
        "[enforcement] max_lead_time is refused in any case.",
    ),
    cfg.IntOpt(
        "retry_after",
        default=5,
        min=1,
        mutable=True,
        help="Seconds after which clients are told to try again (Retry-After) while the engine or the database does "
        "not answer.",
    ),
]
