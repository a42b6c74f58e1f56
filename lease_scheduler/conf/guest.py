"""Group ``guest``: a queue that leases its nodes. The program has a configuration of its own, without other groups."""

from __future__ import annotations

from oslo_config import cfg, types

GROUP = cfg.OptGroup("guest", title="A queue that leases its nodes")

OPTIONS: list[cfg.Opt] = [
    cfg.StrOpt(
        "cloud",
        help="Name of the entry in clouds.yaml with the site, gateway or broker that grants the leases, and with the "
        "user or application credential that asks for them. By default the one that OS_CLOUD names.",
    ),
    cfg.StrOpt(
        "database",
        default="/var/lib/lease-scheduler-guest/guest.sqlite",
        help="SQLite file in which the guest writes what it has asked for. The guest, and Slurm's resume and suspend "
        "programs, must be able to write to it and to its folder. If it is lost, leases that the guest has asked for "
        "run until their end.",
    ),
    cfg.IntOpt("interval", default=5, min=1, help="Seconds between two rounds."),
    cfg.StrOpt(
        "controller",
        default="adaptive",
        help="Name of the controller, which decides what is asked for: static (a fixed number of nodes), adaptive "
        "(leases of one node each, as many as waiting jobs need), per-job (one lease for each job, as long as the time "
        "limit of the job), per-job-extend (one lease for each job, extended until the job is done), or one of another "
        "package.",
    ),
    cfg.IntOpt("nodes", default=1, min=1, help="Maximum number of nodes of all leases together."),
    cfg.IntOpt(
        "term",
        default=3600,
        min=1,
        help="Duration of a lease in seconds, and by how much it is extended. The controller per-job uses it only for "
        "jobs without a time limit.",
    ),
    cfg.BoolOpt(
        "renewable",
        default=True,
        help="Whether leases that are needed are extended before their end. The controller per-job never does, and "
        "per-job-extend always should.",
    ),
    cfg.IntOpt(
        "setup_time",
        default=120,
        min=0,
        help="Seconds from the start of a lease until its nodes can run jobs. The controller per-job asks for that "
        "much more than the time limit of the job.",
    ),
    cfg.IntOpt(
        "lookahead",
        default=300,
        min=1,
        help="Seconds before its end at which a lease is extended. It must be longer than drain_margin.",
    ),
    cfg.IntOpt(
        "drain_margin",
        default=120,
        min=0,
        help="Seconds before the end of a lease, or before it is to be preempted, at which its nodes get no more jobs.",
    ),
    cfg.IntOpt(
        "requeue_margin",
        default=30,
        min=0,
        help="Seconds before the end of a lease, or before it is to be preempted, at which jobs that still run are "
        "requeued, and its nodes leave. It must not be longer than drain_margin.",
    ),
    cfg.IntOpt(
        "force_after",
        default=60,
        min=1,
        help="Seconds after which Slurm is made to give up a node that should have left but has not.",
    ),
    cfg.IntOpt(
        "refusal_pause", default=60, min=1, help="Seconds after a refused lease until the next one is asked for."
    ),
    cfg.StrOpt("lease_name", default="guest", max_length=80, regex=".", help="Name of the leases."),
    cfg.StrOpt(
        "kind",
        default="best-effort",
        choices=[
            ("best-effort", "leases wait for capacity, and may be preempted"),
            ("immediate", "leases start at once or are refused, and are not preempted"),
        ],
        help="Kind of the leases.",
    ),
    cfg.Opt(
        "resources",
        type=types.Dict(types.Integer(min=0)),
        default={"VCPU": 1, "MEMORY_MB": 1024},
        help="What a node has, by resource class: VCPU:4, MEMORY_MB:8192, DISK_GB:20.",
    ),
    cfg.StrOpt(
        "lease_attributes",
        default="{}",
        help='Further attributes of the leases as a JSON object, such as {"pool": "gpu"}. Best-effort leases have the '
        '"preemption_mode" "delete" if it names no other: their servers need not be kept, as jobs are requeued.',
    ),
    cfg.ListOpt(
        "partitions",
        default=[],
        help="Partitions of Slurm whose nodes in the state CLOUD have leases. By default, all of them.",
    ),
    cfg.IntOpt("slurm_time", default=30, min=1, help="Maximum seconds that a command of Slurm may take."),
    cfg.IntOpt("site_time", default=30, min=1, help="Maximum seconds to wait for an answer of the site."),
    cfg.StrOpt(
        "handler_script",
        help="Program that lets a node join and leave: it is called with join or leave, and the name of the node, and "
        "reads the lease as JSON from its standard input. What it prints last when a node joins is the address of the "
        "node. It may be called again for the same node.",
    ),
    cfg.StrOpt(
        "handler_url",
        help="URL that is sent a signed request when a node joins or leaves, instead of handler_script.",
    ),
    cfg.StrOpt("handler_secret", secret=True, help="Key of the signatures of these requests."),
    cfg.IntOpt("handler_time", default=600, min=1, help="Maximum seconds that a handler may take."),
    cfg.IntOpt("handlers", default=8, min=1, help="Maximum number of handlers at the same time."),
]


def list_opts() -> list[tuple[cfg.OptGroup, list[cfg.Opt]]]:
    """Return the group and its options, for oslo.config's sample generator."""
    return [(GROUP, OPTIONS)]


def register(conf: cfg.ConfigOpts) -> None:
    """Register the options with a configuration object."""
    conf.register_group(cfg.OptGroup(GROUP.name, title=GROUP.title))
    conf.register_opts(OPTIONS, group=GROUP.name)
