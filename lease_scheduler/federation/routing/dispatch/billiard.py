"""The billiard sequence over all requests."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from lease_scheduler.federation.routing.dispatch.base import DispatchPolicy
from lease_scheduler.federation.routing.dispatch.sequence import next_in_sequence
from lease_scheduler.federation.routing.question import Question
from lease_scheduler.federation.routing.state import RoutingState
from lease_scheduler.model.lease import LeaseRequest


class Billiard(DispatchPolicy):
    """Spreads requests evenly by shares (Amini Salehi 2012, equation 4.20); see ``routing.dispatch.sequence``."""

    def dispatch(
        self, shares: Mapping[str, float], question: Question, state: RoutingState, uniform: float
    ) -> tuple[str, RoutingState]:
        """See ``DispatchPolicy.dispatch``."""
        sequence = self.sequence_of(question.terms)
        served = state.served.get(sequence, {})
        chosen, positions = next_in_sequence(shares, question.among, question.fastest, served)
        return chosen, replace(state, served={**state.served, sequence: positions})

    def sequence_of(self, terms: LeaseRequest) -> str:
        """Return the name of the sequence that a request belongs to."""
        return "all"
