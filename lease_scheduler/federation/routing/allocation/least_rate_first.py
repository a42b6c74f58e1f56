"""More for members with fewer local requests."""

from __future__ import annotations

from lease_scheduler.federation.routing.allocation.base import AllocationPolicy, Shares, in_proportion
from lease_scheduler.federation.routing.question import Question
from lease_scheduler.federation.routing.state import RoutingState


class LeastRateFirst(AllocationPolicy):
    """Gives a member the more requests, the fewer local ones arrive there (Amini Salehi 2012, equation 4.26).

    A member that publishes no load counts as one without local requests. The printed shares add up to the number of
    members less 1, so they are divided by it.
    """

    def allocate(self, question: Question, state: RoutingState) -> Shares:
        """See ``AllocationPolicy.allocate``."""
        rates = {
            name: 0.0 if member.load is None else member.load.local.rate for name, member in question.members.items()
        }
        total = sum(rates.values())
        return in_proportion({name: total - rate for name, rate in rates.items()})
