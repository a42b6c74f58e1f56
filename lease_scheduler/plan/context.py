"""What every planning function needs beside the lease."""

from __future__ import annotations

from dataclasses import dataclass

from lease_scheduler.model.lease import LeaseRequest
from lease_scheduler.plan.interfaces import HostSelection, Mapper, Preemption
from lease_scheduler.plan.mapper import GREEDY
from lease_scheduler.plan.options import PlanningOptions
from lease_scheduler.plan.plan import Plan
from lease_scheduler.plan.suspension import SuspensionModel


@dataclass(frozen=True)
class PlanningContext:
    """The plan, how it is to be made, and the policies that decide.

    :ivar plan: what is held so far
    :ivar options: what the operator set
    :ivar suspension: how long suspending takes
    :ivar selection: in which order hosts are filled
    :ivar preemption: who makes room for whom
    :ivar mapper: how VMs are distributed over hosts
    """

    plan: Plan
    options: PlanningOptions
    suspension: SuspensionModel
    selection: HostSelection
    preemption: Preemption
    mapper: Mapper = GREEDY

    def most_per_host(self, request: LeaseRequest) -> int:
        """How many VMs of a lease could share one host at most, those of all its node sets together."""
        return sum(min(demand.count, demand.most_per_host) for demand in self.plan.demands(request))

    def suspend_estimate(self, request: LeaseRequest) -> int:
        """Seconds that suspending the lease is thought to take."""
        return self.suspension.suspend_estimate(request, self.most_per_host(request))

    def resume_estimate(self, request: LeaseRequest) -> int:
        """Seconds that resuming the lease is thought to take."""
        return self.suspension.resume_estimate(request, self.most_per_host(request))

    def threshold(self, request: LeaseRequest, *, resuming: bool) -> int:
        """How long a run that ends in a suspension must last at least."""
        return self.suspension.threshold(request, self.most_per_host(request), resuming=resuming)
