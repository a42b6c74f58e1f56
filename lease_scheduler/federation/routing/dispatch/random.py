"""Members at random."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import accumulate

from lease_scheduler.federation.routing.dispatch.base import DispatchPolicy
from lease_scheduler.federation.routing.question import Question
from lease_scheduler.federation.routing.state import RoutingState


class RandomDispatch(DispatchPolicy):
    """Draws a member for each request by itself, with its share as probability (Amini Salehi 2012, section 4.4.2)."""

    def dispatch(
        self, shares: Mapping[str, float], question: Question, state: RoutingState, uniform: float
    ) -> tuple[str, RoutingState]:
        """See ``DispatchPolicy.dispatch``."""
        names = [name for name in shares if name in question.among]
        sums = list(accumulate(shares[name] for name in names))
        reached = (name for name, limit in zip(names, sums, strict=True) if uniform * sums[-1] < limit)
        # Rounding may bring the product up to the sum itself.
        return next(reached, names[-1]), state
