"""Members in turns."""

from __future__ import annotations

from lease_scheduler.federation.routing.allocation.base import AllocationPolicy, Ranking
from lease_scheduler.federation.routing.question import Question
from lease_scheduler.federation.routing.state import RoutingState


class RoundRobin(AllocationPolicy):
    """Gives members requests in turns, in the configured order (Amini Salehi 2012, equation 4.25)."""

    def allocate(self, question: Question, state: RoutingState) -> Ranking:
        """See ``AllocationPolicy.allocate``."""
        names = tuple(question.members)
        begin = names.index(state.last) + 1 if state.last in question.members else 0
        return Ranking((*names[begin:], *names[:begin]))
