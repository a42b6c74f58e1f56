"""Cached times to suspend and resume leases that might be preempted.

A search for victims asks for these times of every lease of the site, at many instants and for many waiting leases.
"""

from __future__ import annotations

from dataclasses import dataclass

from lease_scheduler.model.lease import LeaseRequest
from lease_scheduler.plan.durations.suspension import SuspensionModel


@dataclass(frozen=True, slots=True)
class SuspensionEstimates:
    """What suspensions of leases with the same nodes cost, in seconds, on any hosts; 0 if they cannot be suspended.

    :ivar threshold: shortest run that ends in a suspension
    :ivar threshold_resuming: the same for a run that begins with a resumption
    :ivar overhead: how long it takes to suspend and resume a lease
    """

    threshold: int
    threshold_resuming: int
    overhead: int


@dataclass(frozen=True, slots=True)
class PreemptionTimes:
    """The times of one lease, in seconds, and what they were computed from.

    :ivar model: the model of durations
    :ivar request: the terms of the lease
    :ivar assignment: the host of each node
    :ivar can_suspend: whether the state of the lease can be saved; otherwise both times are 0
    :ivar suspend: how long it takes to suspend the lease on these hosts
    :ivar overhead: how long it takes to suspend and resume it, estimated for any hosts
    """

    model: SuspensionModel
    request: LeaseRequest
    assignment: tuple[int, ...]
    can_suspend: bool
    suspend: int
    overhead: int
