"""Runs for the long-term cost of suspension, by its parameters (Sotomayor 2010, section 7.2.3; haizea E5).

The workload is BLUE1 with reservations on 144 cores. There are 1, 2, 4 or 8 cores per host and VMs of 1 to 4 GB. The
rates are those measured in section 7.2.2.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from lease_scheduler.model.host import Site
from lease_scheduler.model.resources import MEMORY_MB, VCPU, Resources
from lease_scheduler.papers.haizea.best_effort_and_reservations import figures, overheads, run_settings
from lease_scheduler.papers.haizea.image_transfers import PREDEPLOYED
from lease_scheduler.plan.options import Exclusion
from lease_scheduler.simulation.generators.reservations import generate_reservations, preset_by_name
from lease_scheduler.simulation.injection import inject
from lease_scheduler.simulation.overheads import apply_overheads
from lease_scheduler.simulation.run import Run
from lease_scheduler.simulation.shipped import load_workload

CORES = 144
CORES_PER_HOST = (1, 2, 4, 8)
MEMORIES = (1024, 2048, 3072, 4096)

#: Exclusion -> MB/s at which memory is saved and MB/s at which it is loaded, with a network of 1000 Mb/s.
_RATES = {Exclusion.LOCAL: (61.86, 66.27), Exclusion.GLOBAL: (63.67, 81.27)}

#: Seconds planned for the shutdown of every lease.
_SHUTDOWN = 10


@dataclass(frozen=True)
class SuspensionCase:
    """One run of BLUE1.

    :ivar reservations: name of a set of reservations; None for no reservations
    :ivar seed: seed of the generator
    :ivar cores: cores of a host
    :ivar exclusion: which nodes of a lease are suspended one after the other; None if suspending takes no time
    :ivar memory_mb: memory of a VM
    :ivar bandwidth: Mb/s of the network, to which the rates are proportional
    """

    reservations: str | None
    seed: int
    cores: int = 1
    exclusion: Exclusion | None = None
    memory_mb: int = 1024
    bandwidth: int = 1000

    @property
    def name(self) -> str:
        """See ``campaigns.case.Case``."""
        model = "instantaneous" if self.exclusion is None else self.exclusion.value
        parameters = f"{self.cores} cores, {self.memory_mb} MB, {model}, {self.bandwidth} Mb/s"
        return f"blue1+{self.reservations} seed={self.seed} {parameters}"

    @property
    def cost_s(self) -> float:
        """See ``campaigns.case.CostedCase``."""
        count = preset_by_name(self.reservations).expected_count if self.reservations else 0
        return 6.0 + 0.025 * count

    def run(self) -> dict[str, Any]:
        """See ``campaigns.case.Case``."""
        workload = load_workload("blue1")
        if self.reservations is not None:
            workload = inject(workload, generate_reservations(preset_by_name(self.reservations), self.seed))
        costs = replace(overheads(PREDEPLOYED), override_memory_mb=self.memory_mb)
        workload = apply_overheads(workload, costs)
        settings = run_settings(PREDEPLOYED)
        planning = replace(settings.planning, shutdown_time=_SHUTDOWN, migration_bandwidth=self.bandwidth)
        if self.exclusion is None:
            planning = replace(planning, override_suspend_time=0, override_resume_time=0)
        else:
            suspend_rate, resume_rate = (rate * self.bandwidth / 1000 for rate in _RATES[self.exclusion])
            planning = replace(planning, exclusion=self.exclusion, suspend_rate=suspend_rate, resume_rate=resume_rate)
        # Hosts have enough memory for a VM per core, because the dissertation does not say how much they have.
        capacity = Resources({VCPU: 100 * self.cores, MEMORY_MB: self.cores * self.memory_mb})
        site = Site.homogeneous(CORES // self.cores, capacity)
        return figures(Run(workload, replace(settings, planning=planning), site).execute())
