"""The client's own site before all others."""

from __future__ import annotations

from lease_scheduler.federation.routing.allocation.base import AllocationPolicy, Ranking
from lease_scheduler.federation.routing.question import Question
from lease_scheduler.federation.routing.state import RoutingState


class HomeFirst(AllocationPolicy):
    """Tries the client's own site first, and then the others in the configured order."""

    def allocate(self, question: Question, state: RoutingState) -> Ranking:
        """See ``AllocationPolicy.allocate``."""
        return Ranking(tuple(sorted(question.members, key=lambda name: name != question.home)))
