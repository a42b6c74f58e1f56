"""Counters of accepted and rejected requests over time."""

from __future__ import annotations

from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.lease import Lease
from lease_scheduler.model.states import LeaseState
from lease_scheduler.simulation.accounting import Accounting


class Decisions:
    """Counters of the accepted and the rejected requests of a kind.

    :param kind: kind of the leases to count
    :param accepted: name of the counter of requests that became leases
    :param rejected: name of the counter of requests that the provider rejected
    """

    def __init__(self, accounting: Accounting, kind: LeaseKind, accepted: str, rejected: str) -> None:
        self._kind = kind
        self._accepted = accounting.create_counter(accepted)
        self._rejected = accounting.create_counter(rejected)

    def count(self, lease: Lease, now: int) -> None:
        """Count a request that has been decided on, unless it is of another kind or its user declined the price."""
        if lease.kind is not self._kind or lease.state is LeaseState.REJECTED_BY_USER:
            return
        counter = self._rejected if lease.state is LeaseState.REJECTED else self._accepted
        counter.add(now, lease_id=lease.lease_id)
