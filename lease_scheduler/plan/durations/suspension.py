"""Suspension model: how long suspending and resuming take, and in which order nodes take turns.

Sotomayor 2010, section 7.1 (haizea F69-F74).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from math import ceil

from lease_scheduler.model.kinds import PreemptionMode
from lease_scheduler.model.lease import LeaseRequest
from lease_scheduler.model.nodes import NodeSet
from lease_scheduler.model.resources import DISK_GB, MEMORY_MB
from lease_scheduler.plan.options import Estimate, Exclusion, PlanningOptions, ShelvedSize, Suspension


class SuspensionModel:
    """The time model of equations 7.1 and 7.2.

    Memory is saved at a rate, and nodes that exclude each other take turns; each command adds an overhead. Times are
    whole seconds, rounded up per node.

    :param options: rates, exclusion, overheads
    :param share_of_host: returns how much of a resource class a node can use if its node set does not name the class,
        such as the memory of an exclusive host; by default 0
    :param late: seconds by which each suspension of a lease takes longer than the rates say
    """

    def __init__(
        self,
        options: PlanningOptions,
        share_of_host: Callable[[NodeSet, str], int] | None = None,
        late: int = 0,
    ) -> None:
        self._options = options
        self._share_of_host = share_of_host
        self._late = late

    def later_by(self, seconds: int) -> SuspensionModel:
        """Return a model in which each suspension of a lease takes this much longer."""
        return SuspensionModel(self._options, self._share_of_host, self._late + seconds)

    def can_suspend(self, request: LeaseRequest) -> bool:
        """Return whether the lease's state can be saved when it is preempted (haizea F51)."""
        if not request.nodes or not request.preemptible or not request.preemption_mode.saves_state:
            return False
        return _includes(self._options.suspension, request)

    def may_be_planned_in_parts(self, request: LeaseRequest) -> bool:
        """Return whether a suspension of the lease may be planned although nothing preempts it."""
        planned = self._options.planned_suspension
        return self.can_suspend(request) and (planned is None or _includes(planned, request))

    def suspend_time(self, request: LeaseRequest, assignment: Sequence[int]) -> int:
        """Return the seconds to suspend all nodes, given the host index of each."""
        return self._late + self._total(request, self._per_node(request, suspend=True), assignment)

    def resume_time(self, request: LeaseRequest, assignment: Sequence[int]) -> int:
        """Return the seconds to resume all nodes, given the host index of each."""
        return self._options.resume_buffer + self._total(request, self._per_node(request, suspend=False), assignment)

    def suspend_estimate(self, request: LeaseRequest, most_per_host: int) -> int:
        """Return the estimated seconds to suspend all nodes before their hosts are known.

        :param most_per_host: how many nodes of the lease may share a host
        """
        return self._late + self._estimate(request, self._per_node(request, suspend=True), most_per_host)

    def resume_estimate(self, request: LeaseRequest, most_per_host: int) -> int:
        """Return the estimated seconds to resume all nodes before their hosts are known.

        :param most_per_host: how many nodes of the lease may share a host
        """
        return self._options.resume_buffer + self._estimate(
            request, self._per_node(request, suspend=False), most_per_host
        )

    def threshold(self, request: LeaseRequest, most_per_host: int, *, resuming: bool) -> int:
        """Return the minimum seconds for which a run that ends in a suspension is worthwhile (haizea F55)."""
        if not self.can_suspend(request):
            return 0
        if self._options.force_scheduling_threshold is not None:
            return self._options.force_scheduling_threshold
        safe = self.suspend_estimate(request, most_per_host)
        if resuming:
            safe += self.resume_estimate(request, most_per_host)
        return ceil(safe * (1 + self._options.scheduling_threshold_factor))

    def shutdown_time(self, request: LeaseRequest) -> int:
        """Return the seconds for which hosts are held after the run, for the shutdown (haizea F72)."""
        if not self._options.shutdown_time or not request.nodes:
            return 0
        return self._options.shutdown_time + self._options.enactment_overhead * request.node_count

    def _per_node(self, request: LeaseRequest, *, suspend: bool) -> list[tuple[int, int]]:
        """Return (number of nodes, seconds for one node) for each node set."""
        options = self._options
        if request.preemption_mode is PreemptionMode.STOP:
            # Nothing is copied, but guests need time to shut down.
            return [(node_set.count, options.stop_time if suspend else 0) for node_set in request.nodes]
        fixed = options.override_suspend_time if suspend else options.override_resume_time
        rate = self._rate(request, suspend=suspend)
        return [
            (node_set.count, ceil(self._saved_mb(request, node_set) / rate) if fixed is None else fixed)
            for node_set in request.nodes
        ]

    def _rate(self, request: LeaseRequest, *, suspend: bool) -> float:
        """Return the MB/s at which the nodes of a lease are saved or loaded."""
        options = self._options
        rate, of_leaving = options.resume_rate, options.unshelve_rate
        if suspend:
            rate, of_leaving = options.suspend_rate, options.shelve_rate
        return of_leaving if of_leaving is not None and request.preemption_mode.leaves_host else rate

    def _takes_turns_everywhere(self, request: LeaseRequest) -> bool:
        options = self._options
        exclusion = options.shelve_exclusion if request.preemption_mode.leaves_host else None
        return (exclusion or options.exclusion) is Exclusion.GLOBAL

    def _saved_mb(self, request: LeaseRequest, node_set: NodeSet) -> int:
        """Return how many MB of a node are saved."""
        if request.preemption_mode.leaves_host and self._options.shelved_size is ShelvedSize.DISK:
            return self._used(node_set, DISK_GB) * 1024
        return self._used(node_set, MEMORY_MB)

    def _used(self, node_set: NodeSet, resource_class: str) -> int:
        """Return the maximum amount of a resource class that a node uses."""
        named = node_set.resources.get(resource_class, 0)
        return named or (0 if self._share_of_host is None else self._share_of_host(node_set, resource_class))

    def _total(self, request: LeaseRequest, per_node: list[tuple[int, int]], assignment: Sequence[int]) -> int:
        count = sum(number for number, _ in per_node)
        overhead = self._options.enactment_overhead * count
        if self._takes_turns_everywhere(request):
            return overhead + sum(number * seconds for number, seconds in per_node)
        if len(per_node) == 1 and len(set(assignment)) == count:
            return overhead + per_node[0][1]
        on_host: defaultdict[int, int] = defaultdict(int)
        durations = [seconds for number, seconds in per_node for _ in range(number)]
        for host, seconds in zip(assignment, durations, strict=True):
            on_host[host] += seconds
        return overhead + max(on_host.values())

    def _estimate(self, request: LeaseRequest, per_node: list[tuple[int, int]], most_per_host: int) -> int:
        count = sum(number for number, _ in per_node)
        overhead = self._options.enactment_overhead * count
        everything = sum(number * seconds for number, seconds in per_node)
        if self._options.suspend_estimate is Estimate.SUM or self._takes_turns_everywhere(request):
            return overhead + everything
        longest = max(seconds for _, seconds in per_node)
        return overhead + min(everything, min(count, most_per_host) * longest)

    def turns(
        self, request: LeaseRequest, assignment: Sequence[int], start: int, *, suspend: bool
    ) -> list[tuple[int, int, int]]:
        """Return when each node is suspended or resumed, from ``start`` on.

        Nodes that exclude each other take turns (haizea F74): those on one host, or all of the lease.

        :return: for each node its index, first second, and first second after it
        """
        durations = [seconds for number, seconds in self._per_node(request, suspend=suspend) for _ in range(number)]
        takes_turns_everywhere = self._takes_turns_everywhere(request)
        free_at: defaultdict[int, int] = defaultdict(lambda: start)
        turns = []
        for node, (host, seconds) in enumerate(zip(assignment, durations, strict=True)):
            lane = 0 if takes_turns_everywhere else host
            end = free_at[lane] + seconds + self._options.enactment_overhead
            turns.append((node, free_at[lane], end))
            free_at[lane] = end
        return turns


def _includes(kinds: Suspension, request: LeaseRequest) -> bool:
    return kinds is Suspension.ALL or (kinds is Suspension.SERIAL_ONLY and request.node_count == 1)
