"""Group ``simulation``: how recorded workloads are run."""

from __future__ import annotations

from oslo_config import cfg

GROUP = cfg.OptGroup("simulation", title="Simulated runs")

OPTIONS: list[cfg.Opt] = [
    cfg.StrOpt(
        "resources",
        help="The hosts, in place of those that the workload names: <count> <type>:<amount>,..., CPU in per cent of a "
        "core, Memory in MB. A workload that names none runs on 144 CPU:100,Memory:1024 without this.",
    ),
    cfg.StrOpt(
        "stop_when",
        default="all-leases-done",
        choices=["all-leases-done", "besteffort-submitted", "besteffort-done", "exact"],
        help="When a run is over.",
    ),
    cfg.IntOpt("stop_when_time", min=0, help="With stop_when = exact: the second at which the run is over."),
    cfg.BoolOpt("check_invariants", default=False, help="Check the whole plan at every step. Slow."),
    cfg.BoolOpt(
        "probe_disk_usage",
        default=False,
        help="Write down how much of its disk the fullest host uses for images, over time; with image transfers only.",
    ),
    cfg.StrOpt(
        "failure_handling",
        default="cancel",
        choices=[
            ("cancel", "the run goes on without the lease"),
            ("exit", "the run ends with an error"),
            ("exit-raise", "the run ends with a traceback"),
        ],
        help="What a failed lease means for the run.",
    ),
    cfg.FloatOpt(
        "runtime_slowdown_percent", default=0.0, min=0.0, help="By how much work takes longer in a VM than recorded."
    ),
    cfg.IntOpt("boot_shutdown_overhead", default=0, min=0, help="Seconds that boot and shutdown add to every lease."),
    cfg.StrOpt(
        "add_overhead",
        default="none",
        choices=["none", "besteffort", "all"],
        help="Which leases get runtime_slowdown_percent and boot_shutdown_overhead.",
    ),
    cfg.StrOpt(
        "slowdown_mode",
        default="requested-and-actual",
        choices=[
            ("requested-and-actual", "requested and real duration are both longer"),
            (
                "legacy",
                "as Haizea: a lease whose real duration is known asks for that plus the slowdown, and runs without it",
            ),
        ],
        help="What runtime_slowdown_percent makes longer.",
    ),
    cfg.IntOpt(
        "override_memory", default=-1, min=-1, help="MB of every VM in place of what the workload says; -1 keeps it."
    ),
    cfg.IntOpt("boot_time", default=0, min=0, help="Seconds that the simulated cloud takes to boot; not planned for."),
    cfg.FloatOpt(
        "image_bandwidth",
        min=0.001,
        help="Mb/s at which hosts get a disk image that they do not have, before the boot; not planned for. "
        "Without it, every image is everywhere.",
    ),
    cfg.FloatOpt("suspend_factor", default=1.0, min=0.0, help="Real over planned time of suspensions."),
    cfg.FloatOpt("resume_factor", default=1.0, min=0.0, help="Real over planned time of resumptions."),
    cfg.FloatOpt("stop_factor", default=1.0, min=0.0, help="Real over planned time of shutdowns."),
    cfg.FloatOpt("transfer_factor", default=1.0, min=0.0, help="Real over planned time to move saved memory."),
    cfg.FloatOpt(
        "image_transfer_factor", default=1.0, min=0.0, help="Real over planned time of planned image transfers."
    ),
    cfg.FloatOpt(
        "image_transfer_failures", default=0.0, min=0.0, max=1.0, help="Share of planned image transfers that fail."
    ),
    cfg.FloatOpt(
        "operation_spread",
        default=0.0,
        min=0.0,
        max=1.0,
        help="Operations take between (1 - spread) and (1 + spread) times as long, at random.",
    ),
    cfg.FloatOpt("boot_failures", default=0.0, min=0.0, max=1.0, help="Share of boots that fail."),
    cfg.FloatOpt("resume_failures", default=0.0, min=0.0, max=1.0, help="Share of resumptions that fail."),
    cfg.MultiStrOpt(
        "host_failure",
        default=[],
        help="A host that dies: <number, from 1>:<second>:<seconds until it is back>. May be given several times.",
    ),
    cfg.IntOpt("seed", default=0, min=0, help="Seed of everything random in the simulated cloud."),
]
