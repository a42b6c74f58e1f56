"""Runs of recorded queues with expected durations: what backfilling gains if it knows how long leases run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, ClassVar

from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.model.host import Site
from lease_scheduler.model.resources import MEMORY_MB, VCPU, Resources
from lease_scheduler.papers.data_folder import data_folder
from lease_scheduler.simulation import metrics
from lease_scheduler.simulation.formats.swf import SwfOptions, read_swf
from lease_scheduler.simulation.run import Run
from lease_scheduler.simulation.settings import RunSettings
from lease_scheduler.simulation.shipped import load_workload
from lease_scheduler.simulation.workload import Workload

_MONTH = 30 * 86_400


@dataclass(frozen=True)
class _LogPart:
    """A part of a log, and the machine.

    :ivar file: the log, below the folder of workload logs
    """

    file: str
    hosts: int
    options: SwfOptions


#: The logs beside BLUE1, which is shipped.
LOGS: Mapping[str, _LogPart] = MappingProxyType(
    {
        "DS": _LogPart(
            "pwa/SDSC-DS-2004-2.1-cln.swf.gz",
            164,
            SwfOptions(begin=4_293_741, length=_MONTH, scale=8, queues=frozenset({2, 3})),
        ),
        "KTH-SP2": _LogPart("pwa/KTH-SP2-1996-2.1-cln.swf.gz", 100, SwfOptions(length=3 * _MONTH)),
    }
)

#: Name -> duration policy, and its options.
POLICIES: Mapping[str, tuple[str, Mapping[str, str]]] = MappingProxyType(
    {
        "requested": ("requested", {}),
        "recent-of-user": ("recent-of-user", {}),
        "bmbp 0.25": ("bmbp", {"duration_quantile": "0.25"}),
        "bmbp 0.5": ("bmbp", {"duration_quantile": "0.5"}),
        "bmbp 0.75": ("bmbp", {"duration_quantile": "0.75"}),
        "bmbp 0.95": ("bmbp", {"duration_quantile": "0.95"}),
    }
)


@dataclass(frozen=True)
class DurationCase:
    """One run.

    :ivar log: ``BLUE1`` or a key of ``LOGS``
    :ivar policy: a key of ``POLICIES``
    """

    log: str
    policy: str
    cost_s: ClassVar[float] = 15.0

    @property
    def name(self) -> str:
        """See ``campaigns.case.Case``."""
        return f"{self.log} {self.policy}"

    def run(self) -> dict[str, Any]:
        """See ``campaigns.case.Case``."""
        duration, options = POLICIES[self.policy]
        result = Run(read_log(self.log), RunSettings(policies={"duration": duration}, policy_options=options)).execute()
        measured = metrics.measurements(result.leases)
        return {
            "slowdown": float(measured.slowdown.mean()),
            "waiting": float(measured.waiting.mean()),
            "suspensions": result.counters.get("suspensions", 0),
            "wall_s": result.wall_s,
        }


def read_log(name: str) -> Workload:
    """Return a log as a workload of best-effort leases.

    :param name: ``BLUE1`` or a key of ``LOGS``
    :raises InvalidValueError: ``LEASE_SCHEDULER_DATA`` does not name the folder of workload logs
    """
    if name == "BLUE1":
        return load_workload("blue1")
    log = LOGS[name]
    folder = data_folder()
    if folder is None:
        raise InvalidValueError("LEASE_SCHEDULER_DATA", f"must name the folder of workload logs for {name}")
    host = Resources({VCPU: 100, MEMORY_MB: 1024})
    return replace(read_swf(folder / log.file, log.options), name=name, site=Site.homogeneous(log.hosts, host))
