"""Group ``simulation``: how recorded workloads are run."""

from __future__ import annotations

from oslo_config import cfg

GROUP = cfg.OptGroup("simulation", title="Simulated runs")

OPTIONS: list[cfg.Opt] = [
    cfg.StrOpt(
        "resources",
        help="Hosts to use instead of those that the workload names: <count> <type>:<amount>,..., with CPU in per "
        "cent of a core and Memory in MB. Without this option, a workload that names no hosts runs on 144 "
        "CPU:100,Memory:1024.",
    ),
    cfg.StrOpt(
        "stop_when",
        default="all-leases-done",
        choices=["all-leases-done", "besteffort-submitted", "besteffort-done", "exact"],
        help="When a run ends.",
    ),
    cfg.IntOpt("stop_when_time", min=0, help="With stop_when = exact: the second at which the run ends."),
    cfg.BoolOpt(
        "check_invariants", default=False, help="Whether the whole plan is checked at every step. This is slow."
    ),
    cfg.BoolOpt(
        "probe_disk_usage",
        default=False,
        help="Whether to record over time how much of its disk the fullest host uses for images. Needs image "
        "transfers.",
    ),
    cfg.StrOpt(
        "failure_handling",
        default="cancel",
        choices=[
            ("cancel", "the run continues without the lease"),
            ("exit", "the run ends with an error"),
            ("exit-raise", "the run ends with a traceback"),
        ],
        help="What happens to a run when a lease fails.",
    ),
    cfg.FloatOpt(
        "runtime_slowdown_percent",
        default=0.0,
        min=0.0,
        help="Percentage by which work takes longer in a VM than recorded.",
    ),
    cfg.IntOpt(
        "boot_shutdown_overhead", default=0, min=0, help="Seconds that booting and shutting down add to every lease."
    ),
    cfg.StrOpt(
        "add_overhead",
        default="none",
        choices=["none", "besteffort", "all"],
        help="Leases to which runtime_slowdown_percent and boot_shutdown_overhead apply.",
    ),
    cfg.StrOpt(
        "slowdown_mode",
        default="requested-and-actual",
        choices=[
            ("requested-and-actual", "both the requested and the real duration are increased"),
            (
                "legacy",
                "as in Haizea: a lease whose real duration is known requests it plus the slowdown, and runs without",
            ),
        ],
        help="Which durations runtime_slowdown_percent increases.",
    ),
    cfg.IntOpt(
        "override_memory",
        default=-1,
        min=-1,
        help="Memory of every VM in MB, instead of what the workload says; -1 for that of the workload.",
    ),
    cfg.IntOpt(
        "boot_time",
        default=0,
        min=0,
        help="Seconds that the simulated cloud takes to boot. The planner does not know of them.",
    ),
    cfg.FloatOpt(
        "image_bandwidth",
        min=0.001,
        help="Bandwidth in Mb/s at which a host fetches a disk image that it does not have, before the boot. The "
        "planner does not know of this time. If it is not set, all hosts have all images.",
    ),
    cfg.FloatOpt("suspend_factor", default=1.0, min=0.0, help="Ratio of real to planned duration of suspensions."),
    cfg.FloatOpt("resume_factor", default=1.0, min=0.0, help="Ratio of real to planned duration of resumptions."),
    cfg.FloatOpt("stop_factor", default=1.0, min=0.0, help="Ratio of real to planned duration of shutdowns."),
    cfg.FloatOpt(
        "transfer_factor", default=1.0, min=0.0, help="Ratio of real to planned duration of moving saved memory."
    ),
    cfg.FloatOpt(
        "image_transfer_factor",
        default=1.0,
        min=0.0,
        help="Ratio of real to planned duration of planned image transfers.",
    ),
    cfg.FloatOpt(
        "image_transfer_failures", default=0.0, min=0.0, max=1.0, help="Share of planned image transfers that fail."
    ),
    cfg.FloatOpt(
        "operation_spread",
        default=0.0,
        min=0.0,
        max=1.0,
        help="Random variation: operations take between (1 - spread) and (1 + spread) times as long.",
    ),
    cfg.FloatOpt("boot_failures", default=0.0, min=0.0, max=1.0, help="Share of boots that fail."),
    cfg.FloatOpt("resume_failures", default=0.0, min=0.0, max=1.0, help="Share of resumptions that fail."),
    cfg.MultiStrOpt(
        "host_failure",
        default=[],
        help="Failure of a host: <host number, from 1>:<second>:<seconds until it is back>. May be given several "
        "times.",
    ),
    cfg.IntOpt("seed", default=0, min=0, help="Seed of all random numbers in the simulated cloud."),
]
