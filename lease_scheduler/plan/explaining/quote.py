"""Quotes: dry runs that show what would become of a request."""

from __future__ import annotations

from dataclasses import dataclass, replace

from lease_scheduler.model.durations import in_words
from lease_scheduler.model.grant import UNANSWERED, Grant
from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.lease import Lease, LeaseRequest
from lease_scheduler.model.refusals import RefusalReason
from lease_scheduler.model.states import QUEUED_STATES, LeaseState
from lease_scheduler.plan.explaining.explain import Refusal, explain, too_large
from lease_scheduler.plan.explaining.trials import Counts, kinds_of, losing
from lease_scheduler.plan.fitting.count_ranges import with_ranges
from lease_scheduler.plan.fitting.earliest_fit import place_soonest
from lease_scheduler.plan.fitting.largest_fit import with_counts
from lease_scheduler.plan.placing.clearing import InTheWayError
from lease_scheduler.plan.placing.elastic import placed_soonest
from lease_scheduler.plan.plan import ImageTooLateError, NotPlannableError
from lease_scheduler.plan.planner import Planner
from lease_scheduler.plan.preempting.overhead import suspension_hours


@dataclass(frozen=True)
class Quote:
    """What would become of a request if it were made now.

    :ivar lease: the lease with the numbers of nodes and the holdings that it would get; None if the request would be
        refused. A best-effort lease has no holding if it would wait in the queue without a place.
    :ivar preempted: ids of leases that would lose some of what they hold, in the order of submission
    :ivar preempted_kinds: number of these leases of each kind
    :ivar moved: ids of leases that would hold as much, but on other hosts or at another time
    :ivar queue_position: the place in the queue, from 1 on, of a lease that would wait there; else None
    :ivar refusal: why it would be refused; None if it would be granted
    :ivar suspension_hours: node-hours for which other leases would be suspended and resumed
    :ivar price: what the lease would cost; None if it has no price
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
        """Whether the request would be granted."""
        return self.refusal is None


def quote(
    planner: Planner,
    request: LeaseRequest,
    sequence: int,
    now: int,
    *,
    least: tuple[int, ...] | None = None,
    earliest: int | None = None,
    grant: Grant = UNANSWERED,
) -> Quote:
    """Return what the planner would do for a request. The plan does not change.

    :param sequence: the position that the lease would have in the order of submission
    :param least: for each node set, the smallest acceptable number of nodes; None means all of them
    :param earliest: a best-effort lease does not start before this instant, by default ``now``
    :param grant: what is already answered to the request
    """
    plan = planner.plan
    smallest = request if least is None else with_counts(request, least)
    if too_large(planner.context, smallest) is not None:
        return Quote(refusal=explain(planner, smallest, now))
    never = planner.never_served(smallest)
    if never is not None:
        return Quote(refusal=Refusal(RefusalReason.POLICY, never))
    position = None
    try:
        with plan.trial():
            lease = plan.put(Lease(request, sequence, grant=grant).to(LeaseState.PENDING))
            if request.kind is LeaseKind.BEST_EFFORT:
                if least is not None:
                    lease = plan.put(replace(lease, request=with_ranges(request, least)))
                lease = _queued(planner, lease, now if earliest is None else earliest)
                if not lease.holdings:
                    position = sum(each.state in QUEUED_STATES for each in plan.leases.values())
            elif least is None:
                lease = planner.place(lease, now)
            else:
                lease = planner.place_most(lease, least, now)
            changed = [
                (old, new)
                for old, new in plan.changes_in_block()
                if old is not None and old.holdings and new.holdings != old.holdings
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


def _queued(planner: Planner, lease: Lease, earliest: int) -> Lease:
    """Return what becomes of a pending lease that is queued now; it is in the plan.

    A fluid lease gets the earliest place that there is; an algorithm decides later where and when it really runs.
    """
    if lease.request.min_yield is None:
        return planner.as_queued(lease, earliest)
    holding = place_soonest(planner.context, lease, earliest, may_wait=True)
    return lease if holding is None else planner.plan.put(placed_soonest(planner.context, lease, holding, earliest))


def more_nodes_beside(planner: Planner, lease: Lease, terms: LeaseRequest, now: int) -> str:
    """Return a hint when a second lease could get the nodes that a running reservation cannot have now, or "".

    A start can wait until other leases are suspended, a running lease cannot. So a second lease may be granted although
    more nodes for the first one are refused.
    """
    if terms.kind is not LeaseKind.RESERVATION:
        return ""
    wanted = [
        replace(more, count=more.count - has.count)
        for more, has in zip(terms.nodes, lease.request.nodes, strict=False)
        if more.count > has.count
    ]
    left = 0 if not lease.holdings else lease.holdings[0].run_end - now
    if not wanted or left <= 0:
        return ""
    request = replace(terms, lease_id=f"{lease.lease_id}-more", nodes=tuple(wanted), start=now, duration=left)
    found = quote(planner, request, lease.sequence, now)
    if found.lease is None:
        return ""
    wait = found.lease.holdings[0].run_start - now
    granted = f"the {request.node_count} additional nodes would be granted, starting {in_words(wait, up=True)} from now"
    return f"; a separate lease with {granted}"


def refusal_of(
    planner: Planner, request: LeaseRequest, now: int, error: NotPlannableError, *, may_preempt: bool = True
) -> Refusal:
    """Return why there was no place, from the error and the plan.

    :param may_preempt: as in ``explain``
    """
    if isinstance(error, InTheWayError):
        return Refusal(RefusalReason.IN_THE_WAY, str(error), leases=error.leases)
    if isinstance(error, ImageTooLateError):
        return Refusal(RefusalReason.IMAGE, str(error))
    return explain(planner, request, now, may_preempt=may_preempt)
