"""Overheads of virtual machines, for workloads recorded on bare machines.

See Sotomayor 2010, section 5.4.2 (haizea F75, F76).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from decimal import ROUND_CEILING, Decimal
from math import isfinite
from typing import Literal

from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.lease import LeaseRequest
from lease_scheduler.model.resources import MEMORY_MB
from lease_scheduler.simulation.workload import Workload, WorkloadLease


@dataclass(frozen=True)
class OverheadOptions:
    """Overheads of virtual machines.

    :ivar runtime_slowdown_percent: per cent by which work takes longer in a VM
    :ivar boot_shutdown_s: seconds that booting and shutting down add to every lease
    :ivar applies_to: leases to which the slowdown and these seconds apply
    :ivar slowdown_mode: ``requested-and-actual`` lengthens both durations by the slowdown. ``legacy`` reproduces
        Haizea's program: if the real duration is known, the lease *requests* the real duration with the slowdown, but
        runs for the real duration without it. Estimates are then nearly perfect
    :ivar override_memory_mb: MB of memory of every VM of every lease; None leaves it unchanged
    :raises InvalidValueError: a value is invalid
    """

    runtime_slowdown_percent: float = 0.0
    boot_shutdown_s: int = 0
    applies_to: Literal["none", "besteffort", "all"] = "none"
    slowdown_mode: Literal["requested-and-actual", "legacy"] = "requested-and-actual"
    override_memory_mb: int | None = None

    def __post_init__(self) -> None:
        if not self.runtime_slowdown_percent >= 0 or not isfinite(self.runtime_slowdown_percent):
            raise InvalidValueError(
                "runtime_slowdown_percent", f"must be a number of at least 0, not {self.runtime_slowdown_percent}"
            )
        if self.boot_shutdown_s < 0:
            raise InvalidValueError("boot_shutdown_s", f"must be at least 0, not {self.boot_shutdown_s}")
        if self.override_memory_mb is not None and self.override_memory_mb < 1:
            raise InvalidValueError("override_memory_mb", f"must be at least 1, not {self.override_memory_mb}")
        if self.applies_to not in ("none", "besteffort", "all"):
            raise InvalidValueError("applies_to", f"must be none, besteffort or all, not {self.applies_to!r}")
        if self.slowdown_mode not in ("requested-and-actual", "legacy"):
            raise InvalidValueError(
                "slowdown_mode", f"must be requested-and-actual or legacy, not {self.slowdown_mode!r}"
            )


def apply_overheads(workload: Workload, options: OverheadOptions) -> Workload:
    """Return the workload with overheads included; durations are rounded up to whole seconds.

    A deadline that the longer duration makes impossible is moved to the earliest possible one.
    """
    return replace(workload, leases=tuple(_with_overheads(lease, options) for lease in workload.leases))


def _with_overheads(lease: WorkloadLease, options: OverheadOptions) -> WorkloadLease:
    request, real = lease.request, lease.real_duration
    best_effort = request.kind is LeaseKind.BEST_EFFORT
    if options.applies_to == "all" or (options.applies_to == "besteffort" and best_effort):
        requested, real = _durations(request.duration, real, options)
        request = _with_duration(request, requested)
        real = None if real is None or real >= requested else real
    if options.override_memory_mb is not None:
        memory = {MEMORY_MB: options.override_memory_mb}
        nodes = tuple(replace(each, resources=each.resources.replaced(**memory)) for each in request.nodes)
        request = replace(request, nodes=nodes)
    return replace(lease, request=request, real_duration=real)


def _durations(requested: int, real: int | None, options: OverheadOptions) -> tuple[int, int | None]:
    factor = 1 + Decimal(str(options.runtime_slowdown_percent)) / 100
    boot = options.boot_shutdown_s
    if options.slowdown_mode == "legacy" and real is not None:
        # Haizea's program leaves the request unchanged if there is no slowdown.
        slowed = _rounded_up(real * factor) if options.runtime_slowdown_percent else requested
        return slowed + boot, real + boot
    return _rounded_up(requested * factor) + boot, None if real is None else _rounded_up(real * factor) + boot


def _with_duration(request: LeaseRequest, duration: int) -> LeaseRequest:
    deadline = request.deadline
    if deadline is not None and request.start is not None:
        deadline = max(deadline, request.start + duration)
    return replace(request, duration=duration, deadline=deadline)


def _rounded_up(seconds: Decimal) -> int:
    return int(seconds.to_integral_value(ROUND_CEILING))
