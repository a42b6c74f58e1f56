"""Group ``api``: the REST service."""

from __future__ import annotations

from oslo_config import cfg

GROUP = cfg.OptGroup("api", title="The REST service")

OPTIONS: list[cfg.Opt] = [
    cfg.HostAddressOpt("host", default="127.0.0.1", help="Address on which lease-scheduler-api listens."),
    cfg.PortOpt("port", default=1234, help="Port on which lease-scheduler-api listens."),
    cfg.IntOpt(
        "threads", default=16, min=1, help="Number of requests that lease-scheduler-api serves at the same time."
    ),
    cfg.StrOpt(
        "auth_strategy",
        default="keystone",
        choices=[
            ("keystone", "tokens are checked by keystonemiddleware"),
            ("noauth", "callers are not authenticated; allowed on loopback addresses only"),
        ],
        help="How callers are authenticated.",
    ),
    cfg.ListOpt(
        "allowed_hosts",
        default=[],
        help="Names, without port, by which clients may reach lease-scheduler-embedded, in addition to localhost and "
        "the loopback addresses. The embedded service does not authenticate its callers. It therefore refuses "
        "requests with any other name in the Host header, and requests sent by pages of other sites.",
    ),
    cfg.StrOpt(
        "peer_role",
        help="Keystone role of the users that stand for peers: other sites, or gateways to them. The name of such a "
        "user becomes the origin of the leases that it requests, which admission policies, notifications and metrics "
        "use. Requests of all other users are local. Without this option, or with auth_strategy = noauth, all requests "
        "are local.",
    ),
    cfg.IntOpt(
        "most_passes",
        default=4,
        min=0,
        max=32,
        mutable=True,
        help="How often a request of a peer may have been passed on before it comes here. Each gateway on the way adds "
        "its name to the path of the request. A path with the name of this site ([service] site) is refused, however "
        "short it is.",
    ),
    cfg.FloatOpt(
        "speed",
        default=1.0,
        min=0.001,
        max=1000.0,
        mutable=True,
        help="Work that this site does in a second, relative to other sites with the same capacity: 2 if its hosts are "
        "twice as fast. It is published to peers, which may weigh sites by it.",
    ),
    cfg.BoolOpt(
        "privacy",
        default=True,
        help="Whether leases of other projects are hidden. A project then learns only that other projects keep the "
        "site busy: it sees no ids, hosts or numbers of their leases, no host names in refusals, and no private "
        "properties. Users who may list hosts (policy reservation:oshosts:get) see everything.",
    ),
    cfg.IntOpt("maximum_body", default=1_048_576, min=1024, help="Maximum size of a request body in bytes."),
    cfg.IntOpt(
        "maximum_limit",
        default=1000,
        min=1,
        mutable=True,
        help="Maximum number of leases on one page, if the client requests pages.",
    ),
    cfg.IntOpt(
        "maximum_occurrences",
        default=366,
        min=1,
        max=10_000,
        mutable=True,
        help="Maximum number of leases in a series.",
    ),
    cfg.IntOpt(
        "series_days",
        default=366,
        min=1,
        max=3_660,
        mutable=True,
        help="Maximum number of days between the first and the last lease of a series. Leases beyond [enforcement] "
        "max_lead_time are refused in any case.",
    ),
    cfg.IntOpt(
        "retry_after",
        default=5,
        min=1,
        mutable=True,
        help="Seconds after which clients should try again (Retry-After header) while the engine or the database does "
        "not answer.",
    ),
]
