"""How long suspending and resuming take, and when each VM's turn is (haizea F69-F74; Sotomayor 2010, section 7.1)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from math import ceil

from lease_scheduler.model.lease import LeaseRequest, NodeSet, PreemptionMode
from lease_scheduler.model.resources import DISK_GB, MEMORY_MB
from lease_scheduler.plan.options import Estimate, Exclusion, PlanningOptions, ShelvedSize, Suspension


class SuspensionModel:
    """The time model of equations 7.1 and 7.2: saving memory at a rate, one VM after the other where they exclude each
    other, plus an overhead per command. Times are whole seconds, rounded up per VM.

    :param options: rates, exclusion, overheads
    :param share_of_host: how much of a resource class a VM of a node set can use that does not name the class, such as
        the memory of an exclusive host; 0 of each by default
    """

    def __init__(self, options: PlanningOptions, share_of_host: Callable[[NodeSet, str], int] | None = None) -> None:
        self._options = options
        self._share_of_host = share_of_host

    def can_suspend(self, request: LeaseRequest) -> bool:
        """Whether the lease's state can be saved when it has to make room (haizea F51)."""
        if not request.nodes or not request.preemptible or not request.preemption_mode.saves_state:
            return False
        return _includes(self._options.suspension, request)

    def may_be_planned_in_parts(self, request: LeaseRequest) -> bool:
        """Whether a suspension of the lease may be planned though nothing preempts it."""
        planned = self._options.planned_suspension
        return self.can_suspend(request) and (planned is None or _includes(planned, request))

    def suspend_time(self, request: LeaseRequest, assignment: Sequence[int]) -> int:
        """Seconds to suspend all VMs, one host index per VM."""
        return self._total(request, self._per_vm(request, suspend=True), assignment)

    def resume_time(self, request: LeaseRequest, assignment: Sequence[int]) -> int:
        """Seconds to resume all VMs, one host index per VM."""
        return self._options.resume_buffer + self._total(request, self._per_vm(request, suspend=False), assignment)

    def suspend_estimate(self, request: LeaseRequest, most_per_host: int) -> int:
        """Seconds to think with before the hosts are known; ``most_per_host`` VMs of the lease may share one."""
        return self._estimate(request, self._per_vm(request, suspend=True), most_per_host)

    def resume_estimate(self, request: LeaseRequest, most_per_host: int) -> int:
        """Seconds to think with before the hosts are known; ``most_per_host`` VMs of the lease may share one."""
        return self._options.resume_buffer + self._estimate(
            request, self._per_vm(request, suspend=False), most_per_host
        )

    def threshold(self, request: LeaseRequest, most_per_host: int, *, resuming: bool) -> int:
        """How long a run that ends in a suspension must last at least to be worth it (haizea F55)."""
        if not self.can_suspend(request):
            return 0
        if self._options.force_scheduling_threshold is not None:
            return self._options.force_scheduling_threshold
        safe = self.suspend_estimate(request, most_per_host)
        if resuming:
            safe += self.resume_estimate(request, most_per_host)
        return ceil(safe * (1 + self._options.scheduling_threshold_factor))

    def shutdown_time(self, request: LeaseRequest) -> int:
        """Seconds reserved after the run (haizea F72)."""
        if not self._options.shutdown_time or not request.nodes:
            return 0
        return self._options.shutdown_time + self._options.enactment_overhead * request.node_count

    def _per_vm(self, request: LeaseRequest, *, suspend: bool) -> list[tuple[int, int]]:
        """(number of VMs, seconds for one of them) of each node set."""
        options = self._options
        if request.preemption_mode is PreemptionMode.STOP:
            # Nothing is copied; the guest is given time to end.
            return [(node_set.count, options.stop_time if suspend else 0) for node_set in request.nodes]
        fixed = options.override_suspend_time if suspend else options.override_resume_time
        rate = self._rate(request, suspend=suspend)
        return [
            (node_set.count, ceil(self._saved_mb(request, node_set) / rate) if fixed is None else fixed)
            for node_set in request.nodes
        ]

    def _rate(self, request: LeaseRequest, *, suspend: bool) -> float:
        """MB/s at which the VMs of a lease are saved or loaded."""
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
        """MB that are saved of a VM."""
        if request.preemption_mode.leaves_host and self._options.shelved_size is ShelvedSize.DISK:
            return self._used(node_set, DISK_GB) * 1024
        return self._used(node_set, MEMORY_MB)

    def _used(self, node_set: NodeSet, resource_class: str) -> int:
        """How much of a resource class a VM uses at most."""
        named = node_set.resources.get(resource_class, 0)
        return named or (0 if self._share_of_host is None else self._share_of_host(node_set, resource_class))

    def _total(self, request: LeaseRequest, per_vm: list[tuple[int, int]], assignment: Sequence[int]) -> int:
        count = sum(number for number, _ in per_vm)
        overhead = self._options.enactment_overhead * count
        if self._takes_turns_everywhere(request):
            return overhead + sum(number * seconds for number, seconds in per_vm)
        if len(per_vm) == 1 and len(set(assignment)) == count:
            return overhead + per_vm[0][1]
        on_host: defaultdict[int, int] = defaultdict(int)
        durations = [seconds for number, seconds in per_vm for _ in range(number)]
        for host, seconds in zip(assignment, durations, strict=True):
            on_host[host] += seconds
        return overhead + max(on_host.values())

    def _estimate(self, request: LeaseRequest, per_vm: list[tuple[int, int]], most_per_host: int) -> int:
        count = sum(number for number, _ in per_vm)
        overhead = self._options.enactment_overhead * count
        everything = sum(number * seconds for number, seconds in per_vm)
        if self._options.suspend_estimate is Estimate.SUM or self._takes_turns_everywhere(request):
            return overhead + everything
        longest = max(seconds for _, seconds in per_vm)
        return overhead + min(everything, min(count, most_per_host) * longest)

    def turns(
        self, request: LeaseRequest, assignment: Sequence[int], start: int, *, suspend: bool
    ) -> list[tuple[int, int, int]]:
        """When each VM is suspended or resumed: (VM index, first second, first second after), from ``start`` on.

        VMs that exclude each other take turns (haizea F74): those of one host, or all of the lease.
        """
        durations = [seconds for number, seconds in self._per_vm(request, suspend=suspend) for _ in range(number)]
        takes_turns_everywhere = self._takes_turns_everywhere(request)
        free_at: defaultdict[int, int] = defaultdict(lambda: start)
        turns = []
        for vm, (host, seconds) in enumerate(zip(assignment, durations, strict=True)):
            lane = 0 if takes_turns_everywhere else host
            end = free_at[lane] + seconds + self._options.enactment_overhead
            turns.append((vm, free_at[lane], end))
            free_at[lane] = end
        return turns


def _includes(kinds: Suspension, request: LeaseRequest) -> bool:
    return kinds is Suspension.ALL or (kinds is Suspension.SERIAL_ONLY and request.node_count == 1)
