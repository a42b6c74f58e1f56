"""What dispatch policies decide."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping

from lease_scheduler.federation.routing.question import Question
from lease_scheduler.federation.routing.state import RoutingState
from lease_scheduler.policy.base import Policy


class DispatchPolicy(Policy):
    """Chooses a member by shares. Namespace of entry points: ``lease_scheduler.routing.dispatch``."""

    @abstractmethod
    def dispatch(
        self, shares: Mapping[str, float], question: Question, state: RoutingState, uniform: float
    ) -> tuple[str, RoutingState]:
        """Return one of the members that the question is about, and what to remember of it.

        :param shares: the positive shares of all members; at least one of those to choose from has one
        :param uniform: a random number, at least 0 and less than 1
        """
