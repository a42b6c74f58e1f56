"""Exact placement: reservations and immediate leases, whose interval is fixed.

Sotomayor 2010, algorithm 3 (haizea F50, F12).
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from itertools import takewhile

from lease_scheduler.model.durations import in_words
from lease_scheduler.model.holding import Closing, Holding
from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.lease import Lease, LeaseRequest
from lease_scheduler.plan.capacity.availability import Availability
from lease_scheduler.plan.context import PlanningContext
from lease_scheduler.plan.fitting.image_constraints import at_start, is_anywhere_in_time
from lease_scheduler.plan.fitting.present_hosts import PresentHosts, map_keeping
from lease_scheduler.plan.plan import ImageTooLateError, NotPlannableError
from lease_scheduler.plan.preempting.displacing import can_make_room, displace, fewest_for_capacity, in_the_way
from lease_scheduler.plan.preempting.preemption import instants_of_room, victims


def exact_holding(context: PlanningContext, request: LeaseRequest, assignment: tuple[int, ...], start: int) -> Holding:
    """Return a holding for the full duration, followed by the shutdown."""
    run_end = start + request.duration
    end = run_end + context.suspension.shutdown_time(request)
    return Holding(assignment, start, start, run_end, end, Closing.SHUTDOWN)


def place_exactly(
    context: PlanningContext,
    request: LeaseRequest,
    start: int,
    now: int,
    *,
    may_preempt: bool,
    present: PresentHosts | None = None,
) -> tuple[Holding, tuple[Lease, ...]]:
    """Return a holding that begins at ``start``, and the leases that have to make room for it.

    The plan does not change.

    :param present: hosts that nodes have already
    :raises NotPlannableError: there is no place even if all possible victims are preempted
    """
    end = start + request.duration + context.suspension.shutdown_time(request)
    assignment, in_the_way = hosts_with_room(
        context, request, start, end, now, may_preempt=may_preempt, present=present
    )
    return exact_holding(context, request, assignment, start), in_the_way


def place_until(
    context: PlanningContext,
    request: LeaseRequest,
    start: int,
    end: int,
    now: int,
    *,
    may_preempt: bool,
    present: PresentHosts | None = None,
) -> tuple[Holding, tuple[Lease, ...]]:
    """Return a holding for the rest of a run that ends at ``end``, and the leases that have to make room for it.

    It begins at ``start``, or as soon afterwards as other leases can be suspended. The plan does not change.

    :param present: hosts that nodes have already
    :raises NotPlannableError: there is no place
    """
    rest = replace(request, duration=end - start)
    try:
        return place_exactly(context, rest, start, now, may_preempt=may_preempt, present=present)
    except NotPlannableError:
        for later in instants_of_room(context, start, end, now) if may_preempt else ():
            with suppress(NotPlannableError):
                shorter = replace(request, duration=end - later)
                return place_exactly(context, shorter, later, now, may_preempt=True, present=present)
        raise


@dataclass(frozen=True)
class Room:
    """Hosts that a lease could have.

    :ivar assignment: the host of each node
    :ivar in_the_way: the leases that have to make room there, as they were before
    :ivar is_made: whether they have already been moved in the plan
    """

    assignment: tuple[int, ...]
    in_the_way: tuple[Lease, ...] = ()
    is_made: bool = False


def hosts_with_room(
    context: PlanningContext,
    request: LeaseRequest,
    start: int,
    end: int,
    now: int,
    *,
    may_preempt: bool,
    present: PresentHosts | None = None,
) -> tuple[tuple[int, ...], tuple[Lease, ...]]:
    """Return a host for each node for the whole of ``[start, end)``, and the leases that have to make room there.

    The plan does not change.

    :param present: hosts that nodes have already
    :raises NotPlannableError: there is no place even if all possible victims are preempted
    """
    with context.plan.trial():
        room = find_room(context, request, start, end, now, may_preempt=may_preempt, present=present)
    return room.assignment, room.in_the_way


def find_room(
    context: PlanningContext,
    request: LeaseRequest,
    start: int,
    end: int,
    now: int,
    *,
    may_preempt: bool,
    present: PresentHosts | None = None,
) -> Room:
    """Find a host for each node for the whole of ``[start, end)``.

    The victims are the shortest list, in the order of their scores, with which the lease fits; those that hold nothing
    on the chosen hosts are dropped from it. A deadline lease is a victim only if the rest of it has a place by its
    deadline. To find that out the lease is moved in the plan, and stays moved.

    :param present: hosts that nodes have already
    :raises NotPlannableError: there is no place even if all possible victims are preempted; the plan is as it was
    """
    assignment = _mapped(context, request, context.plan.availability, start, end, present)
    if assignment is not None:
        return Room(assignment)
    makes_room = partial(can_make_room, context, start, end, now, present)
    candidates = victims(context, request, start, end, now, makes_room) if may_preempt else []
    message = f"no place for lease {request.lease_id} for {in_words(end - start)} at its start"
    # Victims without a deadline are not planned again, so the shortest list of them can be found by bisection.
    promised_nothing = list(takewhile(lambda victim: victim.kind is not LeaseKind.DEADLINE, candidates))
    found = _shortest_list(context, request, start, end, promised_nothing, present)
    if found is not None:
        return found
    if len(promised_nothing) < len(candidates):
        with suppress(NotPlannableError):
            assignment, moved = displace(
                context, request, start, end, candidates, now, at_once=len(promised_nothing), present=present
            )
            return Room(assignment, moved, is_made=True)
    raise _no_place(context, request, start, f"{message}, preemption included" if candidates else message)


def _shortest_list(
    context: PlanningContext,
    request: LeaseRequest,
    start: int,
    end: int,
    candidates: list[Lease],
    present: PresentHosts | None,
) -> Room | None:
    """Return hosts for the lease and the shortest list of candidates that frees them, or None."""

    def mapped_without(count: int) -> tuple[int, ...] | None:
        return _mapped(context, request, context.plan.without(candidates[:count], start), start, end, present)

    if not candidates:
        return None
    enough = fewest_for_capacity(context, request, start, end, candidates)
    if enough is None:
        return None
    assignment = mapped_without(enough)
    if assignment is None:
        # With several node sets, or with policies that leave out hosts, more victims may be needed.
        too_few, enough = enough, len(candidates)
        assignment = mapped_without(enough)
        if assignment is None:
            return None
        while enough - too_few > 1:
            middle = (too_few + enough) // 2
            found = mapped_without(middle)
            if found is None:
                too_few = middle
            else:
                enough, assignment = middle, found
    return Room(assignment, tuple(in_the_way(candidates[:enough], assignment, start, end)))


def _no_place(context: PlanningContext, request: LeaseRequest, start: int, message: str) -> NotPlannableError:
    """Return the error to raise if a lease finds no hosts at its start."""
    if is_anywhere_in_time(context.plan, request, start):
        return NotPlannableError(message)
    return ImageTooLateError(f"{message}, on hosts that can have its disk image by then")


def _mapped(
    context: PlanningContext,
    request: LeaseRequest,
    availability: Availability,
    start: int,
    end: int,
    present: PresentHosts | None,
) -> tuple[int, ...] | None:
    demands = at_start(context.plan, request, start)
    return map_keeping(availability, request, demands, present, start, end, context.selection, context.mapper)
