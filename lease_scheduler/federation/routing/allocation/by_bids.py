"""The best bid first: soonest, cheapest, or with the fewest preemptions."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Collection
from math import inf

from lease_scheduler.federation.answers import Bid
from lease_scheduler.federation.routing.allocation.base import AllocationPolicy, Ranking
from lease_scheduler.federation.routing.question import Question
from lease_scheduler.federation.routing.state import RoutingState


class BestBid(AllocationPolicy):
    """Puts members in the order of their bids. Members without a bid come last; ties keep the configured order."""

    def wanted_bids(self, question: Question, asked: Collection[str]) -> tuple[str, ...]:
        """See ``AllocationPolicy.wanted_bids``. A single member is chosen in any case."""
        return tuple(name for name in question.among if name not in asked) if len(question.among) > 1 else ()

    def allocate(self, question: Question, state: RoutingState) -> Ranking:
        """See ``AllocationPolicy.allocate``."""
        bids = question.bids
        with_bids = sorted((name for name in question.members if name in bids), key=lambda name: self.rank(bids[name]))
        return Ranking((*with_bids, *(name for name in question.members if name not in bids)))

    @abstractmethod
    def rank(self, bid: Bid) -> tuple[float, ...]:
        """Return figures by which bids are ordered; the least is best."""


class Earliest(BestBid):
    """Prefers the earliest start, and then the earliest end."""

    def rank(self, bid: Bid) -> tuple[float, ...]:
        """See ``BestBid.rank``. A lease that would wait without a place starts last."""
        return start_of(bid), inf if bid.end is None else bid.end


class Cheapest(BestBid):
    """Prefers the lowest price, and then the earliest start. A member without prices costs nothing."""

    def rank(self, bid: Bid) -> tuple[float, ...]:
        """See ``BestBid.rank``."""
        return bid.price or 0.0, start_of(bid)


class LeastPreemption(BestBid):
    """Prefers the fewest preempted leases, then the best chance not to be preempted, and then the earliest start."""

    def rank(self, bid: Bid) -> tuple[float, ...]:
        """See ``BestBid.rank``."""
        return bid.preempts, -bid.survival, start_of(bid)


def start_of(bid: Bid) -> float:
    """Return the instant of the start, which is infinite for a lease that would wait without a place."""
    return inf if bid.start is None else bid.start
