"""Earliest fit: as soon as possible, for best-effort and deadline leases.

Sotomayor 2010, algorithm 2 with the suspension of section 5.2 (haizea F32, F48, F53, F55).
"""

from __future__ import annotations

from collections.abc import Iterator
from heapq import merge

import numpy as np

from lease_scheduler.model.holding import Holding
from lease_scheduler.model.lease import Lease, LeaseRequest
from lease_scheduler.plan.capacity.availability import IntArray
from lease_scheduler.plan.capacity.demand import Demand
from lease_scheduler.plan.context import PlanningContext
from lease_scheduler.plan.durations.migration import migration_estimate, migration_of, stay_where_possible
from lease_scheduler.plan.fitting.exact_mapping import Attempts
from lease_scheduler.plan.fitting.host_fit import Anywhere, HostFit, InPlace, last_again, latest_end
from lease_scheduler.plan.fitting.image_constraints import only_on, ready_hosts
from lease_scheduler.plan.fitting.phases import build_holding
from lease_scheduler.plan.fitting.queue_filter import expected_length, need_of, whole_length
from lease_scheduler.plan.options import Migration
from lease_scheduler.plan.plan import Plan


def place_soonest(
    context: PlanningContext, lease: Lease, now: int, *, may_wait: bool, latest_start: int | None = None
) -> Holding | None:
    """Return the earliest holding for a best-effort lease, possibly for only part of its duration, or None.

    :param may_wait: whether a later place is acceptable; otherwise the lease must start at once, or as soon as its disk
        image or its saved memory can have arrived
    :param latest_start: if it may wait, the last acceptable start; None means any
    """
    need = need_of(context, lease)
    if not may_wait and not _could_begin(context, lease, now, need.shortest):
        return None
    return _first(
        context,
        lease.request,
        lease.remaining,
        lease.saved_on,
        now,
        need.shortest,
        expected_length(context, lease, need),
        may_wait=may_wait,
        latest_start=latest_start,
    )


def _could_begin(context: PlanningContext, lease: Lease, now: int, shortest: int) -> bool:
    """Return whether enough hosts are free now, or when the image or the saved memory can have arrived.

    The condition is necessary but not sufficient. It is cheap, and most leases of a long queue fail it.
    """
    plan = context.plan
    demands = plan.demands(lease.request)
    ready = ready_hosts(plan, lease.request) if lease.saved_on is None else None
    if ready is not None:
        return any(_could_begin_at(plan, demands, ready, instant, shortest) for instant in _openings(ready, now))
    instants = [now]
    if lease.saved_on is not None and migration_of(lease.request, context.options) is Migration.YES:
        instants.append(now + migration_estimate(lease.request, context.options))
    return any(latest_end(plan.availability, demands, instant) - instant >= shortest for instant in instants)


def _could_begin_at(plan: Plan, demands: tuple[Demand, ...], ready: IntArray, instant: int, shortest: int) -> bool:
    """Return whether enough hosts that are ready by the instant are free then."""
    if latest_end(plan.availability, demands, instant) - instant < shortest:
        return False
    usable = ready <= instant
    return bool(usable.all()) or latest_end(plan.availability, only_on(demands, usable), instant) - instant >= shortest


def place_whole(
    context: PlanningContext,
    request: LeaseRequest,
    remaining: int,
    saved_on: tuple[int, ...] | None,
    earliest: int,
    latest_end: int,
) -> Holding | None:
    """Return the earliest holding for the whole remaining duration whose run ends by ``latest_end``, or None.

    See haizea F56.

    :param earliest: no start before this instant
    """
    longest = whole_length(context, request, remaining, resuming=saved_on is not None)
    return _first(
        context, request, remaining, saved_on, earliest, longest, longest, may_wait=True, latest_end=latest_end
    )


def _first(
    context: PlanningContext,
    request: LeaseRequest,
    remaining: int,
    saved_on: tuple[int, ...] | None,
    earliest: int,
    shortest: int,
    longest: int,
    *,
    may_wait: bool,
    latest_start: int | None = None,
    latest_end: int | None = None,
) -> Holding | None:
    """Return the first fit over the candidate instants, earliest first, or None.

    For node sets that compete for hosts, see ``host_fit.last_again``.
    """
    attempts = Attempts() if len(request.nodes) > 1 else None
    candidates = _candidates(context, request, saved_on, earliest, shortest, attempts, may_wait=may_wait)
    shutdown = context.suspension.shutdown_time(request)
    if attempts is not None:
        limits = [latest_start, None if latest_end is None else latest_end - remaining]
        candidates = last_again(candidates, attempts, min((each for each in limits if each is not None), default=None))
    for start, fitting in candidates:
        if latest_end is not None and start + remaining > latest_end:
            return None
        if latest_start is not None and start > latest_start:
            continue
        found = fitting.fit(start, shortest, longest)
        if found is None:
            continue
        assignment, end = found
        # A partial run must not end within the time reserved for the shutdown.
        if longest - shutdown < end - start < longest:
            continue
        if saved_on is not None:
            assignment = stay_where_possible(request, assignment, saved_on)
        holding = build_holding(context, request, assignment, start, end, remaining, saved_on, earliest)
        if holding is None or (latest_end is not None and holding.run_end > latest_end):
            continue
        return holding
    return None


def _candidates(
    context: PlanningContext,
    request: LeaseRequest,
    saved_on: tuple[int, ...] | None,
    earliest: int,
    length: int,
    attempts: Attempts | None,
    *,
    may_wait: bool,
) -> Iterator[tuple[int, HostFit]]:
    """Yield the instants at which the lease might start, earliest first, each with the way to choose hosts then.

    A suspended lease may resume at once on the hosts that have its memory, elsewhere only when the memory can have
    arrived. A lease with a disk image may start at once on hosts that have the image, elsewhere only when the image can
    have arrived.
    """
    ready = ready_hosts(context.plan, request) if saved_on is None else None
    if ready is not None:
        prepared = Anywhere(context, request, ready, attempts)
        instants = prepared.starts(earliest, length).tolist() if may_wait else _openings(ready, earliest)
        yield from ((instant, prepared) for instant in instants)
        return
    fittings: list[tuple[int, HostFit]] = []
    if saved_on is not None:
        fittings.append((earliest, InPlace(context, request, saved_on)))
    if saved_on is None or migration_of(request, context.options) is not Migration.NO:
        moved = migration_estimate(request, context.options) if saved_on is not None else 0
        anywhere = Anywhere(context, request, attempts=attempts)
        if may_wait and not fittings:
            # Most often nothing is free at once, and this is cheaper than trying to choose hosts.
            first = anywhere.first_start(earliest, length)
            if first is not None:
                yield first, anywhere
                yield from ((int(start), anywhere) for start in anywhere.starts(earliest, length) if start > first)
            return
        fittings.append((earliest + moved, anywhere))
    yield from fittings
    if may_wait:
        waits = [
            [(int(start), order) for start in fitting.starts(first, length) if start > first]
            for order, (first, fitting) in enumerate(fittings)
        ]
        for start, order in merge(*waits):
            yield start, fittings[order][1]


def _openings(ready: IntArray, earliest: int) -> list[int]:
    """Return the instants at which more hosts become ready, ascending."""
    return sorted(set(np.maximum(ready, earliest).tolist()))
