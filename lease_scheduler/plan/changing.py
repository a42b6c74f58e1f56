"""New terms or other hosts for a lease that has a place: plan anew, then swap."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from lease_scheduler.model.holding import Closing, Holding
from lease_scheduler.model.lease import Lease, LeaseKind, LeaseRequest
from lease_scheduler.model.states import SUSPENDED_STATES, LeaseState
from lease_scheduler.plan.deadline import plan_deadline, requested_start
from lease_scheduler.plan.displacing import make_room
from lease_scheduler.plan.earliest_fit import place_soonest
from lease_scheduler.plan.exact_placement import hosts_with_room, place_exactly
from lease_scheduler.plan.largest_fit import with_counts
from lease_scheduler.plan.phases import cut_by_suspension
from lease_scheduler.plan.plan import NotPlannableError
from lease_scheduler.plan.planner import Planner
from lease_scheduler.plan.present_hosts import PresentHosts
from lease_scheduler.plan.remaining_work import plan_again, plan_rest, with_place


@dataclass(frozen=True)
class Change:
    """What became of a lease whose terms or hosts changed.

    :ivar before: its value before
    :ivar after: its value now; final if the change ended it
    :ivar stays: for every VM of the lease as it is now the index that it had before, none if it is new
    """

    before: Lease
    after: Lease
    stays: tuple[int | None, ...]

    @property
    def removed(self) -> tuple[int, ...]:
        """Indices before the change of the VMs that are gone."""
        staying = set(self.stays)
        return tuple(index for index in range(self.before.request.node_count) if index not in staying)

    @property
    def added(self) -> tuple[int, ...]:
        """Indices after the change of the VMs that are new."""
        return tuple(index for index, old in enumerate(self.stays) if old is None)

    @property
    def moved(self) -> tuple[int, ...]:
        """Indices after the change of the VMs that stay but have another host; none if it had or has no hosts."""
        if not self.before.holdings or not self.after.holdings:
            return ()
        old_hosts, new_hosts = self.before.holdings[0].assignment, self.after.holdings[0].assignment
        return tuple(
            index for index, old in enumerate(self.stays) if old is not None and old_hosts[old] != new_hosts[index]
        )


def staying(old: LeaseRequest, new: LeaseRequest, give_up: Iterable[int] = ()) -> tuple[int | None, ...]:
    """For every VM of new terms its index in the old ones, none if it is new.

    A node set continues the one of the same position. Where there are fewer VMs, those to give up go first and then the
    last ones.

    :param give_up: indices of VMs in the old terms
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
    """The hosts that the VMs of new terms have already, those that are to be left excepted."""
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
    """The place of a lease of which nothing has begun, by new terms.

    :param present: hosts that its VMs keep where these are free
    :param least: for each node set the fewest VMs that will do, if not all
    :return: the lease's new value, which is in the plan
    :raises NotPlannableError: there is no place; the plan is as it was
    """
    plan = planner.plan
    with plan.tentative():
        waiting = LeaseState.SUSPENDED_PENDING if lease.state in SUSPENDED_STATES else LeaseState.PENDING
        loose = lease if lease.state is waiting else lease.to(waiting)
        loose = plan.put(replace(loose, request=terms, holdings=()))
        if terms.kind is LeaseKind.BEST_EFFORT:
            holding = place_soonest(planner.context, loose, now, may_wait=True)
            if holding is None:
                raise NotPlannableError(f"no place for lease {lease.lease_id}")
            return plan.put(with_place(loose, holding))
        if terms.kind is LeaseKind.DEADLINE:
            return _deadline_anew(planner, lease, loose, present, now, least)
        start, run_end = _interval(lease, terms, now)
        if run_end <= start:
            raise NotPlannableError(f"lease {lease.lease_id}: it would be over before it could begin")
        asked = replace(loose, request=replace(terms, duration=run_end - start))
        if least is None:
            placed = planner.place(asked, now, start=start, present=present)
        else:
            placed = planner.place_most(asked, least, now, start=start, present=present)
        if placed.request.start != asked.request.start:
            # It waits until others are suspended.
            terms = replace(terms, start=placed.request.start)
        counts = tuple(node_set.count for node_set in placed.request.nodes)
        return plan.put(replace(placed, request=with_counts(terms, counts)))


def _interval(lease: Lease, terms: LeaseRequest, now: int) -> tuple[int, int]:
    """When the run of a reservation or immediate lease that has not begun is to begin and to be over.

    A start that has passed though nothing has begun, as of a reservation whose hosts are late, is where it was planned.
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
    """The place of a lease that runs, or is about to, by new terms or on other hosts, from now on.

    A run that gets longer on the same hosts makes room behind its present end only. A best-effort or deadline lease
    whose hosts are not free for longer is suspended at its present end and runs the rest later.

    :param present: hosts that VMs have and cannot leave; none for those that need another one
    :return: the lease's new value, which is in the plan; if VMs came, went or moved, its reservation begins now
    :raises NotPlannableError: there is no place; the plan is as it was
    """
    plan = planner.plan
    first = lease.holdings[0]
    hosts = tuple(host for set_hosts in present.hosts for host in set_hosts)
    same_vms = hosts == first.assignment and terms.nodes == lease.request.nodes
    with plan.tentative():
        plan.put(replace(lease, holdings=()))
        loose = replace(lease, request=terms, holdings=())
        if same_vms:
            assignment = first.assignment
            wanted = _longer_or_shorter(planner, lease, terms, first, now)
            if wanted.end > first.end and not _extended(planner, terms, present, first.end, wanted.end, now):
                wanted = _suspended_at_its_end(planner, lease, terms, first, now)
            placed = wanted
        else:
            wanted = _longer_or_shorter(planner, lease, terms, first, now)
            if wanted.end <= now:
                raise NotPlannableError(f"lease {lease.lease_id}: it ends now and needs no other hosts")
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
                # Saving memory takes longer or shorter with other VMs side by side.
                buffer = planner.options.suspend_buffer
                placed = cut_by_suspension(planner.context, terms, placed, placed.end + buffer)
                if placed.run_end <= now:
                    raise NotPlannableError(f"lease {lease.lease_id}: its memory could not be saved in time")
        value = plan.put(replace(loose, holdings=(placed,)))
        if terms.kind is LeaseKind.DEADLINE:
            return _with_rest(planner, value, placed, same_vms, now)
        return value


def _longer_or_shorter(planner: Planner, lease: Lease, terms: LeaseRequest, first: Holding, now: int) -> Holding:
    """The present run with the end that new terms give it."""
    shutdown = planner.context.suspension.shutdown_time(terms)
    if first.closing is Closing.SHUTDOWN:
        run_end = first.run_end + terms.duration - lease.request.duration
        return replace(first, run_end=run_end, end=run_end + shutdown)
    # Its hosts are promised to somebody else from its end on; perhaps the work is over before that now.
    since = first.run_start if lease.active_since is None else lease.active_since
    done = since + terms.duration - lease.accumulated
    if done <= first.run_end and done + shutdown <= first.end:
        return replace(first, run_end=done, end=done + shutdown, closing=Closing.SHUTDOWN)
    return first


def _extended(planner: Planner, terms: LeaseRequest, present: PresentHosts, start: int, end: int, now: int) -> bool:
    """Make room on the present hosts behind the present end; false if promises are in the way."""
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
    fixed = terms.kind in (LeaseKind.RESERVATION, LeaseKind.IMMEDIATE)
    if not fixed and context.suspension.may_be_planned_in_parts(terms):
        cut = cut_by_suspension(context, terms, first, first.end)
        if cut.run_end > max(now, cut.run_start):
            return cut
    raise NotPlannableError(f"lease {lease.lease_id}: its hosts are promised to others when it was to end")


def _with_rest(planner: Planner, lease: Lease, placed: Holding, same_vms: bool, now: int) -> Lease:
    """A running deadline lease with what is left of it planned, all by its deadline."""
    deadline = lease.request.deadline
    assert deadline is not None
    if placed.closing is Closing.SHUTDOWN:
        if placed.run_end > deadline:
            raise NotPlannableError(f"lease {lease.lease_id}: it would run past its deadline")
        return lease
    if same_vms or lease.active_since is None:
        return plan_rest(planner.context, lease, now)
    # Its reservation counts from now on, and so does what is left.
    ran = now - lease.active_since
    counted = planner.plan.put(replace(lease, accumulated=lease.accumulated + ran))
    planned = plan_rest(planner.context, counted, now)
    return planner.plan.put(replace(planned, accumulated=lease.accumulated))


def end_of_work(lease: Lease, terms: LeaseRequest) -> int | None:
    """When a lease that runs, or is about to, would have what new terms promise; none if that is not up to this run."""
    if not lease.holdings:
        return None
    first = lease.holdings[0]
    if lease.kind in (LeaseKind.RESERVATION, LeaseKind.IMMEDIATE):
        return first.run_end + terms.duration - lease.request.duration
    since = first.run_start if lease.active_since is None else lease.active_since
    return since + terms.duration - lease.accumulated
