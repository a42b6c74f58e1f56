"""Group ``simulated_cloud``: the simulated cloud, for ``[service] cloud = simulated``."""

from __future__ import annotations

from oslo_config import cfg

GROUP = cfg.OptGroup("simulated_cloud", title="The simulated cloud")

OPTIONS: list[cfg.Opt] = [
    cfg.StrOpt(
        "path", default="$service.state_path/simulated-cloud.sqlite", help="Database file of the simulated cloud."
    ),
    cfg.IntOpt("hosts", default=144, min=0, help="Number of compute hosts."),
    cfg.StrOpt(
        "host_prefix", default="compute-", help="Prefix of the names of the hosts. A number follows, starting with 1."
    ),
    cfg.IntOpt("vcpus", default=8, min=1, help="Virtual CPUs of a host."),
    cfg.IntOpt("memory_mb", default=32_768, min=1, help="Memory of a host in MB."),
    cfg.IntOpt("disk_gb", default=500, min=0, help="Disk of a host in GB."),
    cfg.IntOpt("boot_time", default=0, min=0, help="Seconds that it takes to boot the VMs of a lease."),
    cfg.FloatOpt(
        "image_bandwidth",
        min=0.001,
        help="Bandwidth in Mb/s at which a host that does not have the disk image of a server fetches it before the "
        "server boots, with [image_transfer] lease_preparation = imagetransfer. If it is not set, all hosts have all "
        "images.",
    ),
    cfg.FloatOpt(
        "late_factor", default=1.0, min=0.0, help="Ratio of real to planned duration of suspending and resuming."
    ),
    cfg.FloatOpt(
        "spread",
        default=0.0,
        min=0.0,
        max=1.0,
        help="Share by which the duration of operations varies at random in both directions.",
    ),
    cfg.FloatOpt("failure_probability", default=0.0, min=0.0, max=1.0, help="Share of boots that fail."),
    cfg.FloatOpt(
        "clock_speed",
        default=1.0,
        min=0.001,
        help="Speed of the service's clock: seconds that pass on it in one real second. A clock that differs from the "
        "real one continues from where it stopped when the service starts again.",
    ),
    cfg.IntOpt(
        "clock_start",
        min=0,
        help="Time of the clock at the first start, in seconds since the epoch. Defaults to the real time.",
    ),
]
