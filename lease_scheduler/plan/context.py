"""What planning functions need in addition to the lease."""

from __future__ import annotations

from dataclasses import dataclass

from lease_scheduler.model.lease import LeaseRequest
from lease_scheduler.plan.interfaces import ExpectedDuration, HostSelection, Mapper, Preemption
from lease_scheduler.plan.mapper import GREEDY
from lease_scheduler.plan.neutral import REQUESTED
from lease_scheduler.plan.options import PlanningOptions
from lease_scheduler.plan.plan import Plan
from lease_scheduler.plan.suspension import SuspensionModel


@dataclass(frozen=True)
class PlanningContext:
    """The plan, the options and the policies.

    :ivar plan: the plan
    :ivar options: options set by the operator
    :ivar suspension: model of how long suspending and resuming take
    :ivar selection: policy for the order in which hosts are filled
    :ivar preemption: policy that chooses victims
    :ivar mapper: policy that distributes VMs over hosts
    :ivar duration: policy that says how long best-effort leases are expected to run
    """

    plan: Plan
    options: PlanningOptions
    suspension: SuspensionModel
    selection: HostSelection
    preemption: Preemption
    mapper: Mapper = GREEDY
    duration: ExpectedDuration = REQUESTED

    def most_per_host(self, request: LeaseRequest) -> int:
        """Return the maximum number of VMs of a lease, of all its node sets, that could share one host."""
        return sum(min(demand.count, demand.most_per_host) for demand in self.plan.demands(request))

    def suspend_estimate(self, request: LeaseRequest) -> int:
        """Return the estimated seconds that suspending the lease takes."""
        return self.suspension.suspend_estimate(request, self.most_per_host(request))

    def resume_estimate(self, request: LeaseRequest) -> int:
        """Return the estimated seconds that resuming the lease takes."""
        return self.suspension.resume_estimate(request, self.most_per_host(request))

    def threshold(self, request: LeaseRequest, *, resuming: bool) -> int:
        """Return the minimum seconds of a run that ends in a suspension."""
        return self.suspension.threshold(request, self.most_per_host(request), resuming=resuming)
