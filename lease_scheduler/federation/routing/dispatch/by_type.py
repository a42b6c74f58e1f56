"""A billiard sequence for each request type."""

from __future__ import annotations

from lease_scheduler.federation.routing.dispatch.billiard import Billiard
from lease_scheduler.model.lease import LeaseRequest
from lease_scheduler.model.request_types import request_type


class ByType(Billiard):
    """Request type dispatch policy RTDP: spreads the requests of each type by shares (Amini Salehi 2012, algorithm 3).

    So each member gets a mixture of types, and finds leases that are cheap to preempt when it needs room. Requests of
    no type have a sequence of their own.
    """

    def sequence_of(self, terms: LeaseRequest) -> str:
        """See ``Billiard.sequence_of``."""
        found = request_type(terms)
        return "other" if found is None else found.value
