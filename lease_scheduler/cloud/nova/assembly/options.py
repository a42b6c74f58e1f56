"""The options of the driver for OpenStack, as plain values."""

from __future__ import annotations

from dataclasses import dataclass, field

from lease_scheduler.cloud.nova.api.lost import LostOptions
from lease_scheduler.cloud.nova.api.pci_aliases import PciAliases
from lease_scheduler.cloud.nova.images.snapshots import SnapshotOptions
from lease_scheduler.cloud.nova.lease.reservations import BlazarOptions
from lease_scheduler.cloud.nova.vacating.options import RoomOptions


@dataclass(frozen=True)
class DriverOptions:
    """Options of the driver.

    :ivar freepool: name of the aggregate of all hosts that leases may use
    :ivar watch_interval: real seconds between two checks of hosts and servers
    :ivar operations: maximum number of servers that are suspended, resumed or moved at the same time
    :ivar operations_per_host: the same limit for one host
    :ivar boot_timeout: seconds after which a boot that is not complete counts as failed
    :ivar room: how servers give way to leases
    :ivar lost: when commands count as lost
    :ivar snapshots: how images of servers are made
    :ivar blazar: what is done for Blazar's clients
    :ivar tells_trespassers: whether ordinary servers on hosts of the pool are reported
    :ivar pci_aliases: aliases by which Nova gives PCI devices to servers
    :ivar shares_per_vcpu: weight of the CPU time of servers of leases for each of their VCPUs; 0 for Nova's own weight
    :ivar renew_interval: real seconds after which orders to agents are repeated
    """

    freepool: str = "freepool"
    watch_interval: float = 10.0
    operations: int = 20
    operations_per_host: int = 4
    boot_timeout: int = 600
    room: RoomOptions = field(default_factory=RoomOptions)
    lost: LostOptions = field(default_factory=LostOptions)
    snapshots: SnapshotOptions = field(default_factory=SnapshotOptions)
    blazar: BlazarOptions = field(default_factory=BlazarOptions)
    tells_trespassers: bool = True
    pci_aliases: PciAliases = field(default_factory=PciAliases)
    shares_per_vcpu: int = 0
    renew_interval: float = 30.0
