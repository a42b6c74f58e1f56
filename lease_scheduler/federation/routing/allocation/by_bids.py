"""The best bid first: soonest, cheapest, or with the fewest preemptions."""

from __future__ import annotations

from abc import abstractmethod
from math import inf
from typing import ClassVar

from lease_scheduler.federation.answers import Bid
from lease_scheduler.federation.routing.allocation.base import AllocationPolicy, Ranking
from lease_scheduler.federation.routing.question import Question
from lease_scheduler.federation.routing.state import RoutingState


class BestBid(AllocationPolicy):
    """Puts members in the order of their bids. Members without a bid come last; ties keep the configured order."""

    compares_bids: ClassVar[bool] = True

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
        return _start(bid), inf if bid.end is None else bid.end


class Cheapest(BestBid):
    """Prefers the lowest price, and then the earliest start. A member without prices costs nothing."""

    def rank(self, bid: Bid) -> tuple[float, ...]:
        """See ``BestBid.rank``."""
        return bid.price or 0.0, _start(bid)


class LeastPreemption(BestBid):
    """Prefers the fewest preempted leases, then the best chance not to be preempted, and then the earliest start."""

    def rank(self, bid: Bid) -> tuple[float, ...]:
        """See ``BestBid.rank``."""
        return bid.preempts, -bid.survival, _start(bid)


def _start(bid: Bid) -> float:
    return inf if bid.start is None else bid.start
