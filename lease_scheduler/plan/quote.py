"""What would become of a request: a dry run."""

from __future__ import annotations

from dataclasses import dataclass, replace

from lease_scheduler.model.lease import Lease, LeaseKind, LeaseRequest
from lease_scheduler.model.states import LeaseState
from lease_scheduler.plan.clearing import InTheWayError
from lease_scheduler.plan.context import PlanningContext
from lease_scheduler.plan.earliest_fit import place_soonest
from lease_scheduler.plan.explain import Refusal, explain, too_large
from lease_scheduler.plan.largest_fit import most_that_fits, with_counts
from lease_scheduler.plan.overhead import suspension_hours
from lease_scheduler.plan.plan import ImageTooLateError, NotPlannableError
from lease_scheduler.plan.planner import Planner
from lease_scheduler.plan.remaining_work import with_place
from lease_scheduler.plan.trials import Counts, kinds_of, losing


@dataclass(frozen=True)
class Quote:
    """What would become of a request if it came now.

    :ivar lease: the lease as it would be, with the numbers of VMs and the reservations that it would get; none if it is
        refused. Of a best-effort lease the reservation is the earliest place at present, without regard to those who
        wait before it; it has none if there is no such place.
    :ivar preempted: ids of leases that would lose some of what they hold, in the order of submission
    :ivar preempted_kinds: how many of these there are of each kind
    :ivar moved: ids of leases that would hold as much, but elsewhere or at another time
    :ivar queue_position: of a best-effort lease, how many wait before it
    :ivar refusal: why it is refused, none if it is granted
    :ivar suspension_hours: node-hours in which others would be suspended and resumed for it
    :ivar price: what it would cost, none if it is not priced
    """

    lease: Lease | None = None
    preempted: tuple[str, ...] = ()
    preempted_kinds: Counts = ()
    moved: tuple[str, ...] = ()
    queue_position: int | None = None
    refusal: Refusal | None = None
    suspension_hours: float = 0.0
    price: float | None = None

    @property
    def granted(self) -> bool:
        """Whether there is a place."""
        return self.refusal is None


def quote(
    planner: Planner,
    request: LeaseRequest,
    sequence: int,
    now: int,
    *,
    least: tuple[int, ...] | None = None,
    earliest: int | None = None,
) -> Quote:
    """What the planner would do for a request; the plan is as it was.

    :param sequence: the position that it would have in the order of submission
    :param least: for each node set the fewest VMs that will do, if not all
    :param earliest: no best-effort lease begins before this instant, ``now`` if none is given
    """
    plan = planner.plan
    smallest = request if least is None else with_counts(request, least)
    if too_large(planner.context, smallest) is not None:
        return Quote(refusal=explain(planner, smallest, now))
    before = dict(plan.leases)
    position = plan.queue_length if request.kind is LeaseKind.BEST_EFFORT else None
    try:
        with plan.trial():
            lease = plan.put(Lease(request, sequence).to(LeaseState.PENDING))
            if request.kind is LeaseKind.BEST_EFFORT:
                if least is not None:
                    lease = plan.put(Lease(most_on_site(planner.context, request, least), sequence, lease.state))
                holding = place_soonest(planner.context, lease, now if earliest is None else earliest, may_wait=True)
                if holding is not None:
                    lease = plan.put(with_place(lease, holding))
            elif least is None:
                lease = planner.place(lease, now)
            else:
                lease = planner.place_most(lease, least, now)
            changed = [
                (old, plan.leases[lease_id])
                for lease_id, old in before.items()
                if plan.leases[lease_id].holdings != old.holdings
            ]
    except NotPlannableError as error:
        return Quote(refusal=refusal_of(planner, smallest, now, error))
    changed.sort(key=lambda values: values[0].sequence)
    victims = losing(changed)
    lost = [old.lease_id for old in victims]
    return Quote(
        lease,
        preempted=tuple(lost),
        preempted_kinds=kinds_of(victims),
        moved=tuple(old.lease_id for old, _ in changed if old.lease_id not in lost),
        queue_position=position,
        suspension_hours=suspension_hours(planner.context, changed),
    )


def more_nodes_beside(planner: Planner, lease: Lease, terms: LeaseRequest, now: int) -> str:
    """Say when a second lease could have the nodes that a running reservation does not get at once, or nothing.

    A run does not wait for others to be suspended, as a start does, so its terms stay as they are.
    """
    wanted = [
        replace(more, count=more.count - has.count)
        for more, has in zip(terms.nodes, lease.request.nodes, strict=False)
        if more.count > has.count
    ]
    left = 0 if not lease.holdings else lease.holdings[0].run_end - now
    if terms.kind is not LeaseKind.RESERVATION or not wanted or left <= 0:
        return ""
    request = replace(terms, lease_id=f"{lease.lease_id}-more", nodes=tuple(wanted), start=now, duration=left)
    found = quote(planner, request, lease.sequence, now)
    if found.lease is None:
        return ""
    wait = found.lease.holdings[0].run_start - now
    nodes = request.node_count
    return f"; a lease of its own with the {nodes} additional nodes would be granted, starting {wait} s from now"


def most_on_site(context: PlanningContext, request: LeaseRequest, least: tuple[int, ...]) -> LeaseRequest:
    """A best-effort request for as many VMs as the empty site could hold; the least of them must fit."""
    granted = most_that_fits(request, least, lambda tried: too_large(context, tried) is None)
    return request if granted is None else granted


def refusal_of(
    planner: Planner, request: LeaseRequest, now: int, error: NotPlannableError, *, may_preempt: bool = True
) -> Refusal:
    """Why there was no place, from the error that said so and the plan.

    :param may_preempt: as in ``explain``
    """
    if isinstance(error, InTheWayError):
        return Refusal("in-the-way", str(error), leases=error.leases)
    if isinstance(error, ImageTooLateError):
        return Refusal("image", str(error))
    return explain(planner, request, now, may_preempt=may_preempt)
