"""Options of the engine."""

from __future__ import annotations

from dataclasses import dataclass, field

from lease_scheduler.engine.power_options import PowerOptions
from lease_scheduler.engine.relocation_options import RelocationOptions


@dataclass(frozen=True)
class EngineOptions:
    """Options of the engine.

    :ivar planning_lead: seconds from now in which nothing new may start (Haizea's non-schedulable interval)
    :ivar boot_attempts: number of attempts to start the nodes of a lease before it fails
    :ivar preparation_time: seconds before the start of a reservation or deadline lease at which its nodes are booted,
        if its hosts are free then
    :ivar host_repair_time: seconds for which a failed host is expected to be out of service; leases planned there in
        this time are moved
    :ivar explain_refusals: whether refusals say what would fit instead
    :ivar breach_tolerance: seconds for which a lease may start late, or lack nodes, without a breach
    :ivar refund_share: share of the price of released node-hours that is paid back
    :ivar operation_quantile: share of the cloud's operations that should be over in time, by which buffers are computed
        from past operations; None to use fixed buffers
    :ivar power: options of sleeping hosts
    :ivar keeps_saved_work: whether a suspended lease waits if it cannot be resumed at all, or not by its deadline. If
        not, it starts over or fails
    :ivar relocation: limits for moves of running leases
    """

    planning_lead: int = 0
    boot_attempts: int = 3
    preparation_time: int = 0
    host_repair_time: int = 3600
    explain_refusals: bool = True
    breach_tolerance: int = 60
    refund_share: float = 1.0
    operation_quantile: float | None = None
    power: PowerOptions = field(default_factory=PowerOptions)
    keeps_saved_work: bool = False
    relocation: RelocationOptions = field(default_factory=RelocationOptions)
