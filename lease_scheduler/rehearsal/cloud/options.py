"""Options of the model, with the defaults of the real services."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from lease_scheduler.cloud.nova.api.pci_aliases import PciAliases

#: Method of a hypervisor or step of Nova -> least and most seconds that it takes.
DURATIONS: Mapping[str, tuple[float, float]] = {
    "message": (0.01, 0.2),
    "schedule": (0.1, 1.0),
    "spawn": (4.0, 15.0),
    "destroy": (0.5, 3.0),
    "power_off": (1.0, 8.0),
    "power_on": (1.0, 5.0),
    "reboot": (2.0, 10.0),
    "snapshot": (5.0, 60.0),
    "suspend": (2.0, 15.0),
    "resume": (2.0, 15.0),
    "pause": (0.1, 0.5),
    "unpause": (0.1, 0.5),
    "rescue": (3.0, 12.0),
    "unrescue": (2.0, 8.0),
    "migrate_disk_and_power_off": (3.0, 30.0),
    "finish_migration": (2.0, 10.0),
    "confirm_migration": (0.5, 3.0),
    "finish_revert_migration": (2.0, 10.0),
    "live_migration": (5.0, 60.0),
    "cache_image": (2.0, 20.0),
}


@dataclass(frozen=True)
class Options:
    """Options of the services.

    :ivar freepool: name of the aggregate of the pool, for ``LeaseFilter``
    :ivar filter_options: further options of our filter and weigher, by name
    :ivar filters: names of Nova's filters and of ours, in their order
    :ivar shelved_offload_time: seconds until a shelved server leaves its host; 0 at once, -1 never
    :ivar reclaim_instance_interval: seconds for which a deleted server can be restored; 0 deletes at once
    :ivar allow_resize_to_same_host: whether a server may stay on its host when it is resized
    :ivar service_down_time: seconds without a report after which a compute service is down
    :ivar report_interval: seconds between two reports of a compute service
    :ivar token_lifetime: seconds
    :ivar pci_aliases: Nova's PCI aliases
    :ivar instances_quota: servers of a project; -1 for no limit
    :ivar durations: as ``DURATIONS``
    """

    freepool: str = "freepool"
    filter_options: Mapping[str, object] = field(default_factory=dict)
    filters: tuple[str, ...] = (
        "ComputeFilter",
        "ServerGroupAffinityFilter",
        "ServerGroupAntiAffinityFilter",
        "LeaseFilter",
    )
    shelved_offload_time: int = 0
    reclaim_instance_interval: int = 0
    allow_resize_to_same_host: bool = False
    service_down_time: float = 60.0
    report_interval: float = 10.0
    token_lifetime: float = 3600.0
    pci_aliases: PciAliases = field(default_factory=PciAliases)
    instances_quota: int = -1
    durations: Mapping[str, tuple[float, float]] = field(default_factory=lambda: DURATIONS)
