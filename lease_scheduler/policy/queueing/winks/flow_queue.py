"""The queue of one flow, with the start tags and finish tags of start-time fair queueing.

Goyal, Vin and Cheng 1997; Grit 2007, sections 5.3 and 5.4 (shirako F89, F91, F94-F96).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction

from lease_scheduler.model.weights import checked_weight

#: Tags are whole numbers, so that equal clocks are exactly equal. A cost of 1 advances the clock of a flow of weight 1
#: by this much. It has many divisors, so that the tags of flows with ordinary weights have no rounding error.
UNIT = 720_720_000_000


def tags_per_cost(weight: float | Fraction) -> int:
    """Return by how much a cost of 1 advances the clock of a flow of this weight.

    :raises InvalidValueError: see ``checked_weight``
    """
    checked_weight("weight", weight)
    exact = weight if isinstance(weight, Fraction) else Fraction(str(weight))
    return round(UNIT / exact)


@dataclass(frozen=True, slots=True)
class QueuedRequest:
    """A request in the queue of its flow.

    :ivar key: its id
    :ivar cost: width times duration; if it takes as much as is free, with the most that it may get (section 5.6.3)
    :ivar least_cost: cost of such a request with the least that it accepts, which is its ``width``; else None
    :ivar duration: how long it runs
    :ivar width: how much of the site it takes, in the unit of the site's capacity
    :ivar is_wide: whether it takes more than one place at the same time
    :ivar priority: within its flow, higher ones are served first
    :ivar order: position in the order of arrival
    :ivar kind: number of what it needs apart from the number of its nodes and its duration; see ``kinds.Kinds``
    :ivar gap: how much later it starts than the request before it ends, by the tags
    """

    key: str
    cost: int
    duration: int = 1
    width: int = 1
    is_wide: bool = False
    priority: int = 0
    order: int = 0
    kind: int = 0
    gap: int = 0
    least_cost: int | None = None

    @property
    def needed(self) -> int:
        """Cost for which it can be served at all."""
        return self.cost if self.least_cost is None else self.least_cost


#: Kind of requests, and whether they are wide.
Group = tuple[int, bool]


class FlowQueue:
    """The queued requests of a flow, in the order in which it wants them served.

    The start tag of a request is the finish tag of the one before it, or later if the flow had nothing eligible for a
    while: the difference is a gap, the share that the flow did not use and has lost. Only costs, gaps and the clock are
    kept. The tags follow from them, so no operation has to rewrite the tags of a long queue, and a change of the weight
    has effect from the present clock on.

    :param weight: weight of the flow
    :ivar requests: the queued requests
    :ivar clock: start tag of the first request; of an empty queue, the tag from which the next arrival continues
    :ivar gap_at_tail: gap after the last request; 0 for an empty queue
    :ivar smallest: by group, lower bounds of the width and of the duration of its requests
    """

    def __init__(self, weight: float | Fraction = 1) -> None:
        self.per_cost = tags_per_cost(weight)
        self.requests: list[QueuedRequest] = []
        self.clock = 0
        self.gap_at_tail = 0
        self.smallest: dict[Group, tuple[int, int]] = {}
        self._is_tight = True
        self._queued_cost = 0
        self._gaps = 0

    def set_weight(self, weight: float | Fraction) -> None:
        """Use another weight from now on."""
        self.per_cost = tags_per_cost(weight)

    @property
    def tail(self) -> int:
        """The finish tag from which the next arrival continues."""
        return self.clock + self._queued_cost * self.per_cost + self._gaps

    @property
    def total_gap(self) -> int:
        """Sum of all gaps of the queue, up to ``tail``."""
        return self._gaps

    def tags(self) -> list[tuple[int, int]]:
        """Return the start tag and the finish tag of each request."""
        found, at = [], self.clock
        for request in self.requests:
            start = at + request.gap
            at = start + request.cost * self.per_cost
            found.append((start, at))
        return found

    # -- arrivals and departures -------------------------------------------------------------------------

    def arrive(self, request: QueuedRequest, virtual_time: int) -> None:
        """Add a request behind those of its priority (sections 5.3 and 5.4.3).

        :param virtual_time: start tag of the request that the site served last
        """
        self._note_size(request)
        position = len(self.requests)
        while position and self._goes_before(request, self.requests[position - 1]):
            position -= 1
        if position < len(self.requests):
            self._insert(position, request)
            return
        lost = max(0, virtual_time - self.tail)
        gap = 0
        if self.requests:
            gap = self.gap_at_tail + lost
            self._gaps += lost
        else:
            self.clock += lost
        self.gap_at_tail = 0
        self._queued_cost += request.cost
        self.requests.append(_with_gap(request, gap))

    @staticmethod
    def _goes_before(request: QueuedRequest, other: QueuedRequest) -> bool:
        return (-request.priority, request.order) < (-other.priority, other.order)

    def _insert(self, position: int, request: QueuedRequest) -> None:
        """Insert a request before others, which follow later by its cost, up to a gap that is large enough."""
        self._queued_cost += request.cost
        self._push(position, request.cost * self.per_cost)
        self.requests.insert(position, _with_gap(request, 0))

    def put_back(self, request: QueuedRequest) -> None:
        """Take back what was promoted but has not run: its cost is refunded, and all tags are as before."""
        self._note_size(request)
        position = len(self.requests)
        while position and self._goes_before(request, self.requests[position - 1]):
            position -= 1
        self.clock -= request.cost * self.per_cost
        self._queued_cost += request.cost
        self.requests.insert(position, _with_gap(request, 0))

    def withdraw(self, position: int) -> QueuedRequest:
        """Remove a request that was not served; those behind it move up, as far as the next gap."""
        self._is_tight = False
        request = self.requests.pop(position)
        self._queued_cost -= request.cost
        self._leave_gap(position, request.gap)
        self._widen_first_gap(position, request.cost * self.per_cost)
        self._settle()
        return request

    def position(self, key: str) -> int | None:
        """Return the position of a request, or None if it is not queued."""
        return next((number for number, request in enumerate(self.requests) if request.key == key), None)

    def correct(self, position: int, request: QueuedRequest) -> None:
        """Replace a queued request by one with other terms; those behind it start earlier or later by the difference.

        :param request: the request, with the priority and order that it had
        """
        self._is_tight = False
        self._note_size(request)
        old = self.requests[position]
        self._queued_cost += request.cost - old.cost
        self.requests[position] = replace(request, gap=old.gap)

    def promote(self, position: int) -> tuple[QueuedRequest, int]:
        """Remove a request that is served now, possibly before others that cannot be (section 5.4.1).

        It gets the start tag of the first request, and those that it overtakes get later tags by its cost. A gap before
        it moves back by no more than the cost of one request, so that the flow cannot put off for ever what it has lost
        (section 5.4.2): if that is nearer to where the gap began, the request before the gap moves behind it.

        :return: the request and its start tag
        """
        self._is_tight = False
        request = self.requests[position]
        start, cost = self.clock, request.cost * self.per_cost
        before = position
        if self._gaps:
            while before and not self.requests[before].gap:
                before -= 1
        else:
            before = 0
        lost = self.requests[before].gap if before else 0
        del self.requests[position]
        self._queued_cost -= request.cost
        self.clock += cost
        self._leave_gap(position, request.gap)
        if lost:
            self._reorder(before - 1, lost, cost)
        self._settle()
        return request, start

    def _reorder(self, position: int, lost: int, cost: int) -> None:
        """Move the request at a position behind the gap that follows it, if the gap then begins nearer to its place.

        :param lost: length of the gap
        :param cost: by how much the gap has moved back
        """
        moved = self.requests[position]
        own = moved.cost * self.per_cost
        if abs(cost - own - moved.gap) >= cost:
            return
        gap = max(0, moved.gap + own + lost - cost)
        grown = gap - moved.gap
        self._set_gap(position, gap)
        follows = position + 1
        if follows == len(self.requests):
            left = self.gap_at_tail - grown
            self.gap_at_tail = max(0, left)
        else:
            left = self.requests[follows].gap - grown
            self._set_gap(follows, max(0, left))
        if left < 0:
            self._gaps -= left
            self._push(follows + 1, -left)

    def tighten(self) -> None:
        """Make the bounds of ``smallest`` exact. They are too low after requests have left the queue."""
        if self._is_tight:
            return
        self.smallest, self._is_tight = {}, True
        for request in self.requests:
            self._note_size(request)

    def _note_size(self, request: QueuedRequest) -> None:
        group = request.kind, request.is_wide
        width, duration = self.smallest.get(group, (request.width, request.duration))
        self.smallest[group] = min(width, request.width), min(duration, request.duration)

    # -- credits and charges -----------------------------------------------------------------------------

    def credit(self, cost: int) -> None:
        """Refund a cost that was charged and not used, as far as the first gap (sections 5.6.1 and 5.6.2)."""
        refund = cost * self.per_cost
        self.clock -= refund
        if self.requests:
            self._widen_first_gap(1, refund)

    def charge(self, cost: int) -> None:
        """Charge a cost beyond what was charged at the start: all tags grow (section 5.6.2)."""
        self.clock += cost * self.per_cost

    def catch_up(self, virtual_time: int) -> None:
        """Give up what an idle flow has not used so far."""
        if not self.requests:
            self.clock = max(self.clock, virtual_time)

    # -- gaps --------------------------------------------------------------------------------------------

    def _set_gap(self, position: int, gap: int) -> None:
        """Set the gap before a request. Copies of the queue keep the request as it was."""
        self.requests[position] = _with_gap(self.requests[position], gap)

    def gaps(self) -> dict[str, int]:
        """Return the gaps before requests, by key; the gap at the tail has the key ``""``."""
        if not self._gaps:
            return {}
        found = {request.key: request.gap for request in self.requests if request.gap}
        return {**found, "": self.gap_at_tail} if self.gap_at_tail else found

    def restore(self, clock: int, gaps: Mapping[str, int], requests: list[QueuedRequest]) -> None:
        """Go on with these requests, the clock, and the gaps as ``gaps`` returned them."""
        ordered = sorted(requests, key=lambda each: (-each.priority, each.order))
        self.requests = [_with_gap(request, gaps.get(request.key, 0)) for request in ordered]
        self.clock = clock
        self.gap_at_tail = gaps.get("", 0)
        self._queued_cost = sum(request.cost for request in self.requests)
        self._gaps = self.gap_at_tail + sum(request.gap for request in self.requests)
        self._settle()
        self._is_tight = False
        self.tighten()

    def copy(self) -> FlowQueue:
        """Return a copy, from which requests can be promoted without changing this queue."""
        found = FlowQueue.__new__(FlowQueue)
        found.per_cost, found.clock, found.gap_at_tail = self.per_cost, self.clock, self.gap_at_tail
        found._queued_cost, found._gaps = self._queued_cost, self._gaps
        found.smallest, found._is_tight = dict(self.smallest), self._is_tight
        found.requests = list(self.requests)
        return found

    def _leave_gap(self, position: int, gap: int) -> None:
        """Add the gap before a request that has left the queue to the gap that follows."""
        if not gap:
            return
        if position < len(self.requests):
            self._set_gap(position, self.requests[position].gap + gap)
        else:
            self.gap_at_tail += gap

    def _settle(self) -> None:
        """Advance the clock past a gap at the head of the queue: nothing before it can be served any more."""
        if self.requests:
            gap = self.requests[0].gap
            if gap:
                self.clock, self._gaps = self.clock + gap, self._gaps - gap
                self._set_gap(0, 0)
        else:
            self.clock, self._gaps, self.gap_at_tail = self.clock + self.gap_at_tail, 0, 0

    def _push(self, position: int, amount: int) -> None:
        """Make the requests from a position on start later, up to the first gap that is large enough to absorb it."""
        if not self._gaps:
            return
        for at in range(position, len(self.requests)):
            gap = self.requests[at].gap
            if gap >= amount:
                self._set_gap(at, gap - amount)
                self._gaps -= amount
                return
        if self.gap_at_tail >= amount:
            self.gap_at_tail -= amount
            self._gaps -= amount

    def _widen_first_gap(self, position: int, amount: int) -> None:
        """Widen the first gap from a position on, if there is one, so that what follows it keeps its tags."""
        if not self._gaps:
            return
        for at in range(position, len(self.requests)):
            gap = self.requests[at].gap
            if gap:
                self._set_gap(at, gap + amount)
                self._gaps += amount
                return
        if self.gap_at_tail:
            self.gap_at_tail += amount
            self._gaps += amount


def _with_gap(request: QueuedRequest, gap: int) -> QueuedRequest:
    """Return a request with a gap of this length before it."""
    return request if request.gap == gap else replace(request, gap=gap)
