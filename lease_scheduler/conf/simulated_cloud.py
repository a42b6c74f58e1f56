"""Group ``simulated_cloud``: the cloud of the embedded default."""

from __future__ import annotations

from oslo_config import cfg

GROUP = cfg.OptGroup("simulated_cloud", title="The simulated cloud")

OPTIONS: list[cfg.Opt] = [
    cfg.StrOpt("path", default="$service.state_path/simulated-cloud.sqlite", help="Where the cloud remembers itself."),
    cfg.IntOpt("hosts", default=144, min=0, help="Compute hosts of the cloud."),
    cfg.StrOpt("host_prefix", default="compute-", help="Names of the hosts are this and a number from 1 on."),
    cfg.IntOpt("vcpus", default=8, min=1, help="Virtual CPUs of a host."),
    cfg.IntOpt("memory_mb", default=32_768, min=1, help="Memory of a host in MB."),
    cfg.IntOpt("disk_gb", default=500, min=0, help="Disk of a host in GB."),
    cfg.IntOpt("boot_time", default=0, min=0, help="Seconds that starting the VMs of a lease takes."),
    cfg.FloatOpt(
        "image_bandwidth",
        min=0.001,
        help="Mb/s at which a host that does not have the disk image of a server fetches it before the server boots, "
        "with [image_transfer] lease_preparation = imagetransfer; none if every image is everywhere.",
    ),
    cfg.FloatOpt("late_factor", default=1.0, min=0.0, help="Real over planned time of suspending and resuming."),
    cfg.FloatOpt("spread", default=0.0, min=0.0, max=1.0, help="Share by which operations take longer or shorter."),
    cfg.FloatOpt("failure_probability", default=0.0, min=0.0, max=1.0, help="Share of starts that fail."),
    cfg.FloatOpt(
        "clock_speed",
        default=1.0,
        min=0.001,
        help="Seconds of the service's clock in a real second. A clock that is not real goes on, at the next start, "
        "from where it stopped.",
    ),
    cfg.IntOpt("clock_start", min=0, help="What the clock shows at the first start; none for the real time."),
]
