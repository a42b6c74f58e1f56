"""What planning functions need in addition to the lease."""

from __future__ import annotations

from dataclasses import dataclass

from lease_scheduler.model.lease import Lease, LeaseRequest
from lease_scheduler.plan.durations.preemption_times import PreemptionTimes, SuspensionEstimates
from lease_scheduler.plan.durations.suspension import SuspensionModel
from lease_scheduler.plan.fitting.mapper import GREEDY
from lease_scheduler.plan.interfaces import ExpectedDuration, HostSelection, Mapper, Preemption
from lease_scheduler.plan.neutral import REQUESTED
from lease_scheduler.plan.options import PlanningOptions
from lease_scheduler.plan.plan import Plan

#: Size of the cache of estimates; it is limited because a service runs for years.
_MOST_REMEMBERED = 20_000


@dataclass(frozen=True)
class PlanningContext:
    """The plan, the options and the policies.

    :ivar plan: the plan
    :ivar options: options set by the operator
    :ivar suspension: model of how long suspending and resuming take
    :ivar selection: policy for the order in which hosts are filled
    :ivar preemption: policy that chooses victims
    :ivar mapper: policy that distributes nodes over hosts
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
        """Return the maximum number of nodes of a lease, of all its node sets, that could share one host."""
        return sum(min(demand.count, demand.most_per_host) for demand in self.plan.demands(request))

    def suspend_estimate(self, request: LeaseRequest) -> int:
        """Return the estimated seconds that suspending the lease takes."""
        return self.suspension.suspend_estimate(request, self.most_per_host(request))

    def resume_estimate(self, request: LeaseRequest) -> int:
        """Return the estimated seconds that resuming the lease takes."""
        return self.suspension.resume_estimate(request, self.most_per_host(request))

    def preemption_times(self, lease: Lease, assignment: tuple[int, ...]) -> PreemptionTimes:
        """Return how long it takes to suspend and resume a lease that is in the plan.

        :param assignment: the host of each node
        """
        model, request = self.suspension, lease.request
        known = self.plan.preemption_times.get(request.lease_id)
        # Not a method, because each search for victims comes here for every lease of the site.
        if known is not None and known.request is request and known.model is model and known.assignment == assignment:
            return known
        suspend = overhead = 0
        can_suspend = model.can_suspend(request)
        if can_suspend:
            suspend, overhead = model.suspend_time(request, assignment), self.estimates(request).overhead
        found = PreemptionTimes(model, request, assignment, can_suspend, suspend, overhead)
        self.plan.preemption_times[request.lease_id] = found
        return found

    def threshold(self, request: LeaseRequest, *, resuming: bool) -> int:
        """Return the minimum seconds of a run that ends in a suspension."""
        known = self.estimates(request)
        return known.threshold_resuming if resuming else known.threshold

    def estimates(self, request: LeaseRequest) -> SuspensionEstimates:
        """Return estimates of what suspensions of a lease cost. They are cached, as many leases have the same."""
        model, remembered = self.suspension, self.plan.suspension_estimates
        key = model, request.nodes, request.preemptible, request.preemption_mode
        found = remembered.get(key)
        if found is None:
            if len(remembered) >= _MOST_REMEMBERED:
                remembered.clear()
            most = self.most_per_host(request)
            overhead = 0
            if model.can_suspend(request):
                overhead = model.suspend_estimate(request, most) + model.resume_estimate(request, most)
            found = remembered[key] = SuspensionEstimates(
                model.threshold(request, most, resuming=False),
                model.threshold(request, most, resuming=True),
                overhead,
            )
        return found
