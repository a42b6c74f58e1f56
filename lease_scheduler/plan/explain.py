"""Why a lease is refused, and what would fit instead."""

from __future__ import annotations

from dataclasses import dataclass, replace

from lease_scheduler.model.lease import LeaseKind, LeaseRequest, NodeSet
from lease_scheduler.model.resources import HOST_SHARE, WHOLE_HOST
from lease_scheduler.plan.availability import Availability, IntArray
from lease_scheduler.plan.context import PlanningContext
from lease_scheduler.plan.exact import place_exactly
from lease_scheduler.plan.fitting import Anywhere
from lease_scheduler.plan.interfaces import HostsAt
from lease_scheduler.plan.mapper import GREEDY, map_vms
from lease_scheduler.plan.plan import NotPlannableError

#: How many hosts a refusal names at most.
_HOSTS_NAMED = 10


@dataclass(frozen=True)
class Alternative:
    """Terms that could be granted at present.

    :ivar change: which term differs: ``start``, ``nodes`` or ``duration``
    :ivar start: instant of the start
    :ivar nodes: number of VMs
    :ivar duration: seconds
    """

    change: str
    start: int
    nodes: int
    duration: int


@dataclass(frozen=True)
class Refusal:
    """Why there is no place for a lease.

    :ivar constraint: what stands in the way: ``past``, ``size``, ``traits``, ``capacity``, ``deadline``; a ``policy``;
        its ``price``; its disk ``image``, which comes too late; leases that cannot be moved (``in-the-way``); the lease
        itself, with which something is going on (``busy``)
    :ivar message: the same for people, with the alternatives; spans of time instead of instants, which mean little to
        people as numbers
    :ivar hosts: names of hosts that could hold a VM of the lease but are taken in its interval, some if they are many
    :ivar alternatives: the nearest terms that fit; none if nothing does
    :ivar leases: ids of the leases that stand in the way, if they are what the constraint is
    """

    constraint: str
    message: str
    hosts: tuple[str, ...] = ()
    alternatives: tuple[Alternative, ...] = ()
    leases: tuple[str, ...] = ()


class NoPlaceError(NotPlannableError):
    """There is no place for a lease, and it is known why; the plan is as it was.

    :param refusal: why, and what would fit
    """

    def __init__(self, refusal: Refusal) -> None:
        super().__init__(refusal.message)
        self.refusal = refusal


def too_large(context: PlanningContext, request: LeaseRequest) -> str | None:
    """Why not even the empty site could hold the lease; none if it could."""
    demands = context.plan.demands(request)
    for node_set, demand in zip(request.nodes, demands, strict=True):
        if demand.most_per_host == 0:
            traits = f" with {', '.join(sorted(node_set.required_traits))}" if node_set.required_traits else ""
            named = "" if node_set.hosts is None else f" of the {len(node_set.hosts)} that may be used"
            return f"nodes: no host{named}{traits} is large enough for {_wanted(node_set)}"
    # Most requests are far smaller than the site; only the others are worth the mapping.
    if len(demands) == 1 and demands[0].eligible is None and request.node_count <= len(context.plan.site):
        return None
    empty = Availability(context.plan.availability.capacity)
    if map_vms(empty, request, demands, 0, 1, _AnyOrder(), GREEDY) is None:
        return f"nodes: {request.node_count} nodes are more than the whole site can hold"
    return None


def explain(context: PlanningContext, request: LeaseRequest, now: int) -> Refusal:
    """Why a reservation, immediate or deadline lease has no place at present, and the nearest terms that have one.

    The plan is not changed. Alternatives do without preemption, so that they hold for whoever asks.
    """
    size = too_large(context, request)
    if size is not None:
        return Refusal("traits" if " with " in size else "size", size)
    start = now if request.start is None else request.start
    if start < now and request.kind is LeaseKind.RESERVATION:
        later = _later(context, request, now)
        return Refusal("past", _message(f"start: has passed {now - start} s ago", later, start), (), later)
    start = max(start, now)
    alternatives = (
        *_later(context, request, start),
        *_fewer(context, request, start, now),
        *_shorter(context, request, start),
    )
    if request.kind is LeaseKind.DEADLINE:
        problem = f"deadline: no place for {request.node_count} nodes for {request.duration} s from start to deadline"
        return Refusal(
            "deadline", _message(problem, alternatives, start), _taken(context, request, start), alternatives
        )
    taken = _taken(context, request, start)
    problem = (
        f"nodes: no place for {request.node_count} nodes for {request.duration} s at that time; "
        f"taken: {', '.join(taken) or 'none'}"
    )
    return Refusal("capacity", _message(problem, alternatives, start), taken, alternatives)


def _wanted(node_set: NodeSet) -> str:
    share = node_set.resources.get(HOST_SHARE)
    if share == WHOLE_HOST:
        return "a node that needs a host for itself"
    return f"a node of {node_set.resources.replaced(**{HOST_SHARE: 0})}"


class _AnyOrder:
    """Host selection for questions whose answer does not depend on it."""

    def rank(self, hosts: HostsAt, lease: LeaseRequest) -> IntArray:
        return hosts.numbers


def _message(problem: str, alternatives: tuple[Alternative, ...], start: int) -> str:
    if not alternatives:
        return f"{problem}; nothing similar fits either"
    return f"{problem}; would fit: " + ", ".join(_in_words(alternative, start) for alternative in alternatives)


def _in_words(alternative: Alternative, start: int) -> str:
    if alternative.change == "start":
        return f"the same {alternative.start - start} s later"
    return f"{alternative.nodes} nodes" if alternative.change == "nodes" else f"{alternative.duration} s"


def _taken(context: PlanningContext, request: LeaseRequest, start: int) -> tuple[str, ...]:
    """Hosts large enough for a VM of the lease that have no room for it throughout its interval."""
    plan = context.plan
    free = plan.availability.free(start, start + request.duration)
    names = []
    for host in range(len(plan.site)):
        for demand in plan.demands(request):
            able = demand.eligible is None or demand.eligible[host]
            if able and (free[:, host] < demand.amounts).any():
                names.append(plan.site.hosts[host].name)
                break
        if len(names) == _HOSTS_NAMED:
            break
    return tuple(names)


def _length(context: PlanningContext, request: LeaseRequest) -> int:
    return request.duration + context.suspension.shutdown_time(request)


def _later(context: PlanningContext, request: LeaseRequest, start: int) -> tuple[Alternative, ...]:
    fitting = Anywhere(context, request)
    length = _length(context, request)
    for instant in fitting.starts(start, length):
        if fitting.fit(int(instant), length, length) is not None:
            return (Alternative("start", int(instant), request.node_count, request.duration),)
    return ()


def _fewer(context: PlanningContext, request: LeaseRequest, start: int, now: int) -> tuple[Alternative, ...]:
    """The most VMs that fit, if the lease has one set of equal ones; by bisection."""
    if len(request.nodes) != 1:
        return ()
    node_set = request.nodes[0]
    fits, fails = 0, node_set.count
    while fails - fits > 1:
        middle = (fits + fails) // 2
        smaller = replace(request, nodes=(replace(node_set, count=middle),))
        try:
            place_exactly(context, smaller, start, now, may_preempt=False)
        except NotPlannableError:
            fails = middle
        else:
            fits = middle
    return (Alternative("nodes", start, fits, request.duration),) if fits else ()


def _shorter(context: PlanningContext, request: LeaseRequest, start: int) -> tuple[Alternative, ...]:
    found = Anywhere(context, request).fit(start, 1, _length(context, request))
    if found is None:
        return ()
    duration = found[1] - start - context.suspension.shutdown_time(request)
    if not 0 < duration < request.duration:
        return ()
    return (Alternative("duration", start, request.node_count, duration),)
