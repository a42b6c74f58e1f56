"""More for larger members."""

from __future__ import annotations

from lease_scheduler.federation.routing.allocation.base import AllocationPolicy, Shares, in_proportion
from lease_scheduler.federation.routing.question import Question
from lease_scheduler.federation.routing.state import RoutingState


class BiggestClusterFirst(AllocationPolicy):
    """Gives members requests in proportion to capacity and speed (Amini Salehi 2012, equation 4.27).

    The capacity is the number of requests with the same terms that a member could serve at once.
    """

    def allocate(self, question: Question, state: RoutingState) -> Shares:
        """See ``AllocationPolicy.allocate``."""
        return in_proportion(question.sizes)
