"""Runs with best-effort leases and reservations, images predeployed (Sotomayor 2010, section 5.4; haizea E1).

The workload is BLUE1 on 144 hosts, with one of 72 sets of reservations or none. There are three configurations.
"""

from __future__ import annotations

import tarfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from lease_scheduler.engine.options import EngineOptions
from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.states import LeaseState
from lease_scheduler.papers.data_folder import data_folder
from lease_scheduler.plan.options import Estimate, PlanningOptions, PreemptAt, Suspension
from lease_scheduler.simulation import metrics
from lease_scheduler.simulation.formats.old_lwf import read_old_lwf
from lease_scheduler.simulation.generators.reservations import generate_reservations, preset_by_name
from lease_scheduler.simulation.injection import inject
from lease_scheduler.simulation.overheads import OverheadOptions, apply_overheads
from lease_scheduler.simulation.result import RunResult
from lease_scheduler.simulation.run import Run
from lease_scheduler.simulation.settings import RunSettings, StopWhen
from lease_scheduler.simulation.shipped import load_workload
from lease_scheduler.simulation.workload import Workload

CONFIGURATIONS = ("NOVM-NOSR", "NOVM-SR", "VM-PREDEPLOY", "VM-PREDEPLOY (legacy)")

LOADS = (5, 10, 15, 20, 25, 30)
HOURS = (1, 2, 3, 4)
SIZES = ("small", "medium", "large")

#: Archive with the sets of 2008, in the folder of workload logs.
SET_ARCHIVE = "haizea/blue-injected-leases.tar.gz"
_OLD_SIZES = {"small": "1small", "medium": "2medium", "large": "3large"}


def set_name(load: int, hours: int, size: str) -> str:
    """Return the name of one of the 72 sets of reservations."""
    return f"U{load}_N{size}_D{hours}h"


@dataclass(frozen=True)
class ReservationCase:
    """One run of BLUE1.

    :ivar reservations: name of a set of reservations; None for no reservations
    :ivar source: ``generated`` for our sets, or ``2008`` for the author's files of that year
    :ivar seed: seed of the generator
    :ivar configuration: one of ``CONFIGURATIONS``
    :ivar by_lease: whether the outcome includes waits and slowdowns of single leases
    """

    reservations: str | None
    source: str
    seed: int
    configuration: str
    by_lease: bool = False

    @property
    def name(self) -> str:
        """See ``campaigns.case.Case``."""
        details = " by-lease" if self.by_lease else ""
        return f"blue1+{self.reservations} {self.source} seed={self.seed} {self.configuration}{details}"

    @property
    def cost_s(self) -> float:
        """See ``campaigns.case.CostedCase``."""
        count = preset_by_name(self.reservations).expected_count if self.reservations else 0
        return 8.0 + 0.004 * count

    def run(self) -> dict[str, Any]:
        """See ``campaigns.case.Case``."""
        workload = load_workload("blue1")
        if self.reservations is not None:
            workload = inject(workload, self._reservations())
        workload = apply_overheads(workload, overheads(self.configuration))
        result = Run(workload, run_settings(self.configuration)).execute()
        return {**figures(result), **(_by_lease(result) if self.by_lease else {})}

    def _reservations(self) -> Workload:
        assert self.reservations is not None
        if self.source == "2008":
            return read_set_of_2008(self.reservations)
        return generate_reservations(preset_by_name(self.reservations), self.seed)


def run_settings(configuration: str) -> RunSettings:
    """Return the settings of section 5.4: 50 MB/s, 1000 Mb/s, aggressive backfilling, preemptions timed as in Haizea.

    :param configuration: one of ``CONFIGURATIONS``
    """
    return RunSettings(
        policies={"preemption": "ar-preempts-everything"},
        planning=PlanningOptions(
            suspension=Suspension.NONE if configuration == "NOVM-NOSR" else Suspension.ALL,
            suspend_estimate=Estimate.SUM,
            preempt_at=PreemptAt.REQUEST,
        ),
        engine=EngineOptions(explain_refusals=False),
        stop_when=StopWhen.BEST_EFFORT_DONE,
    )


def overheads(configuration: str) -> OverheadOptions:
    """Return the overheads of virtual machines for best-effort leases.

    :param configuration: one of ``CONFIGURATIONS``
    """
    if not configuration.startswith("VM-"):
        return OverheadOptions()
    return OverheadOptions(
        runtime_slowdown_percent=5,
        boot_shutdown_s=20,
        applies_to="besteffort",
        slowdown_mode="legacy" if configuration.endswith("(legacy)") else "requested-and-actual",
    )


def figures(result: RunResult) -> dict[str, Any]:
    """Return the figures that are compared with the dissertation, as JSON values."""
    measured = metrics.measurements(result.leases)
    reservations = [lease for lease in result.leases if lease.kind is LeaseKind.RESERVATION]
    return {
        "all_best_effort_s": metrics.all_best_effort(result),
        "mean_wait_s": metrics.mean(measured.waiting),
        "mean_slowdown": metrics.mean(measured.slowdown),
        "reservations": len(reservations),
        "rejected_reservations": sum(lease.state is LeaseState.REJECTED for lease in reservations),
        "suspensions": result.counters.get("suspensions", 0),
        "wall_s": result.wall_s,
    }


def _by_lease(result: RunResult) -> dict[str, Any]:
    measured = metrics.measurements(result.leases)
    return {
        "duration_s": measured.requested_duration.tolist(),
        "nodes": measured.nodes.tolist(),
        "cpu_hours": measured.cpu_hours.tolist(),
        "wait_s": measured.waiting.tolist(),
        "slowdown": measured.slowdown.tolist(),
    }


@cache
def _archive(path: Path) -> dict[str, bytes]:
    with tarfile.open(path) as archive:
        return {
            Path(member.name).name: stream.read()
            for member in archive.getmembers()
            if "/30days/" in member.name and (stream := archive.extractfile(member)) is not None
        }


def read_set_of_2008(name: str) -> Workload:
    """Return one of the author's sets of reservations of 2008, whose intervals scatter by an hour.

    :param name: name of the set, as in ``set_name``
    :raises InvalidValueError: ``LEASE_SCHEDULER_DATA`` does not name the folder of workload logs
    """
    folder = data_folder()
    if folder is None:
        raise InvalidValueError("LEASE_SCHEDULER_DATA", "must name the folder of workload logs for the sets of 2008")
    load, size, hours = name[1:].split("_")
    file_name = f"work_{int(load):02d}-dur_{hours[1:]}-size_{_OLD_SIZES[size[1:]]}.lwf"
    with TemporaryDirectory() as scratch:
        path = Path(scratch) / file_name
        path.write_bytes(_archive(folder / SET_ARCHIVE)[file_name])
        return read_old_lwf(path)
