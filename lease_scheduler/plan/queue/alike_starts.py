"""Alike starts: places for many queued leases that need the same and start at the same instant.

When many of them start at once, each gets the place that it would get by itself, but the hosts are ordered only once:
a lease changes the order of no hosts but its own.
"""

from __future__ import annotations

from collections.abc import Hashable
from functools import reduce
from heapq import heappop, heappush
from typing import Any, cast

import numpy as np

from lease_scheduler.model.holding import Holding
from lease_scheduler.model.lease import Lease, LeaseRequest
from lease_scheduler.plan.capacity.availability import FOREVER, IntArray
from lease_scheduler.plan.capacity.demand import Demand
from lease_scheduler.plan.context import PlanningContext
from lease_scheduler.plan.fitting.hosts_by_keys import HostsByKeys, by_keys
from lease_scheduler.plan.fitting.mapper import hosts_at
from lease_scheduler.plan.fitting.phases import build_holding
from lease_scheduler.plan.fitting.queue_filter import need_of
from lease_scheduler.plan.interfaces import HostsAt

_Entry = tuple[tuple[Any, ...], int]

#: This many leases of a kind in a row get their places in the ordinary way first, because sorting the hosts costs as
#: much as placing one lease.
_FIRST = 3


class AlikeStarts:
    """Places for leases that are alike, in one pass over the queue.

    The first leases of a kind get their places in the ordinary way. Those of the same kind that follow get theirs here,
    and are put into the plan all at once: when ``enter`` is called, before anything else looks at the plan.

    :param context: what planning needs
    :param now: when the leases start
    :param is_possible: whether any leases may be placed here
    """

    def __init__(self, context: PlanningContext, now: int, *, is_possible: bool = True) -> None:
        self._is_possible = is_possible and _can_be_alike(context)
        self._context = context
        self._now = now
        self._kind: Hashable = None
        self._in_a_row = 0
        self._hosts: _HostOrder | None = None
        self._placed: list[Lease] = []

    @property
    def has_room(self) -> bool:
        """Whether leases wait for ``enter`` and more of their kind could start. False does not mean that none could."""
        return bool(self._placed) and self._hosts is not None and self._hosts.has_room

    def holding_for(self, lease: Lease) -> Holding | None:
        """Return the holding for a lease that starts now; None if it has to be looked for in the ordinary way."""
        if self._in_a_row < _FIRST or self._kind_of(lease) != self._kind:
            return None
        context, request = self._context, lease.request
        end = self._now + need_of(context, lease).longest
        if self._hosts is None:
            self._hosts = _HostOrder.of(context, request, self._now, end)
        assignment = None if self._hosts is None else self._hosts.choose(request.node_count)
        if assignment is None:
            self._in_a_row = 0
            return None
        return build_holding(context, request, assignment, self._now, end, lease.remaining, None, self._now)

    def take(self, lease: Lease) -> Lease:
        """Keep a lease with the holding that was returned for it, until ``enter``."""
        assert self._hosts is not None
        self._hosts.take()
        self._placed.append(lease)
        return lease

    def follow(self, lease: Lease) -> None:
        """Note that a lease got its place in the ordinary way: those like it may follow."""
        kind = self._kind_of(lease)
        self._in_a_row = 0 if kind is None else self._in_a_row + 1 if kind == self._kind else 1
        self._kind = kind

    def enter(self) -> None:
        """Put all leases that were taken into the plan."""
        if self._placed:
            placed, self._placed = self._placed, []
            self._context.plan.put_all(placed)
        self._hosts = None

    def _kind_of(self, lease: Lease) -> Hashable:
        """Return a key that is equal for leases placed alike, or None for a lease that is always placed by itself."""
        request = lease.request
        if not self._is_possible or lease.saved_on is not None or len(request.nodes) != 1:
            return None
        if request.nodes[0].least_resources is not None or request.nodes[0].count_range is not None:
            # Its size, or the number of its nodes, follows from what is free where it starts.
            return None
        need = need_of(self._context, lease)
        return need.alike, need.longest, request.duration


def _can_be_alike(context: PlanningContext) -> bool:
    """Return whether the policies and options let leases be placed alike."""
    return (
        context.plan.images is None
        and not context.duration.shortens
        # Not by type, as the service passes proxies.
        and context.mapper.fills_in_order
        and context.selection.sorts_by_keys
    )


class _HostOrder:
    """The hosts that are free for leases of a kind from now until they end, in the order in which they are filled.

    Hosts that no lease of the kind has got yet are in the order of their keys; the others are in a heap.

    :param demand: what one node needs
    :param hosts: the hosts as they are now
    :param used: what is used of each of them now, shape (classes + 1, hosts); the last row counts leases
    :param fitting: how many nodes fit on each of them for the whole time, shape (hosts,)
    """

    def __init__(
        self,
        context: PlanningContext,
        request: LeaseRequest,
        demand: Demand,
        span: tuple[int, int],
        hosts: HostsAt,
        used: IntArray,
        fitting: IntArray,
    ) -> None:
        selection = self._selection = cast(HostsByKeys, context.selection)
        self._request = request
        self._demand = demand
        self._start, self._end = span
        self._numbers = hosts.numbers
        self._capacity = context.plan.availability.capacity.take(hosts.numbers, axis=1)
        self._used = used
        self._fitting = fitting.tolist()
        self._until: list[int] = (hosts.unchanged + self._start).tolist()
        keys = selection.keys(hosts, request)
        self._keys = list(zip(*(key.tolist() for key in keys), strict=True))
        self._untouched = iter(by_keys(keys).tolist())
        self._next: int | None = next(self._untouched, None)
        self._touched: list[_Entry] = []
        self._chosen: dict[int, int] = {}
        # Use after a change at the very instant at which the leases end. If a host is then used as much as with them,
        # nothing changes.
        at_end = (hosts.unchanged + self._start == self._end).nonzero()[0]
        later = context.plan.availability.at(self._end, hosts.numbers[at_end])
        self._after = {
            host: (later[0][:, column], int(later[1][column])) for column, host in enumerate(at_end.tolist())
        }

    @classmethod
    def of(cls, context: PlanningContext, request: LeaseRequest, start: int, end: int) -> _HostOrder | None:
        """Return the order of the hosts for leases like this one; None if they are not placed alike."""
        if end >= FOREVER:
            return None
        availability, (demand,) = context.plan.availability, context.plan.demands(request)
        fitting = availability.places(demand.amounts, demand.eligible).on_hosts(start, end)
        numbers = fitting.nonzero()[0]
        hosts = hosts_at(availability, start, end, numbers)
        used, _ = availability.at(start, numbers)
        return cls(context, request, demand, (start, end), hosts, used, fitting[numbers])

    @property
    def has_room(self) -> bool:
        """Whether one more node fits."""
        return self._next is not None or bool(self._touched)

    def choose(self, count: int) -> tuple[int, ...] | None:
        """Return a host for each node of a lease, or None. Nothing changes unless ``take`` follows."""
        if self._chosen:
            self._give_back()
        assignment: list[int] = []
        while count:
            host = self._pop()
            if host is None:
                return None
            places = self._fitting[host]
            if self._demand.per_host is not None:
                places = min(places, self._demand.per_host)
            taken = self._chosen[host] = min(places, count)
            assignment += [int(self._numbers[host])] * taken
            count -= taken
        return tuple(assignment)

    def take(self) -> None:
        """Give the chosen hosts to the lease."""
        hosts = np.fromiter(self._chosen, dtype=np.int64, count=len(self._chosen))
        taken = np.fromiter(self._chosen.values(), dtype=np.int64, count=len(hosts))
        self._used[:-1, hosts] += self._demand.amounts[:, None] * taken
        self._used[-1, hosts] += 1
        for host, nodes in self._chosen.items():
            self._fitting[host] -= nodes
            self._until[host] = self._unchanged_until(host)
        left = [host for host in self._chosen if self._fitting[host]]
        self._chosen = {}
        if left:
            self._push(left)

    def _unchanged_until(self, host: int) -> int:
        if host not in self._after:
            return min(self._until[host], self._end)
        use, until = self._after[host]
        return until if bool((use == self._used[:, host]).all()) else self._end

    def _push(self, hosts: list[int]) -> None:
        """Insert hosts into the order by their present keys."""
        capacity, used = self._capacity[:, hosts], self._used[:, hosts]
        shares = (capacity - used[:-1]) / np.maximum(capacity, 1)
        now = HostsAt(
            numbers=self._numbers[hosts],
            leases=used[-1],
            # Row by row: the sum over the classes of one host would be rounded differently from that of many hosts.
            free=reduce(np.add, shares) / len(shares),
            unchanged=np.array([self._until[host] - self._start for host in hosts], dtype=np.int64),
        )
        keys = zip(*(key.tolist() for key in self._selection.keys(now, self._request)), strict=True)
        for host, key in zip(hosts, keys, strict=True):
            heappush(self._touched, (key, host))

    def _pop(self) -> int | None:
        """Remove the first host from the order and return it, or None."""
        if self._next is None:
            return heappop(self._touched)[1] if self._touched else None
        if self._touched and self._touched[0] < (self._keys[self._next], self._next):
            return heappop(self._touched)[1]
        host, self._next = self._next, next(self._untouched, None)
        return host

    def _give_back(self) -> None:
        """Put the hosts of a choice that was not taken back into the order."""
        hosts, self._chosen = list(self._chosen), {}
        self._push(hosts)
