"""The queue of best-effort leases, and which leases are left out of it."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Callable, Iterable

import numpy as np

from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.lease import Lease, LeaseRequest
from lease_scheduler.model.states import PLANNED_STATES, QUEUED_STATES
from lease_scheduler.plan.capacity.availability import BoolArray
from lease_scheduler.plan.capacity.demand import Demand


class LeaseQueue:
    """The leases that wait for a place. ``note`` tells it of each lease, whatever its state.

    :param demands: returns the demands of a request
    :param classes: number of resource classes
    :ivar waiting: the leases of the queue, by id
    :ivar waiting_to_start: ids of the best-effort leases that have a place and have not started, or not since they were
        suspended
    :ivar apart: ids of the leases that are set apart from the queue
    :ivar waiting_apart: those of them that have not started, or not since they were suspended
    """

    def __init__(self, demands: Callable[[LeaseRequest], tuple[Demand, ...]], classes: int) -> None:
        self._demands = demands
        self._order: list[tuple[int, str]] = []
        self._needing = np.zeros(classes, dtype=np.int64)
        self._is_set_apart: Callable[[LeaseRequest], bool] | None = None
        self.waiting: dict[str, Lease] = {}
        self.waiting_to_start: dict[str, None] = {}
        self.apart: set[str] = set()
        self.waiting_apart: set[str] = set()

    def __len__(self) -> int:
        return len(self._order)

    def note(self, lease_id: str, old: Lease | None, new: Lease | None) -> None:
        """Follow a lease that is new, has changed, or is gone.

        :param old: what it was, or None if it is new
        :param new: what it is, or None if it is gone
        """
        has_new_terms = old is None or new is None or old.request is not new.request
        was_queued = old is not None and old.state in QUEUED_STATES and lease_id not in self.apart
        if has_new_terms:
            self.apart.discard(lease_id)
            if new is not None and self._is_set_apart is not None and self._is_set_apart(new.request):
                self.apart.add(lease_id)
        is_apart = lease_id in self.apart
        is_queued = new is not None and new.state in QUEUED_STATES and not is_apart
        if was_queued and (has_new_terms or not is_queued):
            assert old is not None
            del self._order[bisect_left(self._order, (old.sequence, lease_id))], self.waiting[lease_id]
            self._needing -= self._always_needed(old.request)
        if is_queued and (has_new_terms or not was_queued):
            assert new is not None
            insort(self._order, (new.sequence, lease_id))
            self._needing += self._always_needed(new.request)
        if is_queued:
            assert new is not None
            self.waiting[lease_id] = new
        is_planned = new is not None and new.state in PLANNED_STATES
        if is_planned and not is_apart and new is not None and new.kind is LeaseKind.BEST_EFFORT:
            self.waiting_to_start[lease_id] = None
        else:
            self.waiting_to_start.pop(lease_id, None)
        if is_apart and new is not None and (new.state in QUEUED_STATES or is_planned):
            self.waiting_apart.add(lease_id)
        else:
            self.waiting_apart.discard(lease_id)

    def in_order(self) -> list[Lease]:
        """Return the queue, in the order of submission (haizea F46)."""
        return [self.waiting[lease_id] for _, lease_id in self._order]

    def set_apart(self, is_set_apart: Callable[[LeaseRequest], bool] | None, leases: Iterable[Lease]) -> None:
        """Leave leases out of the queue, and out of what is planned again: the fractional policy places them.

        :param is_set_apart: returns whether a request is for such a lease; None means that there are none
        :param leases: all leases that have been noted
        """
        if is_set_apart == self._is_set_apart:
            return
        self._is_set_apart = is_set_apart
        known = list(leases)
        for lease in known:
            self.note(lease.lease_id, lease, None)
        for lease in known:
            self.note(lease.lease_id, None, lease)

    @property
    def best_effort_waits(self) -> bool:
        """Whether a best-effort lease has not started, or not since it was suspended."""
        return bool(self._order or self.waiting_to_start or self.waiting_apart)

    def needed_by_all(self) -> BoolArray:
        """Return which resource classes every node of every lease of the queue needs, shape (classes,)."""
        needed: BoolArray = self._needing == len(self._order)
        return needed

    def count_needs(self, classes: int) -> None:
        """Count anew what leases need, because the site has changed.

        :param classes: number of resource classes
        """
        self._needing = np.zeros(classes, dtype=np.int64)
        for lease in self.waiting.values():
            self._needing += self._always_needed(lease.request)

    def _always_needed(self, request: LeaseRequest) -> BoolArray:
        """Return which resource classes every node of a request needs, shape (classes,)."""
        needed: BoolArray = np.logical_and.reduce([demand.amounts > 0 for demand in self._demands(request)])
        return needed
