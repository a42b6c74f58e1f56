"""Runs with best-effort leases, reservations and image transfers (Sotomayor 2010, section 6.4; haizea E3).

The workload is BLUE1 on 144 hosts, as in section 5.4. Every lease has one of 40 images of 4 GB, which a repository
sends to hosts by multicast.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from lease_scheduler.papers.haizea.best_effort_and_reservations import figures, overheads, run_settings
from lease_scheduler.plan.transfers.options import Reuse, TransferOptions
from lease_scheduler.simulation.formats.lwfa import annotate
from lease_scheduler.simulation.generators.annotations import (
    AnnotationRules,
    generate_positional_annotations,
    image_choice,
)
from lease_scheduler.simulation.generators.reservations import generate_reservations, preset_by_name
from lease_scheduler.simulation.injection import inject
from lease_scheduler.simulation.overheads import apply_overheads
from lease_scheduler.simulation.run import Run
from lease_scheduler.simulation.shipped import load_workload

#: Configuration -> (law of images, reuse of images).
CONFIGURATIONS = {
    "VM-MULT": ("uniform", Reuse.NONE),
    "VM-REUSE-UNIFORM": ("uniform", Reuse.IMAGE_CACHES),
    "VM-REUSE-SKEWED": ("pareto", Reuse.IMAGE_CACHES),
}

BANDWIDTHS = (1000, 100)

#: Name of the configuration without transfers in ``best_effort_and_reservations``. It has the overheads of Haizea's
#: program, which the dissertation's runs have from section 5.4 on.
PREDEPLOYED = "VM-PREDEPLOY (legacy)"

#: Size of the image cache of a host in MB: five images. The value is from Haizea's configuration files, not from the
#: dissertation.
_CACHE_MB = 20_480

#: Counters of a run that the outcome includes.
_COUNTERS = ("image_transfers", "transferred_images", "shared_images", "reused_images", "evicted_images", "migrations")


@dataclass(frozen=True)
class ImageCase:
    """One run of BLUE1 with images.

    :ivar reservations: name of a set of reservations; None for no reservations
    :ivar seed: seed of the generators of reservations and images
    :ivar configuration: a key of ``CONFIGURATIONS``
    :ivar bandwidth: Mb/s of the repository and between hosts
    :ivar keeps_replanned: whether images of leases that are planned again are kept; Haizea's program does not keep them
    """

    reservations: str | None
    seed: int
    configuration: str
    bandwidth: int = 1000
    keeps_replanned: bool = False

    @property
    def name(self) -> str:
        """See ``campaigns.case.Case``."""
        kept = " kept" if self.keeps_replanned else ""
        return f"blue1+{self.reservations} seed={self.seed} {self.configuration} {self.bandwidth} Mb/s{kept}"

    @property
    def cost_s(self) -> float:
        """See ``campaigns.case.CostedCase``."""
        count = preset_by_name(self.reservations).expected_count if self.reservations else 0
        return 17.0 + 0.01 * count

    def run(self) -> dict[str, Any]:
        """See ``campaigns.case.Case``."""
        law, reuse = CONFIGURATIONS[self.configuration]
        workload = load_workload("blue1")
        if self.reservations is not None:
            workload = inject(workload, generate_reservations(preset_by_name(self.reservations), self.seed))
        rules = AnnotationRules(images=image_choice(law))
        workload = annotate(workload, generate_positional_annotations(rules, len(workload.leases), self.seed))
        workload = apply_overheads(workload, overheads(PREDEPLOYED))
        settings = run_settings(PREDEPLOYED)
        transfers = TransferOptions(
            bandwidth=self.bandwidth, reuse=reuse, cache_size_mb=_CACHE_MB, keep_replanned=self.keeps_replanned
        )
        planning = replace(settings.planning, migration_bandwidth=self.bandwidth, migrate_disks=True)
        result = Run(workload, replace(settings, planning=planning, transfers=transfers)).execute()
        late = sum(
            lease.started is not None and lease.request.start is not None and lease.started > lease.request.start
            for lease in result.leases
        )
        counted = {name: result.counters.get(name, 0) for name in _COUNTERS}
        return {**figures(result), "late_reservations": late, **counted}
