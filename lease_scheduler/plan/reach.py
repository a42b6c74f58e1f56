"""Which leases of a queue may begin now: a look at the queue as a whole, before anything is planned."""

from __future__ import annotations

from lease_scheduler.model.lease import Lease, LeaseRequest
from lease_scheduler.plan.context import PlanningContext
from lease_scheduler.plan.fitting import latest_end, longest_windows
from lease_scheduler.plan.imaging import possible_instants, transfer_seconds
from lease_scheduler.plan.migration import migration_estimate, migration_of
from lease_scheduler.plan.need import Alike, Need
from lease_scheduler.plan.options import Migration

#: Kinds of leases that are remembered; a service that runs for years meets more than it should keep.
_MOST_REMEMBERED = 20_000


class Reach:
    """Which leases of a queue cannot begin now, told from the longest time for which what they need is free.

    Necessary, not sufficient, and remembered as long as the plan stays as it is: most leases of a long queue are alike.

    :param now: the instant
    """

    def __init__(self, context: PlanningContext, now: int) -> None:
        self._context = context
        self._now = now
        self._availability, self._images = context.plan.availability, context.plan.images
        self._windows: dict[Alike, list[int]] = {}
        self._windows_from: dict[tuple[frozenset[int], int, int, int | None], list[int]] = {}

    def is_too_short(self, lease: Lease) -> bool:
        """Whether a lease can certainly not begin now, nor when its image or its saved memory can have come."""
        plan = self._context.plan
        if plan.availability is not self._availability or plan.images is not self._images:
            self._availability, self._images = plan.availability, plan.images
            self._windows.clear()
            self._windows_from.clear()
        need = need_of(self._context, lease)
        windows = self._windows.get(need.alike)
        if windows is None:
            windows = self._windows[need.alike] = self._longest(need.alike)
        return need.count > len(windows) or windows[need.count - 1] < need.shortest

    def _longest(self, alike: Alike) -> list[int]:
        """Seconds for which n VMs of such leases fit from some instant on at which they may begin, for n = 1, 2, ...

        Of leases whose VMs are not all alike: for which they fit together, as the only entry.
        """
        instants = self._instants(alike)
        if len(alike.demands) == 1:
            # Leases with different images are more often alike in this than not.
            demand = alike.demands[0]
            key = (instants, id(demand.amounts), id(demand.eligible), demand.per_host)
            found = self._windows_from.get(key)
            if found is None:
                found = self._windows_from[key] = longest_windows(self._availability, demand, instants)
            return found
        return [max(latest_end(self._availability, alike.demands, instant) - instant for instant in instants)]

    def _instants(self, alike: Alike) -> frozenset[int]:
        if alike.moved_after is not None:
            return frozenset((self._now, self._now + alike.moved_after))
        possible = possible_instants(self._context.plan, alike.request) if alike.is_fresh else None
        return frozenset(max(instant, self._now) for instant in possible or (self._now,))


def need_of(context: PlanningContext, lease: Lease) -> Need:
    """What a best-effort lease waits for."""
    request = lease.request
    known = context.plan.needs.get(request.lease_id)
    resuming = lease.saved_on is not None
    if known is not None and known.accumulated == lease.accumulated and known.resuming == resuming:
        return known
    longest = whole_length(context, request, lease.remaining, resuming=resuming)
    shortest = longest
    if context.suspension.can_suspend(request):
        shortest = min(longest, max(1, context.threshold(request, resuming=resuming)))
    count = request.node_count if len(context.plan.demands(request)) == 1 else 1
    need = Need(lease.accumulated, resuming, shortest, longest, count, _alike(context, request, resuming=resuming))
    context.plan.needs[request.lease_id] = need
    return need


def whole_length(context: PlanningContext, request: LeaseRequest, remaining: int, *, resuming: bool) -> int:
    """Seconds that are certainly enough to resume, run and shut down."""
    longest = remaining + context.suspension.shutdown_time(request)
    return longest + context.resume_estimate(request) if resuming else longest


def _alike(context: PlanningContext, request: LeaseRequest, *, resuming: bool) -> Alike:
    plan = context.plan
    demands = plan.demands(request)
    moved_after = None
    if resuming and migration_of(request, context.options) is Migration.YES:
        moved_after = migration_estimate(request, context.options)
    # By the identity of arrays, which all node sets share that need the same of a host. They are kept with the entry,
    # so that their ids stay their own.
    needed = tuple((id(demand.amounts), id(demand.eligible), demand.per_host) for demand in demands)
    counts = () if len(demands) == 1 else tuple(demand.count for demand in demands)
    image = None if resuming else request.software
    key = (needed, counts, image, None if resuming else transfer_seconds(plan, request), resuming, moved_after)
    if len(plan.alike) >= _MOST_REMEMBERED:
        plan.alike.clear()
    return plan.alike.setdefault(key, Alike(demands, request, moved_after, not resuming))
