"""Explanations of refusals: why there is no place for a lease, and which terms would fit."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from lease_scheduler.model.durations import in_words
from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.lease import LeaseRequest
from lease_scheduler.model.nodes import NodeSet
from lease_scheduler.model.refusals import RefusalReason
from lease_scheduler.model.resources import HOST_SHARE, WHOLE_HOST
from lease_scheduler.plan.capacity.availability import Availability, IntArray
from lease_scheduler.plan.capacity.demand import Demand
from lease_scheduler.plan.context import PlanningContext
from lease_scheduler.plan.explaining.advice import Advice, Alternative, nodes_in_words
from lease_scheduler.plan.explaining.awake_trial import fits_awake
from lease_scheduler.plan.explaining.obstacles import deadline_leases_in_the_way
from lease_scheduler.plan.fitting.mapper import GREEDY, map_vms
from lease_scheduler.plan.interfaces import HostsAt, HostSelection
from lease_scheduler.plan.plan import NotPlannableError
from lease_scheduler.plan.planner import Planner

#: Maximum number of hosts that a refusal names.
_HOSTS_NAMED = 3


@dataclass(frozen=True)
class Refusal:
    """Why there is no place for a lease.

    :ivar reason: the reason for programs
    :ivar message: the reason for people, with the alternatives. It gives durations, because instants as numbers mean
        little to people
    :ivar hosts: names of hosts that could hold a node of the lease but are taken in its interval; at most one more than
        the message names
    :ivar alternatives: the nearest terms that would fit; empty if none would
    :ivar leases: ids of the leases that are in the way, if the reason is ``IN_THE_WAY``
    """

    reason: RefusalReason
    message: str
    hosts: tuple[str, ...] = ()
    alternatives: tuple[Alternative, ...] = ()
    leases: tuple[str, ...] = ()

    @property
    def anonymous(self) -> str:
        """The message without the names of hosts."""
        return self.message.replace(_names(self.hosts), "", 1)


class NoPlaceError(NotPlannableError):
    """There is no place for a lease, for a known reason; the plan is as it was.

    :param refusal: the reason, and which terms would fit
    """

    def __init__(self, refusal: Refusal) -> None:
        super().__init__(refusal.message)
        self.refusal = refusal


def too_large(context: PlanningContext, request: LeaseRequest) -> str | None:
    """Return why not even the empty site could hold the lease, or None if it could."""
    found = _too_large(context, request)
    return None if found is None else found.message


def _too_large(context: PlanningContext, request: LeaseRequest) -> Refusal | None:
    demands = context.plan.demands(request)
    for node_set, demand in zip(request.nodes, demands, strict=True):
        if demand.most_per_host == 0:
            traits = f" with {', '.join(sorted(node_set.required_traits))}" if node_set.required_traits else ""
            named = "" if node_set.hosts is None else f" of the {len(node_set.hosts)} that may be used"
            message = f"nodes: no host{named}{traits} is large enough for {_wanted(node_set)}"
            if node_set.hosts is not None and not node_set.hosts:
                message = "nodes: no host has the properties that are asked for"
            return Refusal(RefusalReason.TRAITS if node_set.required_traits else RefusalReason.SIZE, message)
    # Mapping is expensive, and most requests are so small that they certainly fit.
    if len(demands) == 1 and request.node_count <= _certain_places(context, request.nodes[0], demands[0]):
        return None
    empty = Availability(context.plan.availability.capacity)
    if map_vms(empty, request, demands, 0, 1, _AnyOrder(), GREEDY) is None:
        scarce = _scarce(context, request, empty, 0, 1)
        if scarce:
            return Refusal(RefusalReason.SIZE, f"nodes: the whole site has {scarce[0]}")
        return Refusal(RefusalReason.SIZE, f"nodes: {request.node_count} nodes are more than the whole site can hold")
    return None


def _certain_places(context: PlanningContext, node_set: NodeSet, demand: Demand) -> int:
    """Return a number of nodes of a node set that the empty site can certainly hold: one for each host that can."""
    if demand.eligible is None:
        return len(context.plan.site)
    # Several groups may need the same provider of a host, which can hold each of them by itself.
    return 0 if context.plan.groups_of(node_set) else int(np.count_nonzero(demand.eligible))


def explain(planner: Planner, request: LeaseRequest, now: int, *, may_preempt: bool = True) -> Refusal:
    """Return why a reservation, immediate or deadline lease has no place at present, and the nearest terms with one.

    The plan does not change. Each alternative would be granted if it were requested now.

    :param may_preempt: whether alternatives may preempt other leases
    """
    context = planner.context
    start = now if request.start is None else request.start
    advice = Advice(planner, request, max(start, now), now, may_preempt=may_preempt)
    size = _too_large(context, request)
    if size is not None:
        fewer = advice.fewer() if start >= now or request.kind is not LeaseKind.RESERVATION else ()
        return replace(size, message=_message(size.message, fewer, start), alternatives=fewer) if fewer else size
    if start < now and request.kind is LeaseKind.RESERVATION:
        later = advice.later()
        return Refusal(
            RefusalReason.PAST, _message(f"start: {in_words(now - start)} in the past", later, start), (), later
        )
    start = max(start, now)
    alternatives = advice.all()
    wanted = f"{nodes_in_words(request.node_count)} for {in_words(request.duration)}"
    if request.kind is LeaseKind.DEADLINE:
        problem = f"deadline: no place for {wanted} from start to deadline"
        return Refusal(
            RefusalReason.DEADLINE,
            _message(problem, alternatives, start),
            _taken(context, request, start),
            alternatives,
        )
    taken = _taken(context, request, start)
    problem = f"nodes: no place for {wanted} at that time{_names(taken)}"
    if fits_awake(planner, request, now):
        soonest = in_words(max(context.plan.asleep.values()) - now)
        problem = f"nodes: no place for {wanted} at that time: hosts sleep, which can be used {soonest} from now"
        return Refusal(RefusalReason.ASLEEP, _message(problem, alternatives, start), (), alternatives)
    end = start + request.duration
    problem += "".join(
        f"; there is {each}" for each in _scarce(context, request, context.plan.availability, start, end)
    )
    staying = deadline_leases_in_the_way(planner, request, start, now) if may_preempt else 0
    if staying:
        misses = "lease there would miss its deadline" if staying == 1 else "leases there would miss their deadlines"
        problem += f"; {staying} deadline {misses} if preempted"
    return Refusal(RefusalReason.CAPACITY, _message(problem, alternatives, start), taken, alternatives)


def _scarce(
    context: PlanningContext, request: LeaseRequest, availability: Availability, start: int, end: int
) -> list[str]:
    """Return in words which resources of nested providers do not suffice, whatever else is free."""
    found: list[str] = []
    for node_set in request.nodes:
        groups = context.plan.groups_of(node_set)
        by_themselves = [(group,) for group in dict.fromkeys(groups)]
        for part in by_themselves if len(groups) < 2 else [*by_themselves, groups]:
            demand = context.plan.demand_of_groups(node_set, part)
            places = availability.places(demand.amounts, demand.eligible, demand.per_host).throughout(start, end)
            if places < node_set.count:
                needed = " and ".join(map(str, part))
                found.append(f"not enough {needed}: at most {places} at once, {node_set.count} needed")
                break
    return found


def _names(hosts: tuple[str, ...]) -> str:
    others = " and others" if len(hosts) > _HOSTS_NAMED else ""
    return f"; taken: {', '.join(hosts[:_HOSTS_NAMED]) or 'none'}{others}"


def _wanted(node_set: NodeSet) -> str:
    share = node_set.resources.get(HOST_SHARE)
    if share == WHOLE_HOST:
        return "a node that needs a host for itself"
    groups = "".join(f" and {group}" for group in node_set.groups)
    seen = node_set.at_full_speed if node_set.fluid else node_set.resources
    return f"a node of {seen.replaced(**{HOST_SHARE: 0})}{groups}"


class _AnyOrder(HostSelection):
    """Host selection for when only the existence of a place matters."""

    def rank(self, hosts: HostsAt, lease: LeaseRequest) -> IntArray:
        return hosts.numbers


def _message(problem: str, alternatives: tuple[Alternative, ...], start: int) -> str:
    if not alternatives:
        return f"{problem}; nothing similar would fit"
    return f"{problem}; would fit: " + ", ".join(alternative.in_words(start) for alternative in alternatives)


def _taken(context: PlanningContext, request: LeaseRequest, start: int) -> tuple[str, ...]:
    """Return names of hosts that are large enough for a node of the lease but lack free capacity in its interval."""
    plan = context.plan
    free = plan.availability.free(start, start + request.duration)
    names = []
    for host in range(len(plan.site)):
        for demand in plan.demands(request):
            able = demand.eligible is None or demand.eligible[host]
            if able and (free[:, host] < demand.amounts).any():
                names.append(plan.site.hosts[host].name)
                break
        if len(names) > _HOSTS_NAMED:
            break
    return tuple(names)
