"""What the parts of the engine share."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from lease_scheduler.engine.agenda import Agenda, Due, next_due
from lease_scheduler.engine.breaches import Breaches
from lease_scheduler.engine.interfaces import UNAWAITED, Cloud, Operation, OperationKind, Recorder, Store
from lease_scheduler.engine.lateness import Lateness
from lease_scheduler.model.holding import Closing, MigrationRound
from lease_scheduler.model.lease import Lease, PreemptionMode
from lease_scheduler.model.states import LeaseState
from lease_scheduler.plan.planner import Planner

#: Seconds after which hosts that were not free for a preparation are looked at again.
PREPARATION_INTERVAL = 5


_WAIT_FOR_IMAGES = (LeaseState.SCHEDULED, LeaseState.PREPARING)

#: Operations after which a lease has left its hosts; who follows there waits for their end.
LEAVING = frozenset({OperationKind.SUSPEND, OperationKind.STOP})

#: Operations during which a lease has its hosts, and how that is called. Until a start is over it has nothing of them.
_PHASES = {
    OperationKind.RESUME: "resume",
    OperationKind.SUSPEND: "suspend",
    OperationKind.STOP: "shutdown",
}


@dataclass(frozen=True)
class EngineOptions:
    """Options of the engine.

    :ivar planning_lead: seconds from now in which nothing new begins (Haizea's non-schedulable interval)
    :ivar boot_attempts: how often the VMs of a lease are started before it fails
    :ivar preparation_time: seconds before the start of a reservation or deadline lease from which on its VMs are
        booted, if its hosts are free then
    :ivar host_repair_time: seconds for which a host that went down is thought to stay away; leases of that time are
        moved
    :ivar explain_refusals: whether a refused lease is told what would fit instead
    :ivar breach_tolerance: seconds by which a lease may begin late, or do without nodes, before that is a breach
    :ivar operation_quantile: share of the cloud's operations that are to be over in time by what they took so far; none
        to leave them fixed buffers
    :ivar refund_share: how much of the price of node-hours that are given up is given back
    :ivar keeps_saved_work: whether a lease whose memory is saved waits if it cannot be brought back, or not by its
        deadline; if not it starts over or fails
    """

    planning_lead: int = 0
    boot_attempts: int = 3
    preparation_time: int = 0
    host_repair_time: int = 3600
    explain_refusals: bool = True
    breach_tolerance: int = 60
    refund_share: float = 1.0
    operation_quantile: float | None = None
    keeps_saved_work: bool = False


@dataclass
class EngineState:
    """The live state of an engine.

    :ivar breaches: is told of terms that are not kept
    :ivar operations: what the cloud is carrying out, by lease
    :ivar closed_hosts: hosts that are out of service for anything new, while what runs there goes on
    :ivar preempted: leases that were preempted and might go on elsewhere
    :ivar running: leases whose run the engine is counting
    :ivar preparations: when VMs may be booted ahead; entries may be stale
    :ivar failed_boots: how often the VMs of a lease could not be started
    :ivar lateness: how much longer operations take than planned
    :ivar occupied: hosts on which somebody is who does not give way -> when that is looked at again; nothing is planned
        there until then
    :ivar stuck: lease that cannot be suspended -> hosts that it keeps others from; these are occupied, and it holds
        nothing of them in the plan
    :ivar without: lease -> hosts of its assignment that it does without, because others are on them
    :ivar follow: told of every change of a lease that is stored: its value before, its value now and the instant
    """

    planner: Planner
    cloud: Cloud
    store: Store
    recorder: Recorder
    options: EngineOptions
    breaches: Breaches
    agenda: Agenda = field(default_factory=Agenda)
    preparations: Agenda = field(default_factory=Agenda)
    operations: dict[str, Operation] = field(default_factory=dict)
    failed_boots: Counter[str] = field(default_factory=Counter)
    lateness: Lateness = field(init=False)
    closed_hosts: set[int] = field(default_factory=set)
    preempted: list[str] = field(default_factory=list)
    running: set[str] = field(default_factory=set)
    occupied: dict[int, int] = field(default_factory=dict)
    stuck: dict[str, frozenset[int]] = field(default_factory=dict)
    without: dict[str, frozenset[int]] = field(default_factory=dict)
    follow: Callable[[Lease | None, Lease, int], None] | None = None

    def __post_init__(self) -> None:
        self.lateness = Lateness(self.planner, self.options.operation_quantile)

    @property
    def preparation_time(self) -> int:
        """Seconds before its start from which on the VMs of a lease are booted."""
        return max(self.options.preparation_time, self.lateness.buffer(OperationKind.START))

    def completed(self, operation: Operation, lease: Lease, now: int) -> None:
        """Learn from an operation that is over how much time others need."""
        if self.lateness.completed(operation, lease, now):
            # They may be booted at another instant.
            for each in self.planner.plan.leases.values():
                if self.waits_for_preparation(each):
                    self.preparations.push(each, (self.next_preparation(each, now), Due.PREPARE))

    def earliest(self, now: int) -> int:
        """When what is planned now, without having been asked for this instant, may begin."""
        return now + self.options.planning_lead

    def use_freed(self, nodes: int, now: int, window_end: int) -> int:
        """Plan again what can profit from so many hosts being free in ``[now, window_end)``.

        :return: how many leases got another place
        """
        return self.planner.use_freed_capacity(nodes, now, window_end, earliest=self.earliest(now))

    @property
    def dead_hosts(self) -> frozenset[int]:
        """Hosts on which nothing runs any more."""
        return frozenset(self.planner.plan.outages) - self.closed_hosts - self.occupied.keys()

    def missing_hosts(self, lease: Lease) -> frozenset[int]:
        """Return the hosts of its assignment that a running lease cannot use, and those that nobody can."""
        return self.dead_hosts | self.without.get(lease.lease_id, frozenset())

    def occupy(self, host: int, now: int, until: int) -> None:
        """Plan nothing new on a host for a while; what is planned there stays."""
        plan = self.planner.plan
        if host in plan.outages and host not in self.occupied:
            return
        self.occupied[host] = until
        plan.block(host, now, until)

    @property
    def stuck_hosts(self) -> frozenset[int]:
        """Hosts on which something is of leases that cannot be suspended."""
        for lease_id in list(self.stuck):
            lease = self.lease(lease_id)
            if lease is None or lease.state is not LeaseState.SUSPENDING:
                del self.stuck[lease_id]
        return frozenset().union(*self.stuck.values())

    def vacate(self, host: int) -> None:
        """Plan on a host again that was thought to be occupied."""
        if self.occupied.pop(host, None) is not None:
            self.planner.plan.unblock(host)

    def lease(self, lease_id: str | None) -> Lease | None:
        """A live lease, none if it is not live any more."""
        return None if lease_id is None else self.planner.plan.leases.get(lease_id)

    def put(self, lease: Lease) -> Lease:
        """Put a new value of a lease into the plan."""
        return self.planner.plan.put(lease)

    @contextmanager
    def late_hosts_held(self, now: int) -> Iterator[None]:
        """Keep what runs from going, while the block plans, to hosts that others should have left by now and have not.

        That an operation is late is looked after only when all is known that the cloud has to report. Who is planned
        on its hosts until then can be moved, but not who runs there already.
        """
        held = []
        for operation in self.operations.values():
            lease = self.lease(operation.lease_id)
            if lease is None or operation.kind not in LEAVING or lease.holdings[0].end > now:
                continue
            longer = replace(lease.holdings[0], end=now + 1)
            held.append((lease, self.put(replace(lease, holdings=(longer, *lease.holdings[1:])))))
        try:
            yield
        finally:
            for lease, longer_held in held:
                if self.lease(lease.lease_id) is longer_held:
                    self.put(lease)

    def publish(self, now: int) -> int:
        """Store every lease that changed and note when something is due for it.

        VMs of leases that the planner sent back to the queue are destroyed; the cloud follows those that run to other
        hosts.

        :return: how many leases changed
        """
        changes = self.planner.plan.take_changes()
        for before, lease in changes:
            lease_id = lease.lease_id
            operation = self.operations.get(lease_id)
            if lease.active_since is None and lease_id in self.running:
                assert before is not None
                self._destroy(before, now)
            elif operation is not None and operation.kind is OperationKind.START and not _boots(lease, operation):
                del self.operations[lease_id]
                self.cloud.discard(lease_id, now)
            elif operation is None and before is not None and _left_behind(before, lease):
                self.cloud.discard(lease_id, now)
            elif operation is None and before is not None and _runs_elsewhere(before, lease):
                hosts = lease.holdings[0].assignment
                self.cloud.begin(Operation(OperationKind.ADJUST, lease_id, hosts, now, now))
            self.note(lease, now)
            self.store.save(lease)
            if self.follow is not None:
                self.follow(before, lease, now)
            if self.may_evade(lease):
                self.preempted.append(lease_id)
        return len(changes)

    def may_evade(self, lease: Lease) -> bool:
        """Whether a lease runs, has to leave its hosts before it is done, and may move while it runs."""
        return (
            lease.request.preemption_mode is PreemptionMode.MIGRATE
            and lease.active_since is not None
            and lease.lease_id not in self.operations
            and lease.holdings[0].closing is not Closing.SHUTDOWN
        )

    @property
    def waits_for_images(self) -> bool:
        """Whether leases begin only when their images are there."""
        return self.planner.ahead is None

    def is_ready(self, lease: Lease) -> bool:
        """Whether a lease that has a place could begin, as far as its images are concerned."""
        return lease.state is LeaseState.READY or (lease.state is LeaseState.PREPARING and not self.waits_for_images)

    def waits_for_preparation(self, lease: Lease) -> bool:
        """Whether its VMs may be booted ahead and are not yet."""
        return (
            self.preparation_time > 0
            and lease.kind.is_prepared
            and self.is_ready(lease)
            and not lease.is_offered
            and bool(lease.holdings)
            and bool(lease.holdings[0].assignment)
            and not lease.is_prepared
            and lease.lease_id not in self.operations
        )

    def note(self, lease: Lease, now: int) -> None:
        """Remember when something is due for a lease."""
        due = self.next_due(lease)
        if due is not None:
            self.agenda.push(lease, due)
        if self.waits_for_preparation(lease):
            self.preparations.push(lease, (self.next_preparation(lease, now), Due.PREPARE))

    def next_due(self, lease: Lease) -> tuple[int, Due] | None:
        """When something is due for a lease, and what; none if it waits for a place or for the cloud."""
        return next_due(lease, in_operation=lease.lease_id in self.operations, waits_for_images=self.waits_for_images)

    def next_preparation(self, lease: Lease, now: int) -> int:
        """The next instant after now at which it is seen whether the VMs of a lease can be booted ahead.

        It follows from the lease alone, so that an engine that takes over looks at the same instants.
        """
        first = lease.holdings[0].run_start - self.preparation_time
        return first if first > now else first + ((now - first) // PREPARATION_INTERVAL + 1) * PREPARATION_INTERVAL

    def _destroy(self, before: Lease, now: int) -> None:
        assert before.active_since is not None
        self.running.discard(before.lease_id)
        self.recorder.occupied(before, "run", before.active_since, now, before.holdings[0].assignment)
        self.recorder.count("preemptions_with_loss")
        self.cloud.discard(before.lease_id, now)

    def stop_counting(self, lease: Lease, now: int) -> Lease:
        """The lease with the run that ends now counted (not put into the plan)."""
        assert lease.active_since is not None
        self.running.discard(lease.lease_id)
        self.recorder.occupied(lease, "run", lease.active_since, now, lease.holdings[0].assignment)
        whole = self.breaches.whole(lease, now)
        return replace(whole, accumulated=lease.accumulated + now - lease.active_since, active_since=None)

    def count_anew(self, before: Lease, after: Lease, now: int) -> Lease:
        """A running lease whose reservation begins now because its VMs changed: so does what is counted of its run."""
        if before.active_since is None or after.holdings[0].run_start == before.holdings[0].run_start:
            return after
        self.recorder.occupied(before, "run", before.active_since, now, before.holdings[0].assignment)
        accumulated = after.accumulated + now - before.active_since
        return self.put(replace(after, accumulated=accumulated, active_since=now))

    def begin(
        self,
        kind: OperationKind,
        lease: Lease,
        due: int,
        now: int,
        migration: MigrationRound | None = None,
    ) -> None:
        """Have the cloud carry out an operation on the VMs of a lease."""
        assignment = lease.holdings[0].assignment
        without = self.without.pop(lease.lease_id, frozenset()) & self.occupied.keys() & set(assignment)
        if kind is not OperationKind.START:
            without = frozenset()
        elif without:
            self.without[lease.lease_id] = without
        due = self.lateness.due(kind, lease, due, now)
        images = self.planner.plan.images
        if images is not None and kind is OperationKind.START:
            self.recorder.count("reused_images", images.reused.get(lease.lease_id, 0))
            self.recorder.count("shared_images", images.shared.get(lease.lease_id, 0))
        operation = Operation(kind, lease.lease_id, assignment, now, due, migration, lease.request.software, without)
        self.operations[lease.lease_id] = operation
        self.cloud.begin(operation)
        overdue = next_due(lease, in_operation=True)
        if overdue is not None:
            self.agenda.push(lease, overdue)

    def account(self, operation: Operation, lease: Lease, now: int) -> None:
        """Count an operation that ends now, be it that it is done, has failed or is broken off."""
        phase = _PHASES.get(operation.kind)
        if phase is not None:
            self.recorder.occupied(lease, phase, operation.begun, now, operation.assignment)

    def finish(self, lease: Lease, state: LeaseState, now: int, reason: str = "") -> Lease:
        """Bring a lease to its end: it holds nothing any more and leaves the plan.

        :return: its last value
        """
        if state is LeaseState.FAILED:
            lease = self.breaches.failed(lease, now)
        over = self.breaches.whole(lease, now).to(state, reason=reason)
        final = replace(over, holdings=(), ended=now, active_since=None, saved_on=None, offered_until=None)
        broken_off = self.operations.pop(lease.lease_id, None)
        if broken_off is not None:
            self.account(broken_off, lease, now)
        self.running.discard(lease.lease_id)
        self.failed_boots.pop(lease.lease_id, None)
        self.without.pop(lease.lease_id, None)
        self.put(final)
        self.publish(now)
        self.planner.plan.remove(lease.lease_id)
        return final

    def restore(self, leases: Iterable[Lease], operations: Iterable[Operation], now: int) -> None:
        """Take over live leases and what the cloud is doing for them; nothing is stored and nothing is commanded."""
        plan = self.planner.plan
        plan.pass_to(now)
        live = sorted(leases, key=lambda lease: lease.sequence)
        plan.put_all(live)
        plan.take_changes()
        if plan.images is None:
            # What waited for an image that nobody brings any more just starts; the next step stores that.
            for lease in live:
                if lease.state in _WAIT_FOR_IMAGES:
                    plan.put(lease.to(LeaseState.READY))
        self.operations.update(
            (operation.lease_id, operation)
            for operation in operations
            if operation.kind not in UNAWAITED and operation.lease_id in plan.leases
        )
        for operation in self.operations.values():
            if operation.without:
                self.without[operation.lease_id] = operation.without
        for lease in plan.leases.values():
            if lease.active_since is not None:
                self.running.add(lease.lease_id)
            self.note(lease, now)


def _boots(lease: Lease, operation: Operation) -> bool:
    """Whether the boot that is going on still serves the lease's plan."""
    if lease.state is not LeaseState.READY or not lease.holdings:
        return False
    holding = lease.holdings[0]
    return holding.assignment == operation.assignment and holding.start <= operation.begun


def _runs_elsewhere(before: Lease, after: Lease) -> bool:
    """Whether a lease runs on and has other hosts."""
    if before.active_since is None or after.active_since is None:
        return False
    return before.holdings[0].assignment != after.holdings[0].assignment


def _left_behind(before: Lease, after: Lease) -> bool:
    """Whether VMs that were booted ahead are of no use any more; an end sees to them itself."""
    if not before.is_prepared or after.is_final or after.state is LeaseState.ACTIVE:
        return False
    return not after.is_prepared or after.holdings[0].assignment != before.holdings[0].assignment
