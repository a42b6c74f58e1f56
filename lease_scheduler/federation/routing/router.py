"""The choice of a member for a request."""

from __future__ import annotations

from dataclasses import dataclass, replace

from lease_scheduler.federation.routing.allocation.base import Ranking
from lease_scheduler.federation.routing.policies import RoutingPolicies
from lease_scheduler.federation.routing.question import Question
from lease_scheduler.federation.routing.state import RoutingState


@dataclass(frozen=True)
class Choice:
    """The member that a request goes to.

    :ivar member: its name
    :ivar state: what the router remembers from then on, to be stored together with the choice
    """

    member: str
    state: RoutingState


def choose(policies: RoutingPolicies, question: Question, state: RoutingState, uniform: float) -> Choice:
    """Choose a member for a request.

    When it refuses, ask again without it. Members that are to have no share are chosen, in the configured order, when
    all those that have one have refused.

    :param uniform: a random number, at least 0 and less than 1; only the dispatch policy ``random`` uses it
    """
    allocated = policies.allocation.allocate(question, state)
    if isinstance(allocated, Ranking):
        chosen = next(name for name in allocated.names if name in question.among)
    else:
        shares = {name: share for name in question.members if (share := allocated.by_member.get(name, 0.0))}
        if any(name in shares for name in question.among):
            chosen, state = policies.dispatch.dispatch(shares, question, state, uniform)
        else:
            chosen = next(name for name in question.members if name in question.among)
    return Choice(chosen, replace(state, last=chosen))
