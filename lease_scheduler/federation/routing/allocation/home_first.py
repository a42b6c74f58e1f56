"""The client's own site before all others."""

from __future__ import annotations

from collections.abc import Collection
from math import inf

from lease_scheduler.federation.routing.allocation.base import AllocationPolicy, Ranking
from lease_scheduler.federation.routing.allocation.by_bids import start_of
from lease_scheduler.federation.routing.question import Question
from lease_scheduler.federation.routing.state import RoutingState
from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.policy.base import PolicyOptions

#: Seconds that a best-effort lease may wait at home, unless the option ``overflow_wait`` says otherwise.
OVERFLOW_WAIT = 600


class HomeFirst(AllocationPolicy):
    """Tries the client's own site first, and then the others in the configured order.

    A best-effort lease that would wait at home for longer than the option ``overflow_wait`` (in seconds) goes to the
    site at which it starts first. It stays at home if no site would start it earlier.
    """

    def __init__(self, options: PolicyOptions) -> None:
        super().__init__(options)
        self._overflow_wait = options.integer("overflow_wait", OVERFLOW_WAIT)

    def wanted_bids(self, question: Question, asked: Collection[str]) -> tuple[str, ...]:
        """See ``AllocationPolicy.wanted_bids``. The other sites are only asked if home would have the lease wait."""
        home = _home(question)
        if question.terms.kind is not LeaseKind.BEST_EFFORT or home not in question.among or len(question.among) < 2:
            return ()
        if home not in asked:
            return (home,)
        return tuple(name for name in question.among if name not in asked) if self._overflows(question) else ()

    def allocate(self, question: Question, state: RoutingState) -> Ranking:
        """See ``AllocationPolicy.allocate``."""
        home = _home(question)
        names = sorted(question.members, key=home.__ne__)
        if self._overflows(question):
            starts = {name: start_of(bid) for name, bid in question.bids.items()}
            names.sort(key=lambda name: starts.get(name, inf))
        return Ranking(tuple(names))

    def _overflows(self, question: Question) -> bool:
        """Return whether home would have a best-effort lease wait for too long, or has made no bid for it."""
        if question.terms.kind is not LeaseKind.BEST_EFFORT:
            return False
        bid = question.bids.get(_home(question))
        return bid is None or start_of(bid) > question.terms.submitted + self._overflow_wait


def _home(question: Question) -> str:
    """Return the name of the client's own site, which is the first one unless another one is configured."""
    return next(iter(question.members)) if question.home is None else question.home
