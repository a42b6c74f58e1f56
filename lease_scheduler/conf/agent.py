"""Group ``agent``: the agents on compute hosts, which weigh the CPU time of servers of fluid leases."""

from __future__ import annotations

import socket

from oslo_config import cfg

GROUP = cfg.OptGroup("agent", title="Agents on compute hosts, which weigh the CPU time of servers of fluid leases")

OPTIONS: list[cfg.Opt] = [
    cfg.StrOpt(
        "secret",
        secret=True,
        help="Engine: secret of the site, from which the key of each host is derived; at least 16 characters, and "
        "another one for each site. Without it, the engine gives no orders to agents.",
    ),
    cfg.StrOpt(
        "host_key",
        secret=True,
        help="Agent: key of this host, as lease-scheduler-manage agent key tells it where the engine is. Without it, "
        "the agent derives it from the secret of the site, which it then has to know.",
    ),
    cfg.FloatOpt(
        "renew_interval",
        default=30.0,
        min=1.0,
        help="Engine: seconds after which orders are repeated. Must be at most half of expire_after of the agents.",
    ),
    cfg.FloatOpt("answer_timeout", default=5.0, min=0.1, help="Engine: seconds to wait for the answer of an agent."),
    cfg.StrOpt(
        "host",
        default=socket.gethostname(),
        sample_default="<the name of this machine>",
        help="Agent: name of the compute service of this host, as Nova's option host.",
    ),
    cfg.StrOpt(
        "hypervisor",
        default="libvirt",
        choices=[
            ("libvirt", "the libvirt of this host (extra agent)"),
            ("fake", "a hypervisor that only pretends, for trials"),
        ],
        help="Agent: what runs the servers.",
    ),
    cfg.StrOpt("libvirt_uri", default="qemu:///system", help="Agent: URI of libvirt."),
    cfg.StrOpt(
        "fake_hypervisor",
        default="${service.state_path}/fake-hypervisor.json",
        help="Agent: file with the servers of the fake hypervisor.",
    ),
    cfg.FloatOpt(
        "expire_after",
        default=120.0,
        min=1.0,
        help="Agent: seconds without an order after which servers get back the weights that Nova gave them.",
    ),
    cfg.FloatOpt(
        "check_interval",
        default=5.0,
        min=0.1,
        help="Agent: seconds between two comparisons of the servers with the last order. A server that was started or "
        "reset gets its weight that much later at most.",
    ),
    cfg.FloatOpt(
        "cpu_allocation_ratio",
        default=1.0,
        min=0.1,
        help="Agent: how many times the CPUs of this host may be promised, as Nova's option cpu_allocation_ratio. "
        "Servers of fluid leases get less than ordered where the rest would not be enough for the other servers.",
    ),
]
