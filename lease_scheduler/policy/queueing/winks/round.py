"""One pass over the queue: whose lease is next, and when it may start at the latest (Grit 2007, section 5.5)."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping
from dataclasses import replace

from lease_scheduler.model.holding import Holding
from lease_scheduler.model.lease import Lease
from lease_scheduler.plan.interfaces import QueueRound, Turn
from lease_scheduler.policy.queueing.winks.flow_queue import QueuedRequest
from lease_scheduler.policy.queueing.winks.shares import Flow, ServiceOrder, Shares


class FlowRound:
    """A pass over the queue. It works on copies of the flows: what is placed is charged when it is certain.

    :param shares: the flows, with everything that is queued
    :param queue: the round
    :ivar shares: copies of the flows, from which what gets a place is removed
    :ivar share: cost that a flow of weight 1 may use of a window
    :ivar refused: whether the share of a window was used up for a lease that may start in a later one
    """

    def __init__(self, shares: Shares, queue: QueueRound) -> None:
        self._queue = queue
        self.refused = False
        self._leases = {lease.lease_id: lease for lease in queue.queued}
        self.shares = Shares(shares.options, shares.capacity)
        self.shares.virtual_time = shares.virtual_time
        self.shares.flows = {
            flow.name: replace(flow, queue=flow.queue.copy(), windows=flow.windows.copy())
            for flow in shares.flows.values()
        }
        self.share = self.shares.share_per_weight(queue.now)
        #: Node counts and durations for which no place was found, by what the leases need. Those that the share of a
        #: flow refused are for that flow only.
        self._no_place: dict[tuple[Hashable, bool, str | None], list[tuple[int, int]]] = {}

    def look_aside(self, waiting: list[Lease]) -> Iterator[Turn]:
        """Yield the turns of preempted leases, which get the earliest place that there is."""
        yield from map(Turn, waiting)

    def left_over(self, waiting: list[Lease]) -> Iterator[Turn]:
        """Yield the turns of preempted leases of flows that have their shares: they use what the others leave."""
        for lease in waiting:
            yield Turn(lease, self._queue.now)

    def turns(self, shape_of: Callable[[Lease], Hashable]) -> Iterator[Turn]:
        """Yield the turns of the flows, lowest clock first.

        :param shape_of: what a lease needs, apart from the number of its nodes and its duration
        """
        order = ServiceOrder(self.shares.flows.values())
        while (flow := order.next()) is not None:
            for turn, position in self._turns_of(flow, shape_of):
                yield turn
                placed = self._queue.placed.get(turn.lease.lease_id)
                if placed is not None:
                    start = placed.holdings[0].start
                    self.shares.schedule(flow, position, start, self._queue.now, self.share)
                    order.again(flow)
                    break

    def _turns_of(self, flow: Flow, shape_of: Callable[[Lease], Hashable]) -> Iterator[tuple[Turn, int]]:
        """Yield the turns of the leases of a flow that may find a place, in its order, each with its position."""
        now, window = self._queue.now, self.shares.options.window
        most = self.shares.most_allowed(flow, now, self.share)
        for position, request in enumerate(flow.queue.requests):
            lease = self._leases.get(request.key)
            if lease is None:
                continue
            if request.is_wide and request.cost > most:
                share = self.share * float(flow.weight)
                self.refused = self.refused or not self.shares.is_too_costly(request, share)
                continue
            shape, size = shape_of(lease), (request.width, request.duration)
            if self._is_too_large(size, shape, request.is_wide, flow.name):
                continue
            refused: list[Holding] = []
            latest = now + window if request.is_wide else now
            yield Turn(lease, latest, self._test(flow, request, refused)), position
            if lease.lease_id not in self._queue.placed:
                # A lease that is neither narrower nor shorter than one that was refused is refused too.
                key = (shape, request.is_wide, flow.name if refused else None)
                self._no_place.setdefault(key, []).append(size)

    def _is_too_large(self, size: tuple[int, int], shape: Hashable, is_wide: bool, flow: str) -> bool:
        return any(
            size[0] >= nodes and size[1] >= seconds
            for of_flow in (None, flow)
            for nodes, seconds in self._no_place.get((shape, is_wide, of_flow), ())
        )

    def _test(self, flow: Flow, request: QueuedRequest, refused: list[Holding]) -> Callable[[Holding], bool]:
        def accepts(holding: Holding) -> bool:
            if self.shares.may_start(flow, request, holding.start, self.share):
                return True
            refused.append(holding)
            self.refused = True
            return False

        return accepts


def needs(lease: Lease, known: dict[str, Hashable]) -> Hashable:
    """Return what a lease needs, apart from the number of its nodes and its duration.

    :param known: results by lease id
    """
    found = known.get(lease.lease_id)
    if found is None:
        request = lease.request
        nodes: Hashable = request.nodes
        if len(request.nodes) == 1:
            nodes = replace(request.nodes[0], count=1, boots=())
        found = known[lease.lease_id] = (nodes, request.software, request.preemptible, request.preemption_mode)
    return found


def waiting_again(queue: QueueRound, tags: Mapping[str, int]) -> list[Lease]:
    """Return the queued leases that were served before and lost their hosts, in the order in which they go on.

    :param tags: start tag of each lease that has been charged
    """
    waiting = [lease for lease in queue.queued if lease.lease_id in tags]
    return sorted(waiting, key=lambda lease: (tags[lease.lease_id], lease.sequence))
