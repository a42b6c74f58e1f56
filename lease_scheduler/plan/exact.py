"""Exactly from then to then: reservations and immediate leases (haizea F50, F12; Sotomayor 2010, algorithm 3)."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from itertools import takewhile

from lease_scheduler.model.lease import Lease, LeaseKind, LeaseRequest
from lease_scheduler.model.reservation import Closing, Reservation
from lease_scheduler.plan.availability import Availability
from lease_scheduler.plan.context import PlanningContext
from lease_scheduler.plan.displacing import displace, in_the_way
from lease_scheduler.plan.imaging import at_start, is_anywhere_in_time
from lease_scheduler.plan.keeping import Present, map_keeping
from lease_scheduler.plan.plan import ImageTooLateError, NotPlannableError
from lease_scheduler.plan.preemption import instants_of_room, victims


def exact_reservation(
    context: PlanningContext, request: LeaseRequest, assignment: tuple[int, ...], start: int
) -> Reservation:
    """A reservation of the full duration, with the shutdown behind it."""
    run_end = start + request.duration
    end = run_end + context.suspension.shutdown_time(request)
    return Reservation(assignment, start, start, run_end, end, Closing.SHUTDOWN)


def place_exactly(
    context: PlanningContext,
    request: LeaseRequest,
    start: int,
    now: int,
    *,
    may_preempt: bool,
    present: Present | None = None,
) -> tuple[Reservation, tuple[Lease, ...]]:
    """A reservation that begins at ``start`` and the leases that have to make room for it.

    Nothing is changed in the plan.

    :param present: hosts that VMs have already
    :raises NotPlannableError: not even all victims together make room
    """
    end = start + request.duration + context.suspension.shutdown_time(request)
    assignment, in_the_way = hosts_with_room(
        context, request, start, end, now, may_preempt=may_preempt, present=present
    )
    return exact_reservation(context, request, assignment, start), in_the_way


def place_until(
    context: PlanningContext,
    request: LeaseRequest,
    start: int,
    end: int,
    now: int,
    *,
    may_preempt: bool,
    present: Present | None = None,
) -> tuple[Reservation, tuple[Lease, ...]]:
    """What is left of a run that ends at ``end``, from ``start`` on or as soon after it as others can be suspended.

    Nothing is changed in the plan.

    :param present: hosts that VMs have already
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


def hosts_with_room(
    context: PlanningContext,
    request: LeaseRequest,
    start: int,
    end: int,
    now: int,
    *,
    may_preempt: bool,
    present: Present | None = None,
) -> tuple[tuple[int, ...], tuple[Lease, ...]]:
    """A host for every VM for the whole of ``[start, end)``, and the leases that have to make room there.

    As few victims are taken as the order of their scores allows: the shortest such list with which the lease fits, and
    of it only those who hold something of the chosen hosts. Deadline leases are victims only if what is left of them
    has a place by their deadline. Nothing is changed in the plan.

    :param present: hosts that VMs have already
    :raises NotPlannableError: not even all victims together make room
    """
    assignment = _mapped(context, request, context.plan.availability, start, end, present)
    if assignment is not None:
        return assignment, ()
    candidates = victims(context, request, start, end, now) if may_preempt else []
    message = f"no place for lease {request.lease_id} for {end - start} s at its start"
    # Who has no deadline need not be planned again: the shortest list of such leases is found by bisection.
    promised_nothing = list(takewhile(lambda victim: victim.kind is not LeaseKind.DEADLINE, candidates))
    found = _shortest_list(context, request, start, end, promised_nothing, present)
    if found is not None:
        return found
    if len(promised_nothing) < len(candidates):
        with context.plan.trial(), suppress(NotPlannableError):
            found = displace(
                context, request, start, end, candidates, now, at_once=len(promised_nothing), present=present
            )
    if found is None:
        raise _no_place(context, request, start, f"{message}, preemption included" if candidates else message)
    return found


def _shortest_list(
    context: PlanningContext,
    request: LeaseRequest,
    start: int,
    end: int,
    candidates: list[Lease],
    present: Present | None,
) -> tuple[tuple[int, ...], tuple[Lease, ...]] | None:
    """Hosts for every VM and who holds something of them, by the shortest list of victims, or None."""

    def mapped_without(count: int) -> tuple[int, ...] | None:
        return _mapped(context, request, context.plan.without(candidates[:count], start), start, end, present)

    assignment = mapped_without(len(candidates)) if candidates else None
    if assignment is None:
        return None
    too_few, enough = 0, len(candidates)
    while enough - too_few > 1:
        middle = (too_few + enough) // 2
        found = mapped_without(middle)
        if found is None:
            too_few = middle
        else:
            enough, assignment = middle, found
    return assignment, tuple(in_the_way(candidates[:enough], assignment, start, end))


def _no_place(context: PlanningContext, request: LeaseRequest, start: int, message: str) -> NotPlannableError:
    """What to raise where a lease finds no hosts at its start."""
    if is_anywhere_in_time(context.plan, request, start):
        return NotPlannableError(message)
    return ImageTooLateError(f"{message}, on hosts that can have its disk image then")


def _mapped(
    context: PlanningContext,
    request: LeaseRequest,
    availability: Availability,
    start: int,
    end: int,
    present: Present | None,
) -> tuple[int, ...] | None:
    demands = at_start(context.plan, request, start)
    return map_keeping(availability, request, demands, present, start, end, context.selection, context.mapper)
