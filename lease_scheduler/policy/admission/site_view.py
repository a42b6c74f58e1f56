"""The site as an admission policy sees it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cached_property

import numpy as np

from lease_scheduler.model.lease import Lease
from lease_scheduler.model.resources import Resources
from lease_scheduler.model.states import LeaseState
from lease_scheduler.plan.capacity.availability import IntArray
from lease_scheduler.plan.plan import Plan

_UNDECIDED = frozenset({LeaseState.NEW, LeaseState.PENDING})


class SiteView:
    """The present state of a site, read-only. Each property is computed when it is first read.

    It is valid during one call of ``refusal`` and must not be kept. The request that is being decided on is not part of
    it. If the terms of a live lease are to change, the lease is part of it with its old terms.

    :param plan: the plan of the site
    :param now: the present instant
    """

    def __init__(self, plan: Plan, now: int) -> None:
        self._plan = plan
        self._now = now

    @cached_property
    def live(self) -> tuple[Lease, ...]:
        """Leases that were granted or wait in the queue and have not ended, in the order of submission."""
        decided = (lease for lease in self._plan.leases.values() if lease.state not in _UNDECIDED)
        return tuple(sorted(decided, key=lambda lease: lease.sequence))

    @cached_property
    def queued(self) -> tuple[Lease, ...]:
        """Those of them that wait for a place, in the order of the queue."""
        return tuple(self._plan.queue.in_order())

    @cached_property
    def live_by_project(self) -> Mapping[str | None, tuple[Lease, ...]]:
        """Live leases of each project; None is the project of leases without one, as in simulations."""
        return _grouped(self.live, _project)

    @cached_property
    def queued_by_project(self) -> Mapping[str | None, tuple[Lease, ...]]:
        """Queued leases of each project."""
        return _grouped(self.queued, _project)

    @cached_property
    def live_by_origin(self) -> Mapping[str | None, tuple[Lease, ...]]:
        """Live leases of each peer; None is the origin of local leases."""
        return _grouped(self.live, _origin)

    @cached_property
    def queued_by_origin(self) -> Mapping[str | None, tuple[Lease, ...]]:
        """Queued leases of each peer; None is the origin of local leases."""
        return _grouped(self.queued, _origin)

    @cached_property
    def capacity(self) -> Resources:
        """Total capacity of the hosts in service."""
        return self._total(self._plan.availability.capacity)

    @cached_property
    def used(self) -> Resources:
        """The part of ``capacity`` that leases use now."""
        availability = self._plan.availability
        return self._total(availability.capacity - availability.free_at(self._now))

    def next_shortage(self, needed: Resources) -> int | None:
        """Return the first instant from now on at which the site has less free than this, or None if it never has.

        The free amounts of all hosts are added up. So there may be a shortage earlier for what must be on one host, and
        hosts that are out of service count from the instant at which they are expected back. Queued leases without a
        place do not count.

        :param needed: amounts; of a class that the site does not have there is always a shortage
        """
        if not set(needed) <= set(self._plan.classes):
            return self._now
        instants, free = self._plan.availability.free_in_all(self._now)
        amounts = np.array([needed.get(name, 0) for name in self._plan.classes], dtype=np.int64)
        is_short = (free[: len(amounts)] < amounts[:, None]).any(axis=0)
        return int(instants[is_short.argmax()]) if is_short.any() else None

    @cached_property
    def _in_service(self) -> IntArray:
        """Numbers of the hosts that are in service."""
        return np.array(
            [host for host in range(len(self._plan.site)) if host not in self._plan.outages], dtype=np.int64
        )

    def _total(self, amounts: IntArray) -> Resources:
        """Return the sum over the hosts in service.

        :param amounts: shape (classes, hosts)
        """
        totals = amounts[: len(self._plan.classes), self._in_service].sum(axis=1).tolist()
        return Resources(dict(zip(self._plan.classes, totals, strict=True)))


def _project(lease: Lease) -> str | None:
    return lease.request.user


def _origin(lease: Lease) -> str | None:
    return lease.request.origin


def _grouped(leases: Iterable[Lease], key: Callable[[Lease], str | None]) -> dict[str | None, tuple[Lease, ...]]:
    found: dict[str | None, list[Lease]] = {}
    for lease in leases:
        found.setdefault(key(lease), []).append(lease)
    return {name: tuple(each) for name, each in found.items()}
