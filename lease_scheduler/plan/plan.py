"""The plan: the live leases and what they hold on the hosts."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from contextlib import contextmanager

import numpy as np

from lease_scheduler.model.errors import LeaseSchedulerError
from lease_scheduler.model.holding import Holding
from lease_scheduler.model.host import Site
from lease_scheduler.model.lease import Lease, LeaseRequest
from lease_scheduler.model.nodes import NodeSet
from lease_scheduler.model.providers import ProviderGroup
from lease_scheduler.plan.capacity.availability import FOREVER, Availability, IntArray
from lease_scheduler.plan.capacity.demand import Demand, Demands
from lease_scheduler.plan.capacity.differences import HoldingChange, changes_of
from lease_scheduler.plan.capacity.provider_rows import ProviderRows
from lease_scheduler.plan.capacity.queued_demand import DemandClass, QueuedDemand
from lease_scheduler.plan.durations.preemption_times import PreemptionTimes, SuspensionEstimates
from lease_scheduler.plan.fitting.count_ranges import as_it_waits
from lease_scheduler.plan.lease_queue import LeaseQueue
from lease_scheduler.plan.transfers.following import followed
from lease_scheduler.plan.transfers.images import ImagePlan, NotInTimeError

#: Entry of ``Plan.sleep_ends`` for a host that neither sleeps nor wakes.
NOT_ASLEEP = -1


class NotPlannableError(LeaseSchedulerError):
    """There is no place for a lease; the plan is as it was."""


class ImageTooLateError(NotPlannableError):
    """There are hosts for a lease, but its disk image cannot be there in time."""


class _TrialOverError(NotPlannableError):
    """Ends a block that was only a trial."""


class Plan:
    """Which lease holds which part of which host, and when.

    Leases are immutable values: ``put`` replaces one and updates the availability to match its holdings.

    :ivar site: the hosts
    :ivar leases: live leases by id
    :ivar queue: the leases among them that wait for a place
    :ivar availability: the resources that they hold
    :ivar needs: cache of ``plan.fitting.queue_filter``: queued demands by lease id
    :ivar alike: cache of ``plan.fitting.queue_filter``: classes of demands
    :ivar preemption_times: cache of ``PlanningContext.preemption_times``, by lease id
    :ivar suspension_estimates: cache of ``PlanningContext.estimates``, by what they were computed from
    :ivar images: where disk images are and when they are transferred; None if transfers are not planned
    :ivar puts: number of values put so far, including those in trials; a measure of work that is the same in each run
    :ivar outages: host that is out of service -> (start, expected end); only ``plan.changing.outages`` changes it
    :ivar sleep_ends: for each host that sleeps or wakes, the first instant at which it can be used, otherwise
        ``NOT_ASLEEP``, shape (hosts,); only ``plan.changing.sleepers`` changes it
    """

    def __init__(self, site: Site) -> None:
        self.site = site
        rows = ProviderRows(site)
        self.classes = rows.classes
        capacity = _capacity(site, rows)
        self.availability = Availability(capacity, self.classes)
        self._demands = Demands(site, rows, capacity)
        self.leases: dict[str, Lease] = {}
        self.queue = LeaseQueue(self.demands, len(capacity))
        self._holdings: dict[str, tuple[tuple[NodeSet, ...], tuple[int, ...], IntArray, IntArray]] = {}
        self.needs: dict[str, QueuedDemand] = {}
        self.alike: dict[Hashable, DemandClass] = {}
        self.preemption_times: dict[str, PreemptionTimes] = {}
        self.suspension_estimates: dict[Hashable, SuspensionEstimates] = {}
        self.images: ImagePlan | None = None
        self.puts = 0
        self.sleep_ends: IntArray = np.full(len(site), NOT_ASLEEP, dtype=np.int64)
        self.outages: dict[int, tuple[int, int]] = {}
        self._undo: list[tuple[str, Lease | None]] | None = None
        self._before: dict[str, Lease | None] = {}
        self._steps_after_forgetting = 0

    # -- leases ----------------------------------------------------------------------------------------

    def put(self, lease: Lease) -> Lease:
        """Add a lease or replace its value. It then holds what its value says.

        :return: the value; with images, its state may have changed to one in which it waits for them, and one that is
            queued again has its fewest nodes
        :raises NotPlannableError: the lease is being planned, and its disk image cannot be there in time
        """
        lease = self._with_images(as_it_waits(lease))
        old = self._note_change(lease)
        if old is None or old.holdings != lease.holdings or old.request is not lease.request:
            self.availability = self._applied(changes_of(old, lease))
        self._set(lease.lease_id, old, lease)
        return lease

    def put_all(self, leases: Iterable[Lease]) -> None:
        """Replace many leases at once, which is faster than one by one."""
        changes = []
        for given in leases:
            lease = self._with_images(as_it_waits(given))
            old = self._note_change(lease)
            changes += changes_of(old, lease)
            self._set(lease.lease_id, old, lease)
        self.availability = self._applied(changes)

    def _with_images(self, lease: Lease) -> Lease:
        """Update the images for a lease that is about to get a new value, and return that value."""
        if self.images is None:
            return lease
        try:
            self.images, lease = followed(self.images, self.leases.get(lease.lease_id), lease)
        except NotInTimeError as error:
            raise ImageTooLateError(str(error)) from error
        return lease

    def _note_change(self, lease: Lease) -> Lease | None:
        self.puts += 1
        old = self.leases.get(lease.lease_id)
        if self._undo is not None:
            self._undo.append((lease.lease_id, old))
        self._before.setdefault(lease.lease_id, old)
        return old

    def remove(self, lease_id: str) -> None:
        """Drop a lease that has ended; it must not hold anything."""
        lease = self.leases[lease_id]
        if lease.holdings:
            raise LeaseSchedulerError(f"lease {lease_id} still holds hosts")
        self._set(lease_id, lease, None)

    def _set(self, lease_id: str, old: Lease | None, new: Lease | None) -> None:
        self.queue.note(lease_id, old, new)
        if old is None or new is None or old.request is not new.request:
            self.needs.pop(lease_id, None)
            self.preemption_times.pop(lease_id, None)
        if new is None:
            self.leases.pop(lease_id, None)
            self._holdings.pop(lease_id, None)
        else:
            self.leases[lease_id] = new

    def future_best_effort(self, now: int) -> list[Lease]:
        """Return the best-effort leases with a place in the future, in the order of submission (haizea F47).

        Leases that have free hosts and wait only for their image are not included.
        """
        future = [self.leases[lease_id] for lease_id in self.queue.waiting_to_start]
        return sorted((lease for lease in future if self.is_in_future(lease, now)), key=lambda lease: lease.sequence)

    def is_in_future(self, lease: Lease, now: int) -> bool:
        """Return whether a lease that has a place waits for it, and not only for its image."""
        return lease.holdings[0].start > now and not self._waits_for_image_only(lease)

    def _waits_for_image_only(self, lease: Lease) -> bool:
        """Return whether a lease starts as soon as its image is there."""
        return self.images is not None and self.images.arrival(lease.lease_id) == lease.holdings[0].start

    @property
    def asleep(self) -> dict[int, int]:
        """Host that sleeps or wakes -> first instant at which it can be used."""
        return {host: end for host, end in enumerate(self.sleep_ends.tolist()) if end != NOT_ASLEEP}

    def overlapping(self, start: int, end: int) -> Iterator[tuple[Lease, Holding]]:
        """Yield the leases that hold something in ``[start, end)``, each with its first such holding."""
        for lease in self.leases.values():
            for holding in lease.holdings:
                if holding.start < end and start < holding.end:
                    yield lease, holding
                    break

    def take_changes(self) -> list[tuple[Lease | None, Lease]]:
        """Return the leases that were put since the last call, each as (value before, value now)."""
        changes = self.changes()
        self._before.clear()
        return changes

    def changes(self) -> list[tuple[Lease | None, Lease]]:
        """Return what ``take_changes`` would return."""
        return [
            (before, self.leases[lease_id])
            for lease_id, before in self._before.items()
            if self.leases.get(lease_id) not in (None, before)
        ]

    def changes_in_block(self) -> list[tuple[Lease | None, Lease]]:
        """Return the leases that were put since the innermost block of ``tentative`` or ``trial`` began.

        :return: each with its value when the block began, None if it was new, and its value now
        """
        first: dict[str, Lease | None] = {}
        for lease_id, before in self._undo or ():
            first.setdefault(lease_id, before)
        return [(before, self.leases[lease_id]) for lease_id, before in first.items()]

    # -- what leases need and hold -----------------------------------------------------------------------

    def demands(self, request: LeaseRequest) -> tuple[Demand, ...]:
        """Return the demands of the request's node sets."""
        return self._demands.of(request.nodes)

    def demands_of(self, nodes: tuple[NodeSet, ...]) -> tuple[Demand, ...]:
        """Return the demands of node sets that belong to no request."""
        return self._demands.of(nodes)

    def can_ever_hold(self, host: int, node_set: NodeSet) -> bool:
        """Return whether a host could hold one node of a node set if it were empty, whether it may be used or not."""
        return self._demands.can_ever_hold(host, node_set)

    def groups_of(self, node_set: NodeSet) -> tuple[ProviderGroup, ...]:
        """Return what a node needs of nested resource providers."""
        return self._demands.groups(node_set)

    def demand_of_groups(self, node_set: NodeSet, groups: tuple[ProviderGroup, ...]) -> Demand:
        """Return the demand of a node set for some of its groups only."""
        return self._demands.of_groups(node_set, groups)

    def share_of_host(self, node_set: NodeSet, resource_class: str) -> int:
        """Return how much of a resource class a node can use if its node set does not name the class."""
        return self._demands.share_of_host(node_set, resource_class)

    def has_room(self, lease: Lease, start: int, end: int) -> bool:
        """Return whether the hosts of a lease's first holding are free for it in ``[start, end)``.

        The lease must not hold anything on them in the plan.
        """
        if end <= start:
            return True
        hosts, amounts = self.holding(lease.request, lease.holdings[0].assignment)
        return bool((self.availability.free(start, end)[:, hosts] >= amounts[:-1]).all())

    def holding(self, request: LeaseRequest, assignment: tuple[int, ...]) -> tuple[IntArray, IntArray]:
        """Return what an assignment holds: host numbers of shape (k,), amounts of shape (classes + 1, k)."""
        known = self._holdings.get(request.lease_id)
        if known is not None and known[1] == assignment and known[0] == request.nodes:
            return known[2], known[3]
        demands = self.demands(request)
        if len(demands) == 1 and len(set(assignment)) == len(assignment):
            hosts = np.array(sorted(assignment), dtype=np.int64)
            amounts = demands[0].amounts_and_lease[:, None].repeat(len(hosts), axis=1)
            self._holdings[request.lease_id] = (request.nodes, assignment, hosts, amounts)
            return hosts, amounts
        hosts, place = np.unique(np.array(assignment, dtype=np.int64), return_inverse=True)
        # While the site changes, the availability is still that of the old resource classes.
        amounts = np.zeros((len(demands[0].amounts_and_lease), len(hosts)), dtype=np.int64)
        amounts[-1] = 1
        first = 0
        for demand in demands:
            places = np.bincount(place[first : first + demand.count], minlength=len(hosts))
            amounts[:-1] += demand.amounts[:, None] * places
            first += demand.count
        self._holdings[request.lease_id] = (request.nodes, assignment, hosts, amounts)
        return hosts, amounts

    def _applied(
        self, changes: Iterable[tuple[LeaseRequest, HoldingChange]], base: Availability | None = None
    ) -> Availability:
        """Return an availability, by default the present one, with use added or released."""
        availability = self.availability if base is None else base
        parts = [
            (*self.holding(request, assignment), start, end, sign)
            for request, (assignment, start, end, sign) in changes
            if assignment
        ]
        if not parts:
            return availability
        if len(parts) == 1:
            hosts, amounts, start, end, sign = parts[0]
            return availability.changed(hosts, start, end, amounts if sign > 0 else -amounts)
        counts = [len(hosts) for hosts, *_ in parts]
        return availability.changed(
            np.concatenate([hosts for hosts, *_ in parts]),
            np.array([start for _, _, start, _, _ in parts], dtype=np.int64).repeat(counts),
            np.array([end for _, _, _, end, _ in parts], dtype=np.int64).repeat(counts),
            np.concatenate([amounts if sign > 0 else -amounts for _, amounts, _, _, sign in parts], axis=1),
        )

    def without(
        self, leases: Iterable[Lease], start: int, *, until: int = FOREVER, base: Availability | None = None
    ) -> Availability:
        """Return the availability if these leases held nothing in ``[start, until)`` (haizea F29, "if preempting").

        :param base: the availability to start from, by default the present one
        """
        changes = (
            (lease.request, (r.assignment, max(start, r.start), min(until, r.end), -1))
            for lease in leases
            for r in lease.holdings
            if r.end > start and r.start < until
        )
        return self._applied(changes, base)

    # -- tentative planning ------------------------------------------------------------------------------

    @contextmanager
    def tentative(self) -> Iterator[None]:
        """Undo all changes made within the block if it raises an exception. Blocks may be nested."""
        outer = self._undo
        availability, before, images = self.availability, dict(self._before), self.images
        undo: list[tuple[str, Lease | None]] = []
        self._undo = undo
        try:
            yield
        except BaseException:
            self._undo = None
            for lease_id, old in reversed(undo):
                self._set(lease_id, self.leases.get(lease_id), old)
            self.availability, self._before, self.images = availability, before, images
            self._undo = outer
            raise
        self._undo = outer
        if outer is not None:
            outer.extend(undo)

    @contextmanager
    def trial(self) -> Iterator[None]:
        """Undo all changes made within the block in any case."""
        try:
            with self.tentative():
                yield
                raise _TrialOverError("only tried")
        except _TrialOverError:
            pass

    # -- another site ------------------------------------------------------------------------------------

    def change_site(self, site: Site, now: int) -> None:
        """Replace the hosts. Leases keep what they hold on the hosts with the same numbers.

        :param site: has at least the hosts of the present site, see ``Site.succeeded_by``
        """
        if [host.name for host in site.hosts[: len(self.site)]] != [host.name for host in self.site.hosts]:
            raise LeaseSchedulerError("the hosts of a site must keep their numbers when it changes")
        self.site = site
        rows = ProviderRows(site)
        self.classes = rows.classes
        capacity = _capacity(site, rows)
        self._demands = Demands(site, rows, capacity)
        self._holdings.clear()
        self.needs.clear()
        self.preemption_times.clear()
        self.suspension_estimates.clear()
        self.alike.clear()
        self.availability = self.rebuilt(now, Availability(capacity, self.classes))
        for host, (start, end) in self.outages.items():
            self.availability = self.availability.blocked(host, start, end)
        sleep_ends = np.full(len(site), NOT_ASLEEP, dtype=np.int64)
        sleep_ends[: len(self.sleep_ends)] = self.sleep_ends
        self.sleep_ends = sleep_ends
        asleep = (sleep_ends != NOT_ASLEEP).nonzero()[0]
        self.availability = self.availability.taken_until(asleep, np.full(len(asleep), now), sleep_ends[asleep])
        self.queue.count_needs(len(capacity))

    # -- the passing of time -----------------------------------------------------------------------------

    def pass_to(self, now: int) -> None:
        """Plan no transfer of a disk image before ``now`` from now on."""
        if self.images is not None:
            self.images = self.images.at(now)

    def forget(self, before: int) -> None:
        """Drop the past from the availability if it has grown enough for that to pay off."""
        if self.availability.step_count > 1.25 * self._steps_after_forgetting:
            self.availability = self.availability.forgotten(before)
            self._steps_after_forgetting = max(self.availability.step_count, 256)

    def rebuilt(self, now: int, empty: Availability | None = None) -> Availability:
        """Return the availability from ``now`` on, computed from the leases alone.

        :param empty: the availability of the site without leases, by default that of the present site
        """
        return self._applied(
            (
                (lease.request, (r.assignment, r.start, r.end, 1))
                for lease in self.leases.values()
                for r in lease.holdings
            ),
            (empty or Availability(self.availability.capacity, self.classes)).forgotten(now),
        )


def _capacity(site: Site, rows: ProviderRows) -> IntArray:
    """Return what each host offers, shape (classes, hosts); the classes of hosts come first."""
    of_hosts = np.array(
        [[host.capacity.get(name, 0) for host in site.hosts] for name in rows.classes], dtype=np.int64
    ).reshape(len(rows.classes), len(site))
    of_providers = rows.capacity()
    return np.concatenate((of_hosts, of_providers)) if len(of_providers) else of_hosts
