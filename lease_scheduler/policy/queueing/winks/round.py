"""One pass over the queue: whose lease is next, and when it may start at the latest (Grit 2007, section 5.5)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

from lease_scheduler.model.holding import Holding
from lease_scheduler.model.lease import Lease, LeaseRequest
from lease_scheduler.plan.interfaces import QueueRound, Turn
from lease_scheduler.policy.queueing.winks.flow_queue import Group, QueuedRequest
from lease_scheduler.policy.queueing.winks.shares import Flow, ServiceOrder, Shares, TrialShares
from lease_scheduler.policy.queueing.winks.state import Charge

_ANY = float("inf")


class FlowRound:
    """A pass over the queue. The flows themselves do not change: what is placed is charged when it is certain.

    :param shares: the flows, with everything that is queued
    :param queue: the round
    :param charges: what was charged for leases, by id
    :param cost_of: returns what a lease costs for a number of seconds
    :ivar shares: the flows without what has got a place
    :ivar share: cost that a flow of weight 1 may use of a window
    :ivar refused: whether shares refused a lease that those of a later window may let start
    """

    def __init__(
        self,
        shares: Shares,
        queue: QueueRound,
        charges: Mapping[str, Charge],
        cost_of: Callable[[Lease, int], int],
    ) -> None:
        self._queue = queue
        self._charges = charges
        self._cost_of = cost_of
        self.refused = False
        #: Whether shares refused any lease at all.
        self._has_refused = False
        self._grows = shares.grows_with_next_window(queue.now)
        self.shares = TrialShares(shares)
        self.share = self.shares.share_per_weight(queue.now)
        #: Node counts and durations for which no place was found, none of them at least as large as another one, by
        #: what the leases need. Those that the share of a flow refused are for that flow only.
        self._no_place: dict[tuple[Group, str | None], list[tuple[int, int]]] = {}
        #: Node counts, durations and earliest starts of leases that the shares of their flows refused, by what they
        #: need. It is emptied when a lease gets a place, because others may then start only later.
        self._starts: dict[Group, list[tuple[int, int, int]]] = {}

    def look_aside(self, waiting: list[Lease]) -> Iterator[Turn]:
        """Yield the turns of preempted leases: they get the earliest place, and no more nodes than were charged."""
        for lease in waiting:
            yield Turn(lease, may_grow=self._as_charged(lease))

    def left_over(self, waiting: list[Lease]) -> Iterator[Turn]:
        """Yield the turns of preempted leases of flows that have their shares: they use what the others leave."""
        for lease in waiting:
            yield Turn(lease, self._queue.now, may_grow=self._as_charged(lease))

    def turns(self) -> Iterator[Turn]:
        """Yield the turns of the flows, lowest clock first."""
        yield from self._in_order(self._turns_of)

    def spare_turns(self) -> Iterator[Turn]:
        """Yield the turns of leases that shares have refused, if they may use hosts that would stay idle (P19d).

        They start at once or wait, so no flow can fill the window with them.
        """
        if self.shares.has_spare and self._has_refused:
            yield from self._in_order(self._spare_turns_of)

    def _in_order(self, turns_of: Callable[[Flow], Iterator[tuple[Turn, int]]]) -> Iterator[Turn]:
        order = ServiceOrder(self.shares.flows.values())
        while (flow := order.next()) is not None:
            for turn, position in turns_of(flow):
                yield turn
                placed = self._queue.placed.get(turn.lease.lease_id)
                if placed is not None:
                    self._starts.clear()
                    start, flow = placed.holdings[0].start, self.shares.copied(flow)
                    if placed.request.nodes is not turn.lease.request.nodes:
                        granted = flow.queue.requests[position]
                        cost = self._cost_of(placed, granted.duration)
                        flow.queue.correct(position, replace(granted, cost=cost))
                    self.shares.schedule(flow, position, start, self._queue.now, self.share)
                    order.again(flow)
                    break

    def _turns_of(self, flow: Flow) -> Iterator[tuple[Turn, int]]:
        """Yield the turns of the leases of a flow that may find a place, in its order, each with its position."""
        now, window = self._queue.now, self.shares.options.window
        most = self.shares.most_allowed(flow, now, self.share)
        if self._has_none(flow, most):
            return
        for position, request in enumerate(flow.queue.requests):
            if request.is_wide and request.needed > most:
                if request.key in self._queue.waiting:
                    share = self.share * float(flow.weight)
                    self._note_share(lasts=self.shares.is_too_costly(request, share))
                continue
            size, group = (request.width, request.duration), (request.kind, request.is_wide)
            if self._is_too_large(size, group, flow.name):
                continue
            lease = self._queue.waiting.get(request.key)
            if lease is None:
                continue
            refused: list[Holding] = []
            is_refused = request.is_wide and self._is_refused(flow, request, group)
            if not is_refused:
                latest = now + window if request.is_wide else now
                in_share = self._in_share(flow, request, lease)
                yield Turn(lease, latest, self._test(flow, request, refused), in_share), position
                if refused:
                    self._starts.setdefault(group, []).append((*size, refused[-1].start))
            if lease.lease_id not in self._queue.placed:
                # A lease that is neither narrower nor shorter than one that was refused is refused too.
                self._note_refusal(size, group, flow.name if refused or is_refused else None)
        if not self.shares.has_changed(flow):
            flow.queue.tighten()

    def _spare_turns_of(self, flow: Flow) -> Iterator[tuple[Turn, int]]:
        for position, request in enumerate(flow.queue.requests):
            size, group = (request.width, request.duration), (request.kind, request.is_wide)
            lease = self._queue.waiting.get(request.key)
            # Narrow leases were never refused, and have had their turn.
            if lease is None or not request.is_wide or self._has_no_place(size, group, None):
                continue
            yield Turn(lease, self._queue.now, may_grow=_no_more), position
            if lease.lease_id not in self._queue.placed:
                self._note_refusal(size, group, None)

    def _note_share(self, *, lasts: bool = False) -> None:
        """Note that shares have refused a lease.

        :param lasts: whether they refuse it in every window, unless they become larger
        """
        self._has_refused = True
        self.refused = self.refused or not lasts or self._grows

    def _is_refused(self, flow: Flow, request: QueuedRequest, group: Group) -> bool:
        """Return whether the share of its flow refuses a lease wherever its place is, without a search for that.

        It would fit into the place of a lease that is at least as wide and as long, so it starts no later than there.
        """
        found = [
            start
            for nodes, seconds, start in self._starts.get(group, ())
            if request.width <= nodes and request.duration <= seconds
        ]
        if not found:
            return False
        # Leases are planned no further ahead than a window is long, so the instants are in all windows in between.
        instants = self._queue.now, min(found)
        if any(self.shares.may_start(flow, request, instant, self.share) for instant in instants):
            return False
        self._note_share()
        return True

    def _has_none(self, flow: Flow, most: float) -> bool:
        """Return whether nothing of a flow can find a place, without a look at each of its requests.

        :param most: largest cost of a wide request that the flow may start; those that cost more have to be looked at
        """
        return all(
            (most == _ANY or not group[1]) and self._is_too_large(smallest, group, flow.name)
            for group, smallest in flow.queue.smallest.items()
        )

    def _is_too_large(self, size: tuple[int, int], group: Group, flow: str) -> bool:
        return self._has_no_place(size, group, None) or self._has_no_place(size, group, flow)

    def _has_no_place(self, size: tuple[int, int], group: Group, flow: str | None) -> bool:
        width, duration = size
        return any(width >= nodes and duration >= seconds for nodes, seconds in self._no_place.get((group, flow), ()))

    def _note_refusal(self, size: tuple[int, int], group: Group, flow: str | None) -> None:
        width, duration = size
        known = self._no_place.get((group, flow), ())
        self._no_place[group, flow] = [
            *(each for each in known if each[0] < width or each[1] < duration),
            size,
        ]

    def _test(self, flow: Flow, request: QueuedRequest, refused: list[Holding]) -> Callable[[Holding], bool]:
        def accepts(holding: Holding) -> bool:
            if self.shares.may_start(flow, request, holding.start, self.share):
                return True
            refused.append(holding)
            self._note_share()
            return False

        return accepts

    def _in_share(self, flow: Flow, request: QueuedRequest, lease: Lease) -> Callable[[LeaseRequest, Holding], bool]:
        def may_grow(terms: LeaseRequest, holding: Holding) -> bool:
            cost = self._cost_of(replace(lease, request=terms), request.duration)
            return self.shares.may_grow(flow, cost, holding.start, self.share)

        return may_grow

    def _as_charged(self, lease: Lease) -> Callable[[LeaseRequest, Holding], bool]:
        charge = self._charges[lease.lease_id]

        def may_grow(terms: LeaseRequest, holding: Holding) -> bool:
            return self._cost_of(replace(lease, request=terms), charge.duration) <= charge.cost

        return may_grow


def _no_more(terms: LeaseRequest, holding: Holding) -> bool:
    """Refuse everything beyond the least that a lease accepts."""
    return False


def waiting_again(queue: QueueRound, charges: Mapping[str, Charge]) -> list[Lease]:
    """Return the queued leases that were served before and lost their hosts, in the order in which they go on.

    :param charges: what was charged for leases, by id
    """
    waiting = [queue.waiting[lease_id] for lease_id in charges.keys() & queue.waiting.keys()]
    return sorted(waiting, key=lambda lease: (charges[lease.lease_id].tag, lease.sequence))
