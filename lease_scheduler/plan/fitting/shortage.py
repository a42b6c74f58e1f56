"""The shortage of a request that does not fit at its start, for policies that choose sets of victims."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property

import numpy as np

from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.lease import Lease, LeaseRequest
from lease_scheduler.model.resources import MEMORY_MB
from lease_scheduler.model.states import LeaseState
from lease_scheduler.plan.capacity.demand import Demand
from lease_scheduler.plan.fitting.candidates import Block, Gains, Stack, members, packed
from lease_scheduler.plan.fitting.image_constraints import at_start
from lease_scheduler.plan.plan import Plan

_WITH_SERVERS = frozenset({LeaseState.ACTIVE, LeaseState.SUSPENDING, LeaseState.RESUMING, LeaseState.RESUMED_READY})

#: What a lease uses of a host: first second, first second after, amounts of each class.
_Use = tuple[int, int, list[int]]


class Shortage:
    """What a request lacks in an interval, and what leases would give it by leaving. Computed when first asked for.

    Preempting a lease releases all of its nodes for the whole interval. A node stays on its host, so only nodes that
    fit on one and the same host throughout count.

    :param plan: the plan
    :param request: the terms
    :param start: first second of the interval
    :param end: first second after it
    :param makes_room: returns whether the request has a place once these leases have left, each of which keeps its
        deadline; without a request, only whether they can leave
    """

    def __init__(
        self,
        plan: Plan,
        request: LeaseRequest,
        start: int,
        end: int,
        makes_room: Callable[[LeaseRequest | None, Sequence[Lease]], bool],
    ) -> None:
        self._plan = plan
        self._request = request
        self._start = start
        self._end = end
        self._makes_room = makes_room

    @cached_property
    def _demands(self) -> tuple[Demand, ...]:
        return at_start(self._plan, self._request, self._start)

    def memory(self, request: LeaseRequest) -> list[int]:
        """Return the MB of memory of each node of a request, its share of the host if the request does not name it."""
        found: list[int] = []
        for node_set in request.nodes:
            size = node_set.resources.get(MEMORY_MB, 0) or self._plan.share_of_host(node_set, MEMORY_MB)
            found += [size] * node_set.count
        return found

    def runs(self, lease: Lease) -> bool:
        """Return whether a lease has nodes that would have to leave hosts of the interval."""
        first = lease.holdings[0]
        return lease.state in _WITH_SERVERS and first.start < self._end and self._start < first.end

    def can_leave(self, lease: Lease) -> bool:
        """Return whether a lease that is preempted alone still has a place by its deadline, if it has one."""
        return lease.kind is not LeaseKind.DEADLINE or self._makes_room(None, [lease])

    def is_met_by(self, leases: Sequence[Lease]) -> bool:
        """Return whether the request has a place once these leases are preempted together, deadlines included.

        ``gains`` knows that already, unless deadlines or several node sets depend on one another.
        """
        is_certain = len(self._request.nodes) == 1 and all(lease.kind is not LeaseKind.DEADLINE for lease in leases)
        return is_certain or self._makes_room(self._request, leases)

    def gains(self, leases: Sequence[Lease]) -> Gains | None:
        """Return what the leases would give, or None if the request lacks nothing or they cannot give enough.

        Leases are numbered by their places in the sequence. The number of free places of each node set is computed for
        the set by itself, as if the others were not there.
        """
        plan, start, end = self._plan, self._start, self._end
        present = plan.availability.within(start, end)
        emptied = plan.without(leases, start, until=end, base=present)
        missing, gained = [], []
        for demand in self._demands:
            free = present.places(demand.amounts, demand.eligible, demand.per_host).on_hosts(start, end)
            most = emptied.places(demand.amounts, demand.eligible, demand.per_host).on_hosts(start, end)
            missing.append(max(0, demand.count - int(free.sum())))
            gained.append(most - free)
            if int(most.sum()) < demand.count:
                return None
        if not any(missing):
            return None
        useful = {int(host) for host in np.logical_or.reduce([each > 0 for each in gained]).nonzero()[0]}
        on_host: dict[int, int] = {}
        for number, lease in enumerate(leases):
            for host in self._hosts(lease) & useful:
                on_host[host] = on_host.get(host, 0) | 1 << number
        blocks: dict[int, int] = {}
        stacks: list[Stack] = []
        for host, there in on_host.items():
            if there & (there - 1) == 0 or self._each_blocks(host, [leases[number] for number in members(there)]):
                blocks[there] = blocks.get(there, 0) + packed([int(each[host]) for each in gained])
            else:
                stacks.append(Stack(there, _Host(self, host, {n: leases[n] for n in members(there)}).gain))
        return Gains(len(leases), missing, [Block(there, gain) for there, gain in blocks.items()], stacks)

    def _hosts(self, lease: Lease) -> set[int]:
        """Return the hosts that a lease holds in the interval."""
        return {host for r in lease.holdings if r.start < self._end and self._start < r.end for host in r.assignment}

    def _each_blocks(self, host: int, leases: Sequence[Lease]) -> bool:
        """Return whether no node of the request fits on a host while any of these leases is there."""
        capacity = self._plan.availability.capacity[:, host].tolist()
        return all(
            any(_places(demand, [c - u for c, u in zip(capacity, used, strict=True)]) == 0 for _, _, used in uses)
            for lease in leases
            for uses in (self.uses(lease, host),)
            for demand in self._demands
        )

    def uses(self, lease: Lease, host: int) -> list[_Use]:
        """Return what a lease uses of a host in the interval."""
        found = []
        for held in lease.holdings:
            if held.start < self._end and self._start < held.end and host in held.assignment:
                hosts, amounts = self._plan.holding(lease.request, held.assignment)
                column = int(hosts.searchsorted(host))
                begin, until = max(held.start, self._start), min(held.end, self._end)
                found.append((begin, until, amounts[:-1, column].tolist()))
        return found

    def places(self, host: int, released: Sequence[_Use]) -> list[int]:
        """Return how many nodes of each node set fit on a host throughout, once some of its use is released."""
        instants, free = self._steps(host)
        marks = sorted({*instants, *(mark for begin, end, _ in released for mark in (begin, end)), self._start})
        least = [demand.count for demand in self._demands]
        for mark in marks:
            if not self._start <= mark < self._end:
                continue
            there = list(free[max(0, int(np.searchsorted(instants, mark, side="right")) - 1)])
            for begin, end, amounts in released:
                if begin <= mark < end:
                    there = [f + a for f, a in zip(there, amounts, strict=True)]
            least = [min(n, _places(d, there)) for n, d in zip(least, self._demands, strict=True)]
        return least

    def _steps(self, host: int) -> tuple[list[int], list[list[int]]]:
        instants, free = self._plan.availability.on_host(host, self._start, self._end)
        return instants.tolist(), free.T.tolist()


class _Host:
    """A host where some leases free places alone, and others only together.

    :param leases: leases there by their numbers
    """

    def __init__(self, shortage: Shortage, host: int, leases: dict[int, Lease]) -> None:
        self._shortage = shortage
        self._host = host
        self._uses = {number: shortage.uses(lease, host) for number, lease in leases.items()}
        self._known: dict[int, int] = {}
        self._free = packed(shortage.places(host, ()))

    def gain(self, left: int) -> int:
        """Return the number of places, packed, that are free once these leases have left; 0 if none has."""
        known = self._known.get(left)
        if known is None:
            released = [use for number in members(left) for use in self._uses[number]]
            known = self._known[left] = packed(self._shortage.places(self._host, released)) - self._free
        return known


def _places(demand: Demand, free: Sequence[int]) -> int:
    """Return how many nodes of a demand fit into free amounts of each class."""
    fitting = [max(0, f // n) for f, n in zip(free, demand.amounts.tolist(), strict=True) if n]
    return min([*fitting, *([] if demand.per_host is None else [demand.per_host])], default=0)
