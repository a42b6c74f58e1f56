"""The state and the options that the parts of the engine share."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field, replace

from lease_scheduler.engine.agenda import Agenda, Due, next_due
from lease_scheduler.engine.breaches import Breaches
from lease_scheduler.engine.change_effects import boots, left_behind, runs_elsewhere, shares_otherwise
from lease_scheduler.engine.interfaces import UNAWAITED, Cloud, Operation, OperationKind, Recorder, Store
from lease_scheduler.engine.known_powers import KnownPowers
from lease_scheduler.engine.lateness import Lateness
from lease_scheduler.engine.options import EngineOptions
from lease_scheduler.engine.outcomes import Outcomes
from lease_scheduler.engine.runs import Runs
from lease_scheduler.engine.set_back import begun_by
from lease_scheduler.model.approval import Approval
from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.model.holding import Closing, MigrationRound
from lease_scheduler.model.kinds import PreemptionMode
from lease_scheduler.model.lease import Lease
from lease_scheduler.model.states import LeaseState
from lease_scheduler.plan.changing.outages import block, unblock
from lease_scheduler.plan.changing.sleepers import closed
from lease_scheduler.plan.planner import Planner
from lease_scheduler.policy.admission.site_view import SiteView
from lease_scheduler.policy.policy_set import PolicySet

#: Seconds after which hosts that were not free for a preparation are checked again.
PREPARATION_INTERVAL = 5


_WAIT_FOR_IMAGES = (LeaseState.SCHEDULED, LeaseState.PREPARING)

#: Operations during which a lease occupies its hosts, and the names of these phases. A start is not among them: the
#: lease cannot use its hosts until it is over.
_PHASES = {
    OperationKind.RESUME: "resume",
    OperationKind.SUSPEND: "suspend",
    OperationKind.STOP: "shutdown",
}


@dataclass
class EngineState:
    """The live state of an engine.

    :ivar planner: plans the leases; has the plan
    :ivar policies: the present policies, including those of the planner
    :ivar cloud: carries out operations
    :ivar store: keeps the values of leases
    :ivar recorder: records what happens
    :ivar options: options of the engine
    :ivar breaches: records breaches
    :ivar outcomes: tells policies the outcomes of leases
    :ivar agenda: instants at which something is due for a lease; entries may be stale
    :ivar preparations: instants at which nodes may be booted ahead; entries may be stale
    :ivar runs: records of live leases
    :ivar lateness: lateness of operations, and the buffers that follow from it
    :ivar closed_hosts: numbers of hosts that accept nothing new, but on which leases continue to run
    :ivar occupied: number of a host with servers that do not give way -> instant at which it is checked again; nothing
        is planned there until then
    :ivar powers: power of the hosts that have ever been told to sleep
    :ivar follow: called with each stored change of a lease: (value before or None, value after, instant)
    """

    planner: Planner
    policies: PolicySet
    cloud: Cloud
    store: Store
    recorder: Recorder
    options: EngineOptions
    outcomes: Outcomes
    agenda: Agenda = field(init=False, default_factory=Agenda)
    preparations: Agenda = field(init=False, default_factory=Agenda)
    runs: Runs = field(init=False, default_factory=Runs)
    breaches: Breaches = field(init=False)
    lateness: Lateness = field(init=False)
    closed_hosts: set[int] = field(init=False, default_factory=set)
    occupied: dict[int, int] = field(init=False, default_factory=dict)
    powers: KnownPowers = field(init=False, default_factory=KnownPowers)
    follow: Callable[[Lease | None, Lease, int], None] | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        self.breaches = Breaches(self.recorder, lambda: self.policies.penalty, self.options.breach_tolerance)
        self.lateness = Lateness(self.planner, self.options.operation_quantile)

    @property
    def preparation_time(self) -> int:
        """Seconds before the start of a lease at which its nodes are booted, if possible."""
        return max(self.options.preparation_time, self.lateness.buffer(OperationKind.START))

    def completed(self, operation: Operation, lease: Lease, now: int) -> None:
        """Learn from the duration of a completed operation."""
        if self.lateness.completed(operation, lease, now):
            # The buffers have changed, and with them the instants at which nodes may be booted ahead.
            for each in self.planner.plan.leases.values():
                if self.waits_for_preparation(each):
                    self.preparations.push(each, (self.next_preparation(each, now), Due.PREPARE))

    def earliest(self, now: int) -> int:
        """Return the earliest start of leases that are planned now without a requested start."""
        return now + self.options.planning_lead

    def use_freed(self, nodes: int, now: int, window_end: int) -> int:
        """Replan leases that can profit from capacity that became free in ``[now, window_end)``.

        :param nodes: number of nodes that became free
        :return: number of leases that were replanned
        """
        with self.only_awake(now) if self.powers else nullcontext():
            return self.planner.use_freed_capacity(nodes, now, window_end, earliest=self.earliest(now))

    @contextmanager
    def only_awake(self, now: int) -> Iterator[None]:
        """Plan nothing on sleeping hosts within the block, if the power policy decides when hosts wake."""
        if not self.powers or not self.policies.power.manages:
            yield
            return
        with closed(self.planner.plan, self.powers.off_hosts, now):
            yield

    @property
    def not_awake(self) -> frozenset[int]:
        """Hosts that sleep, are falling asleep or waking, or have not woken in time."""
        return frozenset(self.powers.not_awake)

    @property
    def dead_hosts(self) -> frozenset[int]:
        """Hosts that are out of service, so that nothing runs on them."""
        return frozenset(self.planner.plan.outages) - self.closed_hosts - self.occupied.keys()

    def missing_hosts(self, lease: Lease) -> frozenset[int]:
        """Return the hosts that a running lease cannot use: dead ones, and those that it runs without."""
        return self.dead_hosts | self.runs[lease.lease_id].without

    def occupy(self, host: int, now: int, until: int) -> None:
        """Plan nothing new on a host until an instant. Leases already planned there stay."""
        plan = self.planner.plan
        if host in plan.outages and host not in self.occupied:
            return
        self.occupied[host] = until
        block(plan, host, now, until)

    @property
    def stuck_hosts(self) -> frozenset[int]:
        """Hosts that are occupied by leases that cannot be suspended."""
        for lease_id in list(self.runs.stuck):
            lease = self.lease(lease_id)
            if lease is None or lease.state is not LeaseState.SUSPENDING:
                self.runs.loosen(lease_id)
        return self.runs.stuck_hosts()

    def vacate(self, host: int) -> None:
        """Allow planning on a host that was occupied."""
        if self.occupied.pop(host, None) is not None:
            unblock(self.planner.plan, host)

    def lease(self, lease_id: str | None) -> Lease | None:
        """Return the live lease with this id, or None."""
        return None if lease_id is None else self.planner.plan.leases.get(lease_id)

    def live(self, lease_id: str) -> Lease:
        """Return the live lease with this id.

        :raises InvalidValueError: there is no such live lease
        """
        lease = self.lease(lease_id)
        if lease is None:
            raise InvalidValueError("lease_id", f"there is no live lease {lease_id}")
        return lease

    def view(self, now: int) -> SiteView:
        """Return the input of admission policies."""
        return SiteView(self.planner.plan, now)

    def put(self, lease: Lease) -> Lease:
        """Put a new value of a lease into the plan."""
        return self.planner.plan.put(lease)

    def publish(self, now: int) -> int:
        """Store all leases that changed, and put them on the agenda.

        The servers of running leases that the planner sent back to the queue are destroyed. Running leases that got
        other hosts are moved by the cloud.

        :return: number of leases that changed
        """
        changes = [*self.planner.plan.take_changes()]
        for number, (before, lease) in enumerate(changes):
            if lease.grant.assured is not None:
                if lease.started is not None and (before is None or before.started is None):
                    self.recorder.count("promised_leases")
                broken = self.breaches.cut_short(lease, now)
                if broken is not lease:
                    self.recorder.count("broken_promises")
                    lease = self.put(broken)
                    changes[number] = before, lease
            lease_id = lease.lease_id
            run = self.runs.get(lease_id) or self.runs.add(lease_id)
            operation = run.operation
            if lease.active_since is None and run.is_counted:
                assert before is not None
                self._destroy(before, now)
            elif operation is not None and operation.kind is OperationKind.START and not boots(lease, operation):
                self.runs.end(lease_id)
                self.cloud.discard(lease_id, now)
            elif operation is None and before is not None and left_behind(before, lease):
                self.cloud.discard(lease_id, now)
            elif operation is None and before is not None and runs_elsewhere(before, lease):
                hosts = lease.holdings[0].assignment
                self.cloud.begin(Operation(OperationKind.ADJUST, lease_id, hosts, now, now))
            if lease.request.min_yield is not None:
                self.runs.fluid[lease_id] = None
            if not shares_otherwise(before, lease):
                self.note(lease, now)
            self.store.save(lease)
            if self.follow is not None:
                self.follow(before, lease, now)
            if self.may_evade(lease):
                self.runs.preempted.append(lease_id)
        if changes:
            self.outcomes.tell(changes, now)
        return len(changes)

    def may_evade(self, lease: Lease) -> bool:
        """Return whether a lease runs, must leave its hosts before it is done, and may move while it runs."""
        return (
            lease.request.preemption_mode is PreemptionMode.MIGRATE
            and lease.active_since is not None
            and lease.lease_id not in self.runs.operating
            and lease.holdings[0].closing is not Closing.SHUTDOWN
        )

    @property
    def waits_for_images(self) -> bool:
        """Whether leases start only when their images have arrived."""
        return self.planner.ahead is None

    def is_ready(self, lease: Lease) -> bool:
        """Return whether a lease has a place and need not wait for images."""
        return lease.state is LeaseState.READY or (lease.state is LeaseState.PREPARING and not self.waits_for_images)

    def waits_for_preparation(self, lease: Lease) -> bool:
        """Return whether the nodes of a lease may be booted ahead of its start, and have not been."""
        return (
            self.preparation_time > 0
            and lease.kind.is_prepared
            and self.is_ready(lease)
            and not lease.is_offered
            and bool(lease.holdings)
            and bool(lease.holdings[0].assignment)
            and not lease.is_prepared
            and lease.lease_id not in self.runs.operating
        )

    def note(self, lease: Lease, now: int) -> None:
        """Put a lease on the agenda, and on that of preparations, with the instants at which something is due."""
        due = self.next_due(lease)
        if due is not None:
            self.agenda.push(lease, due)
        if self.waits_for_preparation(lease):
            self.preparations.push(lease, (self.next_preparation(lease, now), Due.PREPARE))

    def next_due(self, lease: Lease) -> tuple[int, Due] | None:
        """Return the instant at which something is due for a lease, and what, or None; see ``agenda.next_due``."""
        in_operation = lease.lease_id in self.runs.operating
        return next_due(lease, in_operation=in_operation, waits_for_images=self.waits_for_images)

    def next_preparation(self, lease: Lease, now: int) -> int:
        """Return the next instant after now at which to check whether the nodes of a lease can be booted ahead.

        The instants depend only on the lease, so an engine that takes over checks at the same ones.
        """
        first = lease.holdings[0].run_start - self.preparation_time
        return first if first > now else first + ((now - first) // PREPARATION_INTERVAL + 1) * PREPARATION_INTERVAL

    def _destroy(self, before: Lease, now: int) -> None:
        assert before.active_since is not None
        self.runs[before.lease_id].is_counted = False
        self.recorder.occupied(before, "run", before.active_since, now, before.holdings[0].assignment)
        self.recorder.count("preemptions_with_loss")
        self.cloud.discard(before.lease_id, now)

    def stop_counting(self, lease: Lease, now: int) -> Lease:
        """Return a lease whose run ends now, after this run was accounted for. The plan does not change."""
        assert lease.active_since is not None
        self.runs[lease.lease_id].is_counted = False
        self.recorder.occupied(lease, "run", lease.active_since, now, lease.holdings[0].assignment)
        whole = self.breaches.whole(lease, now)
        accumulated = lease.accumulated + now - lease.active_since
        progress = None if lease.progress is None else lease.progress.at_yield(0, now)
        return replace(whole, accumulated=accumulated, active_since=None, progress=progress)

    def count_anew(self, before: Lease, after: Lease, now: int) -> Lease:
        """Return a running lease with a holding that starts now, after its run so far was accounted for."""
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
        """Have the cloud carry out an operation of a lease."""
        assignment = lease.holdings[0].assignment
        run = self.runs[lease.lease_id]
        still_occupied = run.without & self.occupied.keys() & set(assignment)
        run.without = still_occupied if kind is OperationKind.START else frozenset()
        due = self.lateness.due(kind, lease, due, now)
        images = self.planner.plan.images
        if images is not None and kind is OperationKind.START:
            self.recorder.count("reused_images", images.reused.get(lease.lease_id, 0))
            self.recorder.count("shared_images", images.shared.get(lease.lease_id, 0))
        image = lease.request.software
        operation = Operation(kind, lease.lease_id, assignment, now, due, migration, image, run.without)
        self.runs.begin(operation)
        self.cloud.begin(operation)
        overdue = next_due(lease, in_operation=True)
        if overdue is not None:
            self.agenda.push(lease, overdue)

    def account(self, operation: Operation, lease: Lease, now: int) -> None:
        """Record the use of hosts by an operation that completes, fails or is aborted now."""
        phase = _PHASES.get(operation.kind)
        if phase is not None:
            self.recorder.occupied(lease, phase, operation.begun, now, operation.assignment)

    def finish(self, lease: Lease, state: LeaseState, now: int, reason: str = "") -> Lease:
        """End a lease: it holds nothing and leaves the plan.

        :return: its final value
        """
        if state is LeaseState.FAILED:
            lease = self.breaches.failed(lease, now)
        over = self.breaches.whole(lease, now).to(state, reason=reason)
        progress = None if lease.progress is None else lease.progress.at_yield(0, now)
        final = replace(
            over,
            holdings=(),
            ended=now,
            active_since=None,
            saved_on=None,
            offered_until=None,
            progress=progress,
            approval=Approval.WITHDRAWN if lease.approval is Approval.AWAITING else lease.approval,
        )
        aborted = self.runs.end(lease.lease_id)
        if aborted is not None:
            self.account(aborted, lease, now)
        # Otherwise, publishing would mistake the end for a preemption.
        self.runs[lease.lease_id].is_counted = False
        self.put(final)
        self.publish(now)
        self.planner.plan.remove(lease.lease_id)
        self.runs.drop(lease.lease_id)
        return final

    def restore(self, leases: Iterable[Lease], operations: Iterable[Operation], now: int) -> None:
        """Take over live leases and operations in progress. Nothing is stored, and no command is given."""
        plan = self.planner.plan
        plan.pass_to(now)
        live = sorted(leases, key=lambda lease: lease.sequence)
        plan.put_all(live)
        plan.take_changes()
        if plan.images is None:
            # Image transfers may be off since the restart: waiting leases are then ready. The next step stores this.
            for lease in live:
                if lease.state in _WAIT_FOR_IMAGES:
                    plan.put(lease.to(LeaseState.READY))
        for lease in live:
            self.runs.add(lease.lease_id)
        for operation in operations:
            if operation.kind not in UNAWAITED and operation.lease_id in plan.leases:
                self.runs.begin(operation)
        for lease in live:
            known = begun_by(lease, self.runs[lease.lease_id].operation, now)
            if known is not lease:
                # The next step stores this.
                plan.put(known)
        for operation in self.runs.operations():
            self.runs[operation.lease_id].without = operation.without
        for lease in plan.leases.values():
            if lease.active_since is not None:
                self.runs[lease.lease_id].is_counted = True
            if lease.request.min_yield is not None:
                self.runs.fluid[lease.lease_id] = None
            self.note(lease, now)
