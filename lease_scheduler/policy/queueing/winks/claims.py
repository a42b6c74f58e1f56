"""Preemption by share: which leases may be suspended for which (Grit 2007, section 5.6.1; shirako F105, A28, P19m).

Flows are compared by what the plan gives them at one instant, the *least run* from now. Flows that hold something or
wait are entitled to parts of the site in proportion to their weights.

* A lease is suspended only if it has run for the least run since it last began, and would still run at that instant.
* Its flow holds more than its part, by the excess, and its clock is ahead of that of the flow that waits.
* The flow that waits holds less than its part, and its first queued lease has no place by that instant.
* Afterwards the flows together are nearer to their parts than before.

So hosts go only from flows above their parts to flows below them, and by the last condition no suspension is reversed
for the same reason. In an interval as long as the least run, no lease is suspended twice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from lease_scheduler.model.holding import Holding
from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.lease import Lease, LeaseRequest
from lease_scheduler.model.states import LeaseState
from lease_scheduler.plan.interfaces import Claim, Preemption, QueueRound, Turn, Victim
from lease_scheduler.policy.base import PolicyOptions
from lease_scheduler.policy.preemption.base import NEVER
from lease_scheduler.policy.queueing.winks.flow_queue import QueuedRequest
from lease_scheduler.policy.queueing.winks.shares import Flow, ServiceOrder, TrialShares

#: A pass ends after this many claims that got no place; the flows that are owed most come first.
_MOST_IN_VAIN = 8


@dataclass(frozen=True)
class PreemptionOptions:
    """When leases are suspended for the share of another flow.

    :ivar after: least run in seconds; 0 means that no lease is suspended for a share
    :ivar excess: by which part of its share a flow must exceed it before it loses something, at least 0
    """

    after: int = 0
    excess: float = 0.25

    @classmethod
    def of(cls, options: PolicyOptions) -> PreemptionOptions:
        """Return what the operator chose.

        :raises InvalidValueError: an option is wrong
        """
        return cls(options.integer("winks_preempt_after", 0), options.number("winks_preempt_excess", 0.25))


@dataclass(frozen=True)
class Held:
    """What a lease holds at the instant at which shares are compared.

    :ivar lease: the lease
    :ivar flow: name of its flow
    :ivar width: how much of the site it takes
    """

    lease: Lease
    flow: str
    width: int


@dataclass
class Balance:
    """What flows hold at an instant, and what they are entitled to.

    :param capacity: capacity of the site, in units of width
    :ivar used: width that each flow holds
    :ivar entitled: width that each flow is entitled to
    """

    capacity: int
    used: dict[str, int] = field(default_factory=dict)
    entitled: dict[str, float] = field(default_factory=dict)

    @classmethod
    def of(cls, capacity: int, held: Iterable[Held], weights: Mapping[str, float]) -> Balance:
        """Return the balance of these leases.

        :param weights: weight of each flow that holds or waits for something
        """
        balance = cls(capacity)
        for each in held:
            balance.used[each.flow] = balance.used.get(each.flow, 0) + each.width
        total = sum(weights.values())
        balance.entitled = {name: capacity * weight / total for name, weight in weights.items()}
        return balance

    def surplus(self, flow: str) -> float:
        """Return how much more a flow holds than it is entitled to; negative if it holds less."""
        return self.used.get(flow, 0) - self.entitled.get(flow, 0.0)

    def has_excess(self, flow: str, excess: float) -> bool:
        """Return whether a flow exceeds its share by more than this part of it."""
        return self.used.get(flow, 0) > self.entitled.get(flow, 0.0) * (1 + excess)

    def gain(self, flow: str, width: int, lost: Mapping[str, int]) -> float:
        """Return by how much all flows together come nearer to their shares if one gets what others lose."""
        before = abs(self.surplus(flow)) + sum(abs(self.surplus(other)) for other in lost)
        after = abs(self.surplus(flow) + width)
        return before - after - sum(abs(self.surplus(other) - less) for other, less in lost.items())

    def move(self, flow: str, width: int) -> None:
        """Note that a flow holds more, or less if the width is negative."""
        self.used[flow] = self.used.get(flow, 0) + width


class ShareVictims(Preemption):
    """Lets leases of flows with an excess be suspended, in the reverse order of service (shirako P19m).

    :param order: leases that may be suspended, by id, with their ranks from 0 on; the highest rank goes first
    """

    def __init__(self, order: Mapping[str, int]) -> None:
        self._order = order

    def score(self, preemptor: LeaseRequest, victim: Victim, instant: int) -> float:
        """See ``Preemption.score``."""
        lease = victim.lease
        rank = self._order.get(lease.lease_id)
        # What cannot be suspended would start over, and what was promised a lifetime keeps its hosts until then.
        if rank is None or not victim.overhead or (lease.assured_until is not None and instant < lease.assured_until):
            return NEVER
        return rank


class ShareClaims:
    """The claims of one pass over the queue.

    :param shares: the flows as they are after the turns of the pass; what gets a place leaves them
    :param options: when leases are suspended
    :param held: what leases hold at the instant at which shares are compared
    :param balance: what flows hold then
    :param tags: start tag of each lease that has been charged, by id
    :ivar again: when the next running lease completes its least run, and may be suspended; None if none will
    """

    def __init__(
        self,
        shares: TrialShares,
        options: PreemptionOptions,
        held: Sequence[Held],
        balance: Balance,
        tags: Mapping[str, int],
    ) -> None:
        self._shares = shares
        self._options = options
        self._held = {each.lease.lease_id: each for each in held}
        self._balance = balance
        self._tags = tags
        self.again: int | None = None

    def claims(self, queue: QueueRound, share_per_weight: float) -> Iterator[Claim]:
        """Yield the claims of the flows that hold less than their shares, the lowest clock first.

        :param queue: the round
        :param share_per_weight: see ``Shares.share_per_weight``
        """
        now = queue.now
        candidates = self._candidates(now)
        in_vain = 0
        order = ServiceOrder(flow for flow in self._shares.flows.values() if self._balance.surplus(flow.name) < 0)
        while candidates and in_vain < _MOST_IN_VAIN and (flow := order.next()) is not None:
            if self._balance.surplus(flow.name) >= 0:
                continue
            victims = self._victims(flow, candidates)
            position = self._first(flow, queue.waiting, now, share_per_weight) if victims else None
            if position is None:
                continue
            request = flow.queue.requests[position]
            suspended: list[Held] = []
            lease = queue.waiting[request.key]
            yield self._claim(flow, request, lease, victims, suspended, now, share_per_weight)
            taken = queue.placed.get(request.key)
            if taken is None:
                in_vain += 1
                continue
            flow = self._shares.copied(flow)
            if request.least_cost is not None:
                # It gets no more than it needs, because others are suspended for it.
                flow.queue.correct(position, replace(request, cost=request.least_cost))
            self._shares.schedule(flow, position, taken.holdings[0].start, now, share_per_weight)
            self._balance.move(flow.name, _width(request))
            for each in suspended:
                self._balance.move(each.flow, -each.width)
                del candidates[each.lease.lease_id]
            order.again(flow)

    def _candidates(self, now: int) -> dict[str, Held]:
        """Return what may be suspended for some flow, by lease id, in the order of service."""
        found = []
        for lease_id, each in self._held.items():
            lease = each.lease
            if lease_id not in self._tags or not _may_be_suspended(lease) or each.flow not in self._shares.flows:
                continue
            if not self._balance.has_excess(each.flow, self._options.excess):
                continue
            assert lease.active_since is not None
            ready = lease.active_since + self._options.after
            if ready > now:
                self.again = ready if self.again is None else min(self.again, ready)
            else:
                found.append(each)
        found.sort(key=lambda each: (self._tags[each.lease.lease_id], each.lease.sequence))
        return {each.lease.lease_id: each for each in found}

    def _first(self, flow: Flow, waiting: Mapping[str, Lease], now: int, share_per_weight: float) -> int | None:
        """Return the position of the first request of a flow that its share of the windows lets start, or None."""
        most = self._shares.most_allowed(flow, now, share_per_weight)
        for position, request in enumerate(flow.queue.requests):
            if request.key in waiting and not (request.is_wide and request.needed > most):
                return position
        return None

    def _victims(self, flow: Flow, candidates: Mapping[str, Held]) -> dict[str, int]:
        """Return the leases that may be suspended for a flow, with their ranks."""
        clock, excess = flow.queue.clock, self._options.excess
        return {
            lease_id: rank
            for rank, (lease_id, each) in enumerate(candidates.items())
            if each.flow != flow.name
            and self._shares.flows[each.flow].queue.clock > clock
            and self._balance.has_excess(each.flow, excess)
        }

    def _claim(
        self,
        flow: Flow,
        request: QueuedRequest,
        lease: Lease,
        victims: Mapping[str, int],
        suspended: list[Held],
        now: int,
        share_per_weight: float,
    ) -> Claim:
        def accepts(holding: Holding) -> bool:
            return self._shares.may_start(flow, request, holding.start, share_per_weight)

        def is_fair(chosen: Sequence[Lease]) -> bool:
            suspended[:] = [self._held[each.lease_id] for each in chosen]
            lost: dict[str, int] = {}
            for each in suspended:
                lost[each.flow] = lost.get(each.flow, 0) + each.width
            return self._balance.gain(flow.name, _width(request), lost) > 0

        turn = Turn(lease, now + self._options.after, accepts)
        return Claim(turn, ShareVictims(victims), is_fair)


def held_at(
    leases: Iterable[Lease], instant: int, flow_of: Callable[[Lease], str], width: Callable[[Lease], int]
) -> list[Held]:
    """Return what leases hold at an instant, by the plan."""
    return [
        Held(lease, flow_of(lease), width(lease))
        for lease in leases
        # Most leases of a long queue hold nothing.
        if lease.holdings and any(each.start <= instant < each.end for each in lease.holdings)
    ]


def split_by_surplus(
    waiting: Sequence[Lease],
    balance: Balance,
    flow_of: Callable[[Lease], str],
    width: Callable[[Lease], int],
    queued: Iterable[str],
) -> tuple[list[Lease], list[Lease]]:
    """Return the preempted leases that go on before the flows are served, and those that go on afterwards.

    The latter are those of flows that would hold more than their share while another flow that has queued leases holds
    no more than its own: they would take the place for which they were suspended, or the next one.

    :param waiting: the preempted leases, in the order in which they go on
    :param queued: flows that have queued leases
    """
    first: list[Lease] = []
    later: list[Lease] = []
    owed = {name for name in queued if balance.surplus(name) <= 0}
    for lease in waiting:
        flow = flow_of(lease)
        if owed - {flow} and balance.surplus(flow) + width(lease) > 0:
            later.append(lease)
        else:
            balance.move(flow, width(lease))
            first.append(lease)
    return first, later


def _may_be_suspended(lease: Lease) -> bool:
    """Return whether a lease runs and is of the kind that may be suspended for a share."""
    return lease.kind is LeaseKind.BEST_EFFORT and lease.state is LeaseState.ACTIVE and lease.active_since is not None


def _width(request: QueuedRequest) -> int:
    """Return how much of the site a queued request takes."""
    return request.needed // request.duration
