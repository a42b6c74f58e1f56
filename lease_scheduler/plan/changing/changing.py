"""New terms or other hosts for a lease that has a place."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from lease_scheduler.model.holding import Closing, Holding
from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.lease import Lease, LeaseRequest
from lease_scheduler.model.states import SUSPENDED_STATES, LeaseState
from lease_scheduler.plan.fitting.phases import cut_by_suspension
from lease_scheduler.plan.fitting.present_hosts import PresentHosts
from lease_scheduler.plan.placing.deadline import plan_deadline, requested_start
from lease_scheduler.plan.placing.elastic import is_elastic, placed_again
from lease_scheduler.plan.placing.exact_placement import hosts_with_room, place_exactly
from lease_scheduler.plan.plan import NotPlannableError
from lease_scheduler.plan.planner import Planner
from lease_scheduler.plan.preempting.displacing import make_room
from lease_scheduler.plan.preempting.remaining_work import plan_again, plan_rest, with_place


@dataclass(frozen=True)
class Change:
    """The change of a lease's terms or hosts.

    :ivar before: the lease before the change
    :ivar after: the lease after it; in a final state if the change ended the lease
    :ivar stays: for each node after the change, its index before, or None if it is new
    """

    before: Lease
    after: Lease
    stays: tuple[int | None, ...]

    @property
    def removed(self) -> tuple[int, ...]:
        """Indices (before the change) of the nodes that were removed."""
        staying = set(self.stays)
        return tuple(index for index in range(self.before.request.node_count) if index not in staying)

    @property
    def added(self) -> tuple[int, ...]:
        """Indices (after the change) of the nodes that are new."""
        return tuple(index for index, old in enumerate(self.stays) if old is None)

    @property
    def moved(self) -> tuple[int, ...]:
        """Indices (after the change) of the nodes that stay but have another host.

        Empty if the lease has no hosts before or after the change.
        """
        if not self.before.holdings or not self.after.holdings:
            return ()
        old_hosts, new_hosts = self.before.holdings[0].assignment, self.after.holdings[0].assignment
        return tuple(
            index for index, old in enumerate(self.stays) if old is not None and old_hosts[old] != new_hosts[index]
        )


def staying(old: LeaseRequest, new: LeaseRequest, give_up: Iterable[int] = ()) -> tuple[int | None, ...]:
    """Return for each node of new terms its index in the old terms, or None if it is new.

    A node set continues the one at the same position. If it has fewer nodes, those in ``give_up`` are removed first,
    then the last ones.

    :param give_up: indices of nodes in the old terms
    """
    unwanted = set(give_up)
    stays: list[int | None] = []
    first = 0
    for position, node_set in enumerate(new.nodes):
        had = old.nodes[position].count if position < len(old.nodes) else 0
        candidates = sorted(range(first, first + had), key=lambda index: (index in unwanted, index))
        stays += sorted(candidates[: node_set.count])
        stays += [None] * max(0, node_set.count - had)
        first += had
    return tuple(stays)


def hosts_of(
    lease: Lease, terms: LeaseRequest, stays: tuple[int | None, ...], away: frozenset[int]
) -> PresentHosts | None:
    """Return the hosts that the nodes of new terms already have, without hosts that they must leave, or None.

    :param stays: as ``staying`` returns it
    :param away: hosts to leave
    """
    if not lease.holdings:
        return None
    hosts = [None if old is None else lease.holdings[0].assignment[old] for old in stays]
    return PresentHosts.of(terms, [None if host in away else host for host in hosts])


def plan_anew(
    planner: Planner,
    lease: Lease,
    terms: LeaseRequest,
    present: PresentHosts | None,
    now: int,
    least: tuple[int, ...] | None = None,
) -> Lease:
    """Give a lease that has not started a place under new terms.

    A lease that takes as many nodes as are free gets no more than its terms have, and fewer if it would start later.

    :param present: hosts that its nodes keep if these are free
    :param least: for each node set, the smallest acceptable number of nodes; None means all of them
    :return: the lease's new value, which is in the plan
    :raises NotPlannableError: there is no place; the plan is as it was
    """
    plan = planner.plan
    with plan.tentative():
        waiting = LeaseState.SUSPENDED_PENDING if lease.state in SUSPENDED_STATES else LeaseState.PENDING
        loose = lease if lease.state is waiting else lease.to(waiting)
        loose = plan.put(replace(loose, request=terms, holdings=()))
        if terms.kind is LeaseKind.BEST_EFFORT:
            placed = placed_again(planner.context, loose, now)
            if placed is None:
                raise NotPlannableError(f"no place for lease {lease.lease_id}")
            return plan.put(placed)
        if terms.kind is LeaseKind.DEADLINE:
            return _deadline_anew(planner, lease, loose, present, now, least)
        start, run_end = _interval(lease, terms, now)
        if run_end <= start:
            raise NotPlannableError(f"lease {lease.lease_id}: it would end before it could start")
        asked = replace(loose, request=replace(terms, duration=run_end - start))
        if least is None:
            placed = planner.place(asked, now, start=start, present=present)
        else:
            placed = planner.place_most(asked, least, now, start=start, present=present)
        if placed.request.start != asked.request.start:
            # The start waits until other leases are suspended.
            terms = replace(terms, start=placed.request.start)
        return plan.put(replace(placed, request=replace(terms, nodes=placed.request.nodes)))


def _interval(lease: Lease, terms: LeaseRequest, now: int) -> tuple[int, int]:
    """Return the start and end of the run of a reservation or immediate lease that has not started.

    If its start has passed and it has not started, for example because its hosts are late, its planned start counts.
    """
    planned = lease.holdings[0].run_start if lease.holdings else now
    if terms.start is None:
        start = max(now, planned)
        return start, start + terms.duration
    run_end = terms.start + terms.duration
    if terms.start >= now or terms.start != lease.request.start:
        return terms.start, run_end
    return max(now, planned), run_end


def _deadline_anew(
    planner: Planner,
    lease: Lease,
    loose: Lease,
    present: PresentHosts | None,
    now: int,
    least: tuple[int, ...] | None,
) -> Lease:
    context, plan, terms = planner.context, planner.plan, loose.request
    if loose.saved_on is not None:
        return plan_again(context, loose, requested_start(loose, now))
    if is_elastic(terms):
        return planner.place(loose, now) if least is None else planner.place_most(loose, least, now)
    old = lease.holdings[0]
    assert terms.deadline is not None
    if old.start >= requested_start(loose, now) and old.start + terms.duration <= terms.deadline:
        try:
            holding, _ = place_exactly(context, terms, old.start, now, may_preempt=False, present=present)
            return plan.put(with_place(loose, holding))
        except NotPlannableError:
            pass
    if least is not None:
        return planner.place_most(loose, least, now)
    return plan_deadline(context, loose, now, may_preempt=planner.deadline_preemption)


def reshape(
    planner: Planner,
    lease: Lease,
    terms: LeaseRequest,
    present: PresentHosts,
    now: int,
) -> Lease:
    """Change the terms or hosts of a lease that runs, or is about to, from now on.

    A run that gets longer on the same hosts preempts other leases only after its present end. If its hosts are not free
    for longer, a best-effort or deadline lease is suspended at its present end and runs the rest later.

    :param present: hosts that nodes have and cannot leave; None for nodes that need another host
    :return: the lease's new value, which is in the plan; if nodes were added, removed or moved, its holding starts now
    :raises NotPlannableError: there is no place; the plan is as it was
    """
    plan = planner.plan
    first = lease.holdings[0]
    hosts = tuple(host for set_hosts in present.hosts for host in set_hosts)
    same_vms = hosts == first.assignment and terms.nodes == lease.request.nodes
    with plan.tentative():
        plan.put(replace(lease, holdings=()))
        wanted = _longer_or_shorter(planner, lease, terms, first)
        if same_vms:
            if wanted.end > first.end and not _extended(planner, terms, present, first.end, wanted.end, now):
                wanted = _suspended_at_its_end(planner, lease, terms, first, now)
            placed = wanted
        else:
            if wanted.end <= now:
                raise NotPlannableError(f"lease {lease.lease_id}: it ends now, so its nodes cannot change")
            assignment, in_the_way = hosts_with_room(
                planner.context,
                terms,
                now,
                wanted.end,
                now,
                may_preempt=terms.kind is LeaseKind.RESERVATION,
                present=replace(present, binding=True),
            )
            make_room(planner.context, in_the_way, now, wanted.end, now)
            placed = replace(wanted, assignment=assignment, start=now, run_start=now)
            if placed.closing is Closing.SUSPEND:
                # The time to save memory depends on which nodes share a host.
                buffer = planner.options.suspend_buffer
                placed = cut_by_suspension(planner.context, terms, placed, placed.end + buffer)
                if placed.run_end <= now:
                    raise NotPlannableError(f"lease {lease.lease_id}: its memory could not be saved in time")
        value = plan.put(replace(lease, request=terms, holdings=(placed,)))
        if terms.kind is LeaseKind.DEADLINE:
            return _with_rest(planner, value, placed, same_vms, now)
        return value


def _longer_or_shorter(planner: Planner, lease: Lease, terms: LeaseRequest, first: Holding) -> Holding:
    """Return the present holding with the end that follows from new terms."""
    shutdown = planner.context.suspension.shutdown_time(terms)
    if first.closing is Closing.SHUTDOWN:
        run_end = first.run_end + terms.duration - lease.request.duration
        return replace(first, run_end=run_end, end=run_end + shutdown)
    # From the end of this holding on, its hosts are promised to others. With the new terms the work may be done before.
    since = first.run_start if lease.active_since is None else lease.active_since
    done = since + terms.duration - lease.accumulated
    if done <= first.run_end and done + shutdown <= first.end:
        return replace(first, run_end=done, end=done + shutdown, closing=Closing.SHUTDOWN)
    return first


def _extended(planner: Planner, terms: LeaseRequest, present: PresentHosts, start: int, end: int, now: int) -> bool:
    """Make room on the present hosts after the present end, and return whether that was possible."""
    try:
        _, in_the_way = hosts_with_room(
            planner.context,
            terms,
            start,
            end,
            now,
            may_preempt=terms.kind is LeaseKind.RESERVATION,
            present=replace(present, binding=True),
        )
    except NotPlannableError:
        return False
    make_room(planner.context, in_the_way, start, end, now)
    return True


def _suspended_at_its_end(planner: Planner, lease: Lease, terms: LeaseRequest, first: Holding, now: int) -> Holding:
    context = planner.context
    if not terms.kind.promises_interval and context.suspension.may_be_planned_in_parts(terms):
        cut = cut_by_suspension(context, terms, first, first.end)
        if cut.run_end > max(now, cut.run_start):
            return cut
    raise NotPlannableError(f"lease {lease.lease_id}: its hosts are promised to others from its planned end on")


def _with_rest(planner: Planner, lease: Lease, placed: Holding, same_vms: bool, now: int) -> Lease:
    """Plan the rest of a running deadline lease, so that all of it is done by its deadline, and return the lease."""
    deadline = lease.request.deadline
    assert deadline is not None
    if placed.closing is Closing.SHUTDOWN:
        if placed.run_end > deadline:
            raise NotPlannableError(f"lease {lease.lease_id}: it would run past its deadline")
        return lease
    if same_vms or lease.active_since is None:
        return plan_rest(planner.context, lease, now)
    # Its new holding starts now, so the work done so far has to be counted separately.
    ran = now - lease.active_since
    counted = planner.plan.put(replace(lease, accumulated=lease.accumulated + ran))
    planned = plan_rest(planner.context, counted, now)
    return planner.plan.put(replace(planned, accumulated=lease.accumulated))


def end_of_work(lease: Lease, terms: LeaseRequest) -> int | None:
    """Return when a lease that runs, or is about to, would have run for as long as new terms promise, or None."""
    if not lease.holdings:
        return None
    first = lease.holdings[0]
    if lease.kind.promises_interval:
        return first.run_end + terms.duration - lease.request.duration
    since = first.run_start if lease.active_since is None else lease.active_since
    return since + terms.duration - lease.accumulated
