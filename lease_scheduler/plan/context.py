"""What planning functions need in addition to the lease."""

from __future__ import annotations

from dataclasses import dataclass

from lease_scheduler.model.lease import Lease, LeaseRequest
from lease_scheduler.plan.interfaces import ExpectedDuration, HostSelection, Mapper, Preemption
from lease_scheduler.plan.mapper import GREEDY
from lease_scheduler.plan.neutral import REQUESTED
from lease_scheduler.plan.options import PlanningOptions
from lease_scheduler.plan.plan import Plan
from lease_scheduler.plan.preemption_times import PreemptionTimes
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

    def preemption_times(self, lease: Lease, assignment: tuple[int, ...]) -> PreemptionTimes:
        """Return how long it takes to suspend and resume a lease that is in the plan.

        :param assignment: the host of each VM
        """
        model, request = self.suspension, lease.request
        known = self.plan.preemption_times.get(lease.lease_id)
        if known is not None and known.are_of(model, request, assignment):
            return known
        suspend = overhead = 0
        can_suspend = model.can_suspend(request)
        if can_suspend:
            suspend = model.suspend_time(request, assignment)
            overhead = self.suspend_estimate(request) + self.resume_estimate(request)
        found = PreemptionTimes(model, request, assignment, can_suspend, suspend, overhead)
        self.plan.preemption_times[lease.lease_id] = found
        return found

    def threshold(self, request: LeaseRequest, *, resuming: bool) -> int:
        """Return the minimum seconds of a run that ends in a suspension."""
        return self.suspension.threshold(request, self.most_per_host(request), resuming=resuming)
