"""Queue filter: a cheap test that excludes queued leases that cannot start now, before any is planned."""

from __future__ import annotations

from collections.abc import Hashable

from lease_scheduler.model.lease import Lease, LeaseRequest
from lease_scheduler.model.transfer import Transfer
from lease_scheduler.plan.capacity.availability import Availability
from lease_scheduler.plan.capacity.queued_demand import DemandClass, QueuedDemand
from lease_scheduler.plan.context import PlanningContext
from lease_scheduler.plan.durations.migration import migration_estimate, migration_of
from lease_scheduler.plan.fitting.host_fit import latest_end, longest_windows
from lease_scheduler.plan.fitting.image_constraints import possible_instants, transfer_seconds
from lease_scheduler.plan.options import Migration
from lease_scheduler.plan.plan import Plan

#: Size of the cache of classes of demands; it is limited because a service runs for years.
_MOST_REMEMBERED = 20_000


class QueueFilter:
    """Tells which queued leases cannot start now, from the longest time for which enough resources are free.

    A lease that passes may still find no place. Results are cached, as most leases of a long queue have the same
    demands. An instance is for one pass over the queue. In a pass, leases get places and none loses one, so a time that
    was too short stays too short.
    """

    def __init__(self, context: PlanningContext, now: int) -> None:
        self._context = context
        self._now = now
        self._transfers = _transfers_of(context.plan)
        self._with_any_image: dict[int, frozenset[int]] = {}
        self._instants_of: dict[DemandClass, frozenset[int]] = {}
        self._windows: dict[Hashable, tuple[Availability, list[int]]] = {}

    def is_too_short(self, lease: Lease) -> bool:
        """Return whether a lease certainly cannot start now, nor when its image or saved memory can have arrived."""
        need = need_of(self._context, lease)
        transfers = _transfers_of(self._context.plan)
        if transfers is not self._transfers:
            self._transfers = transfers
            self._with_any_image.clear()
            self._instants_of.clear()
        seconds = need.alike.image_seconds
        # This first test has the same result for leases with different images, so it is computed once for them.
        if seconds is not None and self._finds_too_little(need, self._instants_with_any_image(need.alike, seconds)):
            return True
        return self._finds_too_little(need, self._instants(need.alike))

    def _finds_too_little(self, need: QueuedDemand, instants: frozenset[int]) -> bool:
        """Return whether what a lease needs is not free for long enough from any of the instants on."""
        alike, availability = need.alike, self._context.plan.availability
        # Not keyed by the image: leases with different images mostly have the same instants and needs.
        key = (instants, alike.needed)
        known = self._windows.get(key)
        if known is None or (known[0] is not availability and not _are_too_short(known[1], need)):
            known = self._windows[key] = availability, _longest(availability, alike, instants)
        return _are_too_short(known[1], need)

    def _instants(self, alike: DemandClass) -> frozenset[int]:
        """Return the earliest instants at which such leases may start, on any hosts."""
        found = self._instants_of.get(alike)
        if found is None:
            if alike.moved_after is not None:
                found = frozenset((self._now, self._now + alike.moved_after))
            elif alike.image_seconds is not None:
                found = self._not_past(possible_instants(self._context.plan, alike.request))
            else:
                found = frozenset((self._now,))
            self._instants_of[alike] = found
        return found

    def _instants_with_any_image(self, alike: DemandClass, seconds: int) -> frozenset[int]:
        """Return the same for leases with any image that takes ``seconds`` to transfer."""
        found = self._with_any_image.get(seconds)
        if found is None:
            instants = possible_instants(self._context.plan, alike.request, any_image=True)
            found = self._with_any_image[seconds] = self._not_past(instants)
        return found

    def _not_past(self, instants: list[int]) -> frozenset[int]:
        return frozenset(max(instant, self._now) for instant in instants)


def _transfers_of(plan: Plan) -> tuple[Transfer, ...]:
    return () if plan.images is None else plan.images.transfers


def _are_too_short(windows: list[int], need: QueuedDemand) -> bool:
    """Return whether the window for the lease's number of nodes is too short.

    :param windows: seconds for which n nodes fit, for n = 1, 2, ...
    """
    return need.count > len(windows) or windows[need.count - 1] < need.shortest


def _longest(availability: Availability, alike: DemandClass, instants: frozenset[int]) -> list[int]:
    """Return for how many seconds n nodes of such leases fit from one of the instants on, for n = 1, 2, ...

    For leases with several node sets, return the seconds for which all of them fit together as the only entry.
    """
    if len(alike.demands) == 1:
        return longest_windows(availability, alike.demands[0], instants)
    return [max(latest_end(availability, alike.demands, instant) - instant for instant in instants)]


def need_of(context: PlanningContext, lease: Lease) -> QueuedDemand:
    """Return the queued demand of a best-effort lease."""
    request = lease.request
    known = context.plan.needs.get(request.lease_id)
    resuming = lease.saved_on is not None
    # A lease with a range is tried with several numbers of nodes.
    is_same = known is not None and known.nodes is request.nodes and known.accumulated == lease.accumulated
    if known is not None and is_same and known.resuming == resuming:
        return known
    longest = whole_length(context, request, lease.remaining, resuming=resuming)
    shortest = longest
    if context.suspension.may_be_planned_in_parts(request):
        shortest = min(longest, max(1, context.threshold(request, resuming=resuming)))
    count = request.node_count if len(context.plan.demands(request)) == 1 else 1
    alike = _alike(context, request, resuming=resuming)
    need = QueuedDemand(request.nodes, lease.accumulated, resuming, shortest, longest, count, alike)
    context.plan.needs[request.lease_id] = need
    return need


def whole_length(context: PlanningContext, request: LeaseRequest, remaining: int, *, resuming: bool) -> int:
    """Return an upper bound of the seconds to resume, run and shut down."""
    longest = remaining + context.suspension.shutdown_time(request)
    return longest + context.resume_estimate(request) if resuming else longest


def expected_length(context: PlanningContext, lease: Lease, need: QueuedDemand) -> int:
    """Return for how many seconds a best-effort lease is to hold its hosts, if they are free for that long.

    A lease that is expected to end earlier than requested gets the expected time and the time to suspend it after that.
    If that saves less time than the suspension would cost, it gets its whole length.
    """
    duration, request = context.duration, lease.request
    if not duration.shortens or not context.suspension.may_be_planned_in_parts(request):
        return need.longest
    length = max(1, duration.expected(lease)) + context.suspend_estimate(request)
    if need.resuming:
        length += context.resume_estimate(request)
    length = max(need.shortest, length)
    return need.longest if length >= lease.remaining else length + context.options.suspend_buffer


def _alike(context: PlanningContext, request: LeaseRequest, *, resuming: bool) -> DemandClass:
    plan = context.plan
    demands = plan.demands(request)
    moved_after = None
    if resuming and migration_of(request, context.options) is Migration.YES:
        moved_after = migration_estimate(request, context.options)
    # Node sets with the same needs share arrays, so the ids of the arrays identify the needs. The entry keeps the
    # arrays alive, so their ids are not reused.
    needed = tuple((id(demand.amounts), id(demand.eligible), demand.per_host) for demand in demands)
    counts = () if len(demands) == 1 else tuple(demand.count for demand in demands)
    image = None if resuming else request.software
    image_seconds = None if resuming else transfer_seconds(plan, request)
    key = (needed, counts, image, image_seconds, moved_after)
    known = plan.alike.get(key)
    if known is None:
        if len(plan.alike) >= _MOST_REMEMBERED:
            plan.alike.clear()
        known = plan.alike[key] = DemandClass(demands, (needed, counts), request, moved_after, image_seconds)
    return known
