"""``lease-scheduler-agent``: weigh the CPU time of the servers of this compute host as the engine orders."""

from __future__ import annotations

import logging
import sys
from collections.abc import Sequence
from pathlib import Path

from oslo_config import cfg
from oslo_log import log

from lease_scheduler.agent.fake import FakeHypervisor
from lease_scheduler.agent.hypervisor import Hypervisor
from lease_scheduler.agent.keeper import WeightKeeper
from lease_scheduler.agent.libvirt_domains import Libvirt
from lease_scheduler.cmd import configuration
from lease_scheduler.cmd.agents import agent_key
from lease_scheduler.cmd.messages import one_line_errors
from lease_scheduler.cmd.messaging import rpc_transport
from lease_scheduler.cmd.signals import EndingSignals
from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.worker import Worker

# The first import of the library must come after that of messaging, which selects its threads.
from lease_scheduler.agent.server import agent_server  # isort: skip

LOG = logging.getLogger(__name__)

#: Transport URL of oslo.messaging if the configuration sets none.
_NO_BROKER = "rabbit://"


@one_line_errors
def main(arguments: Sequence[str] | None = None) -> None:
    """Run until a signal ends the program."""
    conf = configuration.load(tuple(sys.argv[1:] if arguments is None else arguments), program="lease-scheduler-agent")
    log.setup(conf, configuration.PROJECT)
    key = agent_key(conf)
    transport = rpc_transport(conf)
    if conf.transport_url == _NO_BROKER:
        raise InvalidValueError("transport_url", "is needed: the message bus of the engine")
    group = conf.agent
    keeper = WeightKeeper(_hypervisor(conf), group.expire_after, group.cpu_allocation_ratio)
    server = agent_server(transport, conf.service.site, group.host, key, keeper)

    def keep() -> float:
        keeper.keep()
        return float(group.check_interval)

    signals = EndingSignals()
    worker = Worker("weights", keep, group.check_interval)
    worker.start()
    server.start()
    LOG.info("agent of host %s, site %s", group.host, conf.service.site)
    signals.wait()
    server.stop()
    worker.ask_to_stop()
    worker.join(group.check_interval)


def _hypervisor(conf: cfg.ConfigOpts) -> Hypervisor:
    if conf.agent.hypervisor == "fake":
        return FakeHypervisor(Path(conf.agent.fake_hypervisor))
    return Libvirt(conf.agent.libvirt_uri)
